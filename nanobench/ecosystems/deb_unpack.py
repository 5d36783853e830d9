"""Unpack locked .debs into one tree: what dpkg does with files, without dpkg, root or maintainer scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import BinaryIO

from attrs import evolve, frozen
from packageurl import PackageURL

from nanobench.archives.entries import Entry
from nanobench.archives.names import plain, problem, shown
from nanobench.archives.slices import part_of
from nanobench.archives.tar import Header
from nanobench.ecosystems import deb_archive
from nanobench.ecosystems.deb_control import stanzas
from nanobench.ecosystems.deb_tree import ALIASES, Claim, Tree, canonical
from nanobench.errors import Refused
from nanobench.model.lock import Package
from nanobench.store.store import Store

_THREADS = 2
_MAX_ID = 65_535


@frozen(kw_only=True)
class Installed:
    """One unpacked package: its control fields, its control files, and every path as the package spells it."""

    name: str
    fields: dict[str, str]
    control: dict[str, bytes]
    paths: tuple[str, ...]

    def script(self, name: str) -> str:
        """A maintainer script's text; empty when the package has none."""
        return self.control.get(name, b"").decode("utf-8", "replace")


def unpack_all(packages: Sequence[Package], store: Store, scratch: Path, tree: Tree) -> tuple[Installed, ...]:
    """Unpack ``packages`` into ``tree``; contents stay in files below ``scratch``.

    Returns:
        The packages, sorted by name.

    Raises:
        Refused: ``NB_DEB…`` and ``NB_ARCHIVE_…`` naming the package, for anything that is not an honest .deb.
    """

    # base-files first: it ships the top directories with the modes that they should have.
    ordered = sorted(packages, key=lambda p: (_name(p) != "base-files", p.purl))

    def decompress(number: int) -> deb_archive.Deb:
        package = ordered[number]
        return deb_archive.unpack(store.blob(package.digest), scratch / f"{number}.tar", where=package.purl)

    installed: list[Installed] = []
    # Decompressing is most of the work and needs no interpreter lock; the order of merging stays fixed.
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="deb") as pool:
        try:
            for package, deb in zip(ordered, pool.map(decompress, range(len(ordered))), strict=True):
                installed.append(_merge(package, deb, tree))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return tuple(sorted(installed, key=lambda i: i.name))


def _name(package: Package) -> str:
    return PackageURL.from_string(package.purl).name


def _merge(package: Package, deb: deb_archive.Deb, tree: Tree) -> Installed:
    fields = _fields(package, deb)
    claim = Claim(
        name=fields["Package"],
        replaces=frozenset(re.findall(r"(?:^|,)\s*([a-z0-9][a-z0-9+.-]*)", fields.get("Replaces", ""))),
        diverts=b"dpkg-divert" in deb.control.get("preinst", b""),
    )
    paths = ["/."]
    for member, start in deb_archive.members(deb.data, where=package.purl):
        path = plain(member.path)
        if not path:
            continue
        _check(path, package.purl)
        paths.append(f"/{path}")
        if not (member.kind == "symlink" and path in ALIASES):
            content = partial(part_of, deb.data, start, member.size)
            tree.ship(_entry(member, path, content, package.purl), claim)
    return Installed(name=claim.name, fields=fields, control=deb.control, paths=tuple(paths))


def _fields(package: Package, deb: deb_archive.Deb) -> dict[str, str]:
    """The control fields; the package must be the one that the lock names."""
    text = deb.control["control"].decode("utf-8", "replace")
    fields = next(stanzas(text.split("\n")), {})
    purl = PackageURL.from_string(package.purl)
    locked = (purl.name, purl.version, dict(purl.qualifiers).get("arch"))
    found = (fields.get("Package"), fields.get("Version"), fields.get("Architecture"))
    if found != locked:
        raise Refused("NB_DEB", f"it is {found}, the lock says {locked}", where=package.purl)
    return fields


def _check(path: str, where: str) -> None:
    wrong = problem(path)
    if wrong:
        raise Refused("NB_DEB_PATH", wrong, where=f"{where}: {shown(path)}")


def _entry(member: Header, path: str, content: Callable[[], BinaryIO], where: str) -> Entry:
    if not (member.uid <= _MAX_ID and member.gid <= _MAX_ID):
        raise Refused("NB_DEB", f"owner {member.uid}:{member.gid}", where=f"{where}: {shown(path)}")
    bare = Entry(
        path=canonical(path), kind=member.kind, mode=member.mode, mtime=member.mtime, uid=member.uid, gid=member.gid
    )
    if member.kind == "file":
        return evolve(bare, size=member.size, content=content)
    if member.kind == "symlink":
        return evolve(bare, mode=0o777, link=member.link)
    if member.kind == "hardlink":
        target = plain(member.link)
        _check(target, where)
        return evolve(bare, link=canonical(target))
    return bare
