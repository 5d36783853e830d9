"""Published copies of the project itself, by the metadata that installers and archives of registries have."""

from __future__ import annotations

import re

from attrs import frozen
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from nanobench.archives.names import shown
from nanobench.formats import json

_MOST = 1 << 20
_FIELD = re.compile(rb"^(Name|Version):[ \t]*([^\r\n]{1,200})", re.MULTILINE)
_RELEASE = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[0-9A-Za-z.-]+)?(?:\+.*)?")
_METADATA = ("/METADATA", "/PKG-INFO")


@frozen(kw_only=True)
class Project:
    """What a registry calls the project, and its version at base (None: it has none that could be compared)."""

    ecosystem: str
    name: str
    version: str | None


def newer_copy(path: str, data: bytes, projects: tuple[Project, ...]) -> str | None:
    """Which version of the project, newer than the base, do these metadata belong to? None when to no such one."""
    if len(data) > _MOST:
        return None
    if path.endswith(_METADATA) or path.endswith(".egg-info"):
        found = _python(data)
    elif path.endswith("/package.json"):
        found = _npm(data)
    else:
        return None
    if found is None:
        return None
    known = [p.version for p in projects if (p.ecosystem, p.name) == found[:2]]
    newer = [base for base in known if base is not None and _newer(found[0], found[2], base)]
    return f"{found[1]} {shown(found[2])}, newer than the base ({newer[0]})" if newer else None


def _python(data: bytes) -> tuple[str, str, str] | None:
    fields = {key: value.decode("utf-8", "replace").strip() for key, value in reversed(_FIELD.findall(data))}
    if fields.keys() != {b"Name", b"Version"}:
        return None
    return "pypi", canonicalize_name(fields[b"Name"]), fields[b"Version"]


def npm_project(data: bytes) -> Project | None:
    """Which package is this ``package.json`` of?"""
    found = _npm(data)
    return found and Project(ecosystem="npm", name=found[1], version=found[2])


def _npm(data: bytes) -> tuple[str, str, str] | None:
    try:
        document = json.foreign(data)
    except ValueError:
        return None
    name, version = (document.get(key) if isinstance(document, dict) else None for key in ("name", "version"))
    return ("npm", name, version) if isinstance(name, str) and isinstance(version, str) else None


def _newer(ecosystem: str, found: str, base: str) -> bool:
    if ecosystem == "npm":
        return _rank(found) > _rank(base) > ((0, 0, 0), True, "")  # 0.0.0 stands for none
    try:
        return Version(found) > Version(base)
    except InvalidVersion:
        return False


def _rank(version: str) -> tuple[tuple[int, ...], bool, str]:
    """Of releases by their numbers; what comes before a release is lower."""
    match = _RELEASE.fullmatch(version)
    if match is None:
        return (0, 0, 0), True, ""
    return tuple(int(number) for number in match.group(1, 2, 3)), match[4] is None, match[4] or ""
