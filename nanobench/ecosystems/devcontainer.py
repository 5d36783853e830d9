"""What a ``devcontainer.json`` asks for: an image, or a build. https://containers.dev/implementors/json_reference/."""

from __future__ import annotations

import posixpath
from pathlib import PurePosixPath
from typing import Any

import json5
from attrs import field, frozen

from nanobench.errors import Refused

MAX_BYTES = 256 << 10
_TAKEN = {"image", "build", "dockerFile", "context", "name", "$schema"}
_REFUSED = ("dockerComposeFile", "features")
_IN_BUILD = {"dockerfile", "context", "args", "target"}


@frozen(kw_only=True)
class Build:
    """A Dockerfile to build: its path and that of the folder it copies from, both relative to the same place."""

    dockerfile: PurePosixPath
    context: PurePosixPath
    args: dict[str, str] = field(factory=dict)
    target: str | None = None


@frozen(kw_only=True)
class Devcontainer:
    """An image's reference or a build, one of the two, and the keys that are not heard, sorted."""

    image: str | None
    build: Build | None
    unheard: tuple[str, ...]


def read(data: bytes, path: PurePosixPath, *, where: str) -> Devcontainer:
    """The devcontainer.json at ``path``; comments and final commas may stand in it.

    Raises:
        Refused: ``NB_DEVCONTAINER`` when it asks for something that cannot be had here.
    """
    document = _parse(data, where)
    refused = [key for key in _REFUSED if document.get(key)]
    if refused:
        raise _odd(f"{refused[0]} cannot be had here: build an image that has what it adds", where)
    image, build = document.get("image"), _build(document, path, where)
    if (image is None) == (build is None):
        raise _odd("either image or build", where)
    if image is not None and not isinstance(image, str):
        raise _odd("image is no string", where)
    return Devcontainer(image=image, build=build, unheard=tuple(sorted(document.keys() - _TAKEN)))


def _parse(data: bytes, where: str) -> dict[str, Any]:
    if len(data) > MAX_BYTES:
        raise _odd(f"more than {MAX_BYTES} bytes", where)
    try:
        document = json5.loads(data.decode("utf-8"), allow_duplicate_keys=False)
    except (ValueError, RecursionError) as error:
        raise _odd(f"not JSON with comments: {str(error)[:200]}", where) from None
    if not isinstance(document, dict):
        raise _odd("not a table", where)
    return document


def _build(document: dict[str, Any], path: PurePosixPath, where: str) -> Build | None:
    asked = document.get("build")
    if asked is None and "dockerFile" in document:  # as it was once spelled
        asked = {"dockerfile": document["dockerFile"], "context": document.get("context", ".")}
    if asked is None:
        return None
    if not isinstance(asked, dict) or not asked.keys() <= _IN_BUILD or "dockerfile" not in asked:
        raise _odd(f"build takes {', '.join(sorted(_IN_BUILD))}, and dockerfile must be there", where)
    args, target = asked.get("args", {}), asked.get("target")
    if not isinstance(args, dict) or not all(isinstance(v, str) and "${" not in v for v in args.values()):
        raise _odd("build.args must be strings without ${…}", where)
    if target is not None and not isinstance(target, str):
        raise _odd("build.target is no string", where)
    dockerfile, context = (_inside(asked.get(key, "."), path, where) for key in ("dockerfile", "context"))
    return Build(dockerfile=dockerfile, context=context, args=args, target=target)


def _inside(value: Any, path: PurePosixPath, where: str) -> PurePosixPath:
    """The path that ``value`` leads to from the file, which must lie in the same top folder."""
    place = posixpath.normpath(path.parent / value) if isinstance(value, str) else ""
    if PurePosixPath(place).parts[:1] != path.parts[:1]:
        raise _odd(f"{value!r:.80} leads out of environments/{path.parts[0]}", where)
    return PurePosixPath(place)


def _odd(message: str, where: str) -> Refused:
    return Refused("NB_DEVCONTAINER", message, where=where)
