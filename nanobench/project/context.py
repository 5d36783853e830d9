"""The folder below ``environments/`` that a Dockerfile or devcontainer.json lies in: one digest of all in it."""

from __future__ import annotations

from pathlib import PurePosixPath

from nanobench.archives.entries import entries_of
from nanobench.archives.layer import write_layer
from nanobench.errors import Misuse, Refused
from nanobench.formats.digest import split
from nanobench.model.environment import DevcontainerBase, DockerfileBase, Environment
from nanobench.project.files import Spec

MAX_CONTEXT = 256 << 20


def built_file(spec: Spec[Environment]) -> PurePosixPath | None:
    """The Dockerfile or devcontainer.json of the base, relative to ``environments/``; None for other bases."""
    base = spec.value.base
    if isinstance(base, DockerfileBase):
        return PurePosixPath(base.dockerfile)
    return PurePosixPath(base.devcontainer) if isinstance(base, DevcontainerBase) else None


def context_sha256(spec: Spec[Environment]) -> str | None:
    """The hex sha256 of the file's top folder as a canonical tar; None for bases without one.

    Raises:
        Misuse: ``NB_NO_FILE``.
        Refused: ``NB_CONTEXT`` for a folder that is too large or behind a link, ``NB_TREE_SPECIAL``.
    """
    file = built_file(spec)
    if file is None:
        return None
    where = f"environments/{file}"
    if not (spec.path.parent / file).is_file():
        raise Misuse("NB_NO_FILE", "there is no such file", where=where, hint=f"create {where}")
    refuse_links(spec, file)
    counted = _Counted(f"environments/{file.parts[0]}")
    return split(write_layer(entries_of(spec.path.parent / file.parts[0], epoch=0), counted, epoch=0).diff_id)[1]


def refuse_links(spec: Spec[Environment], *paths: PurePosixPath) -> None:
    """Make sure that what Docker is given at ``paths``, relative to ``environments/``, lies there and nowhere else.

    Raises:
        Refused: ``NB_CONTEXT``.
    """
    for place in (place for path in paths for place in (path, *path.parents)[:-1]):
        if (spec.path.parent / place).is_symlink():
            hint = "put there what it links to: a build has its own folder and nothing else of this machine"
            raise Refused("NB_CONTEXT", "is a link", where=f"environments/{place}", hint=hint)


class _Counted:
    def __init__(self, where: str) -> None:
        self._left, self._where = MAX_CONTEXT, where

    def write(self, data: bytes, /) -> int:
        """Take the data, up to the bound."""
        self._left -= len(data)
        if self._left < 0:
            hint = "leave only what the image is built from in this folder"
            raise Refused("NB_CONTEXT", f"more than {MAX_CONTEXT} bytes", where=self._where, hint=hint)
        return len(data)
