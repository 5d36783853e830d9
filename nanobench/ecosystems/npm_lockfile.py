"""Which tarballs does a package-lock (version 3) put where, on this platform? Rules only, no disk, no network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from attrs import frozen
from packageurl import PackageURL

from nanobench.errors import Refused
from nanobench.formats import json
from nanobench.formats.digest import from_integrity
from nanobench.model.fields import Digest, Document

PLATFORM = {"os": "linux", "cpu": "x64", "libc": "glibc"}
NAME = re.compile(r"(?:@[\w~-][\w.~-]*/)?[\w~-][\w.~-]*", re.ASCII)
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+-]*")
_FILE = re.compile(r"[\w~-][\w.+~-]*", re.ASCII)
_LONGEST = 214
"""Characters of a name, as the registry has it."""

_TARGET = re.compile(r"node_modules/((?:@[^/\s]+/)?[^@/\s][^/\s]*)(?:/node_modules/((?:@[^/\s]+/)?[^@/\s][^/\s]*))*")


@frozen(kw_only=True)
class Placed:
    """One tarball and the directory that it is unpacked into (``target``, below the project; empty when that is
    decided later).

    ``path`` is its place below the registry. ``script``: it has an install script, which is never run.
    """

    target: str = ""
    name: str
    version: str
    path: str
    digest: Digest
    script: bool = False

    @property
    def purl(self) -> str:
        """The package's purl."""
        return purl_of(self.name, self.version)


def purl_of(name: str, version: str) -> str:
    """The purl of a registry package, scoped or not."""
    namespace, _, base = name.rpartition("/")
    return PackageURL(type="npm", namespace=namespace or None, name=base, version=version).to_string()


def checked(name: Any, version: Any, where: str) -> tuple[str, str]:
    """Name and version of a lockfile, if a registry could know them: they become paths and URLs.

    Raises:
        Refused: ``NB_NPM_LOCK``.
    """
    for what, said, rule in (("name", name, NAME), ("version", version, _VERSION)):
        if not isinstance(said, str) or len(said) > _LONGEST or not rule.fullmatch(said):
            raise Refused("NB_NPM_LOCK", f"{said!r:.80} is no {what} of a package", where=where)
    return name, version


def tarball_path(name: str, version: str) -> str:
    """Where a registry keeps a package's tarball when nothing says otherwise."""
    return f"{name}/-/{name.rpartition('/')[2]}-{version}.tgz"


def read_package_lock(data: bytes, *, where: str) -> tuple[Placed, ...]:
    """Every tarball that is installed on ``PLATFORM``, sorted by target.

    Left out are development-only packages, optional ones for other platforms, and what lies inside another
    package's tarball (``inBundle``).

    Raises:
        Refused: ``NB_NPM_LOCK`` for another lock version, a link or an odd place; ``NB_NPM_PLATFORM`` for a needed
            package that is not for this platform; ``NB_NPM_SOURCE`` for one that is no registry's; ``NB_INTEGRITY``
            for one without a sha512.
    """
    document = json.parse(data, where=where, null=True)
    if document.get("lockfileVersion") != 3 or not isinstance(document.get("packages"), dict):
        raise Refused("NB_NPM_LOCK", "not a package-lock of version 3", where=where)
    placed = [placed_as(target, entry, f"{where}: {target}") for target, entry in _installed(document, where)]
    return tuple(sorted(placed, key=lambda p: p.target))


def _installed(document: Document, where: str) -> Iterator[tuple[str, Document]]:
    for target, entry in document["packages"].items():
        if target == "":
            continue
        at = f"{where}: {target}"
        if not isinstance(entry, dict) or not _TARGET.fullmatch(target) or entry.get("link"):
            raise Refused("NB_NPM_LOCK", "not a package below node_modules", where=at)
        if entry.get("dev") or entry.get("inBundle"):
            continue
        if fits(entry):
            yield target, entry
        elif not entry.get("optional"):
            raise Refused("NB_NPM_PLATFORM", f"needed, but not for {'-'.join(PLATFORM.values())}", where=at)


def fits(entry: Document) -> bool:
    """Whether an entry of a lockfile (``os``, ``cpu``, ``libc``) is for ``PLATFORM``."""
    return all(_allows(entry.get(key), own) for key, own in PLATFORM.items())


def _allows(rule: Any, own: str) -> bool:
    """npm's rule: a list of names or of ``!`` names; a lone string is a list of one."""
    names = [rule] if isinstance(rule, str) else rule if isinstance(rule, list) else []
    allowed = [name for name in names if not str(name).startswith("!")]
    return f"!{own}" not in names and (not allowed or own in allowed or "any" in allowed)


def placed_as(target: str, entry: Document, where: str) -> Placed:
    """The tarball that an entry of a package-lock names.

    Raises:
        Refused: ``NB_NPM_LOCK``, ``NB_NPM_SOURCE``, ``NB_INTEGRITY``.
    """
    own = target.rpartition("node_modules/")[2]
    name, version = checked(entry.get("name", own), entry.get("version"), where)
    return Placed(
        target=target,
        name=name,
        version=version,
        path=_path(entry.get("resolved"), name, version, where),
        digest=from_integrity(str(entry.get("integrity", "")), where=where),
        script=bool(entry.get("hasInstallScript")),
    )


def _path(resolved: Any, name: str, version: str, where: str) -> str:
    """The path below the registry: a lock must not depend on which mirror wrote the URL."""
    if resolved is None:
        return tarball_path(name, version)
    try:
        parts = urlsplit(str(resolved))
    except ValueError:  # brackets that do not close
        parts = urlsplit("")
    _, found, file = unquote(parts.path).rpartition(f"/{name}/-/")
    if parts.scheme not in ("http", "https") or not found or not _FILE.fullmatch(file):
        raise Refused("NB_NPM_SOURCE", f"not from a registry: {str(resolved)!r:.120}", where=where)
    return f"{name}/-/{file}"
