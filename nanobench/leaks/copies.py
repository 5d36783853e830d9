"""Published copies of the project itself, by the metadata that installers and archives of registries have."""

from __future__ import annotations

import re

from attrs import frozen
from packageurl import PackageURL
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from nanobench.archives.names import shown
from nanobench.formats import json

_MOST = 1 << 20
_FIELD = re.compile(rb"^(Name|Version):[ \t]*([^\r\n]{1,200})", re.MULTILINE)
_RELEASE = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[0-9A-Za-z.-]+)?(?:\+.*)?")
_NONE: tuple[tuple[int, ...], bool, str] = (0, 0, 0), True, ""
"""The rank of 0.0.0, which stands for no version at all."""

_METADATA = ("/METADATA", "/PKG-INFO")


@frozen(kw_only=True)
class Project:
    """What a registry calls the project, and its version at base."""

    ecosystem: str
    name: str
    version: str


def pypi_project(name: str, version: str) -> Project:
    """The project as the Python index knows it."""
    return Project(ecosystem="pypi", name=canonicalize_name(name), version=version)


def purl_project(purl: str) -> Project:
    """The project whose release a purl names."""
    parsed = PackageURL.from_string(purl)
    if parsed.type == "pypi":
        return pypi_project(parsed.name, str(parsed.version))
    name = f"{parsed.namespace}/{parsed.name}" if parsed.namespace else parsed.name
    return Project(ecosystem=parsed.type, name=name, version=str(parsed.version))


def npm_project(data: bytes) -> Project | None:
    """Which package is this ``package.json`` of?"""
    try:
        document = json.foreign(data)
    except ValueError:
        return None
    name, version = (document.get(key) if isinstance(document, dict) else None for key in ("name", "version"))
    if not isinstance(name, str) or not isinstance(version, str):
        return None
    return Project(ecosystem="npm", name=name, version=version)


def newer_copy(path: str, data: bytes, projects: tuple[Project, ...]) -> str | None:
    """Which version of the project, newer than the base, do these metadata belong to? None when to no such one."""
    found = _of_metadata(path, data) if len(data) <= _MOST else None
    for base in projects:
        if found and (found.ecosystem, found.name) == (base.ecosystem, base.name) and _newer(found, base):
            return f"{found.name} {shown(found.version)}, newer than the base ({base.version})"
    return None


def _of_metadata(path: str, data: bytes) -> Project | None:
    if path.endswith((*_METADATA, ".egg-info")):
        fields = {key: value.decode("utf-8", "replace").strip() for key, value in reversed(_FIELD.findall(data))}
        return pypi_project(fields[b"Name"], fields[b"Version"]) if len(fields) == 2 else None
    return npm_project(data) if path.endswith("/package.json") else None


def _newer(found: Project, base: Project) -> bool:
    if found.ecosystem == "npm":
        return _rank(found.version) > _rank(base.version) > _NONE
    try:
        return Version(found.version) > Version(base.version)
    except InvalidVersion:
        return False


def _rank(version: str) -> tuple[tuple[int, ...], bool, str]:
    """Of releases by their numbers; what comes before a release is lower."""
    match = _RELEASE.fullmatch(version)
    if match is None:
        return _NONE
    return tuple(int(number) for number in match.group(1, 2, 3)), match[4] is None, match[4] or ""
