"""The version of a project that counts tags: which projects do, and what its tool would say of a commit.

The workspace has one commit and no tags, so the build is told the version instead.
"""

from __future__ import annotations

import re
from typing import Any

from packaging.version import Version

from nanobench.errors import Refused
from nanobench.formats import toml
from nanobench.sources.git_run import Git

FILES = ("pyproject.toml", "setup.cfg", "setup.py")
"""Where a project says that it counts tags."""

_REQUIRED = re.compile(
    r"\s*(setuptools[-_.]scm|hatch[-_.]vcs|flit[-_.]scm|pbr|poetry[-_.]dynamic[-_.]versioning"
    r"|uv[-_.]dynamic[-_.]versioning)\b",
    re.IGNORECASE,
)
_SCRIPT = re.compile(r"\b(use_scm_version|setuptools_scm|pbr\s*=\s*True)\b")
_DESCRIBED = re.compile(r"(?P<tag>.+)-(?P<distance>\d{1,9})-g[0-9a-f]+\n")
_TAG = re.compile(r"(?:[\w-]+-)?(?P<version>[vV]?\d+(?:\.\d+)*[^+]*)(?:\+.*)?")
_DEFAULT = "guess-next-dev"
_HINT = "state source.pretend_version in the task: what the project's tool says of the base commit"


def counts_tags(files: dict[str, str]) -> bool:
    """Whether the project asks its history for its version, by a tool that can be told one instead.

    Args:
        files: those of :data:`FILES` that the base tree has.
    """
    if _SCRIPT.search(files.get("setup.py", "")) or re.search(r"(?m)^\[pbr\]", files.get("setup.cfg", "")):
        return True
    document = _toml(files.get("pyproject.toml", ""))
    required = _at(document, "build-system", "requires")
    tools = [r for r in required if isinstance(r, str) and _REQUIRED.match(r)] if isinstance(required, list) else []
    dynamic = _at(document, "project", "version") is None
    return (bool(tools) and dynamic) or _at(document, "tool", "pdm", "version", "source") == "scm"


def version_at(git: Git, commit: str, files: dict[str, str], *, where: str) -> str:
    """What the project's tool would say, by the nearest tag before ``commit`` (tags and history are there).

    Raises:
        Refused: ``NB_NO_TAG`` when there is no tag with a version, ``NB_VERSION_SCHEME`` for a scheme that is not
            computed here.
    """
    said = git.run("describe", "--tags", "--long", "--match", "*[0-9]*", commit)
    found = _DESCRIBED.fullmatch(said.output.decode("utf-8", "replace"))
    tagged = None if found is None else _version_of(found["tag"])
    if found is None or tagged is None:
        raise Refused(
            "NB_NO_TAG",
            "the project counts tags, and no tag with a version stands before the base commit",
            where=where,
            details=said.words,
            hint=_HINT,
        )
    version = _counted(tagged, int(found["distance"]), _scheme(files))
    if version is None:
        raise Refused(
            "NB_VERSION_SCHEME",
            f"the version of {_scheme(files)!r:.60} after {tagged} is not computed here",
            where=where,
            hint=_HINT,
        )
    return version


def _counted(tagged: Version, distance: int, scheme: str) -> str | None:
    if distance == 0:
        return str(tagged)
    if scheme == "post-release" and not (tagged.is_postrelease or tagged.is_devrelease):
        return f"{tagged}.post{distance}"
    if scheme == _DEFAULT and not (tagged.is_postrelease or tagged.is_devrelease):
        raised = re.sub(r"\d+\Z", lambda number: str(int(number[0]) + 1), str(tagged))
        return f"{raised}.dev{distance}"
    return None


def _scheme(files: dict[str, str]) -> str:
    document = _toml(files.get("pyproject.toml", ""))
    if any(
        _at(document, "tool", name) is not None for name in ("poetry-dynamic-versioning", "uv-dynamic-versioning")
    ):
        return "dunamai"
    places = (("setuptools_scm",), ("hatch", "version", "raw-options"), ("hatch", "version"))
    stated = (_at(document, "tool", *place, "version_scheme") for place in places)
    return next((str(scheme) for scheme in stated if scheme is not None), _DEFAULT)


def _version_of(tag: str) -> Version | None:
    match = _TAG.fullmatch(tag)
    try:
        return None if match is None else Version(match["version"])
    except ValueError:  # no version, or digits without end
        return None


def _at(document: Any, *keys: str) -> Any:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _toml(text: str) -> Any:
    try:
        return toml.foreign(text)
    except ValueError:
        return {}
