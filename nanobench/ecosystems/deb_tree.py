"""The tree that packages unpack into: metadata only, contents stay in scratch files until they are asked for."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial

from attrs import evolve, frozen

from nanobench.archives.entries import Entry
from nanobench.errors import Refused

MERGED = ("bin", "sbin", "lib", "lib64", "lib32", "libx32")
"""Top directories that are symlinks into /usr; packages may still ship files below them."""

ALIASES = {**{name: f"usr/{name}" for name in MERGED}, "var/run": "run", "var/lock": "run/lock"}


def canonical(path: str) -> str:
    """Where ``path`` really lies in a merged-/usr system: ``bin/sh`` → ``usr/bin/sh``, ``var/run/x`` → ``run/x``."""
    for alias, real in ALIASES.items():
        if path == alias or path.startswith(f"{alias}/"):
            return real + path[len(alias) :]
    return path


@frozen(kw_only=True)
class Claim:
    """A package's name and which others' files it may overwrite (its Replaces; ``diverts`` stands for any)."""

    name: str
    replaces: frozenset[str] = frozenset()
    diverts: bool = False

    def beats(self, other: Claim) -> bool:
        """Whether this package's file stays when both ship one."""
        return other.name in self.replaces or (self.diverts and not other.diverts)


class Tree:
    """Path → entry; ``epoch`` is the time of what no package ships."""

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        self._entries: dict[str, Entry] = {}
        self._claims: dict[str, Claim] = {}

    def __contains__(self, path: str) -> bool:
        return path in self._entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def is_file(self, path: str) -> bool:
        """Whether ``path`` is a file, be it by a hard link."""
        return path in self._entries and self._entries[path].kind in ("file", "hardlink")

    def below(self, prefix: str, suffix: str = "") -> list[str]:
        """The sorted paths of files that start with ``prefix`` and end with ``suffix``."""
        found = (e.path for e in self._entries.values() if e.kind == "file")
        return sorted(path for path in found if path.startswith(prefix) and path.endswith(suffix))

    def ship(self, entry: Entry, claim: Claim) -> None:
        """Add what a package ships. Directories are shared, the first one's mode stays.

        Raises:
            Refused: ``NB_DEB_CLASH`` when two packages ship one path and neither says that it may.
        """
        known = self._entries.get(entry.path)
        if known is not None and known.kind == "dir" == entry.kind:
            return
        if known is not None:
            owner = self._claims[entry.path]
            if owner.beats(claim):
                return
            if not claim.beats(owner):
                message = f"{owner.name} ships a {known.kind}, {claim.name} a {entry.kind}"
                raise Refused("NB_DEB_CLASH", message, where=entry.path, hint="leave one of the packages out")
        self._entries[entry.path] = entry
        self._claims[entry.path] = claim

    def read(self, path: str) -> bytes:
        """The whole content of the file at ``path``, through hard links.

        Raises:
            Refused: ``NB_DEB`` when they lead to none.
        """
        entry, seen = self._entries.get(path), {path}
        while entry is not None and entry.kind == "hardlink" and entry.link not in seen:
            seen.add(entry.link)
            entry = self._entries.get(entry.link)
        if entry is None or entry.content is None:
            raise Refused("NB_DEB", "hard links that lead to no file", where=path)
        with entry.content() as stream:
            return stream.read(entry.size)

    def directory(self, path: str, mode: int = 0o755, owner: int = 0) -> None:
        """Make sure that ``path`` is a directory of ``mode`` and ``owner`` (uid and gid)."""
        self._put(Entry(path=path, kind="dir", mode=mode, mtime=self._epoch, uid=owner, gid=owner))

    def file(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a small file, replacing what is there."""
        content = partial(io.BytesIO, data)
        self._put(Entry(path=path, kind="file", mode=mode, mtime=self._epoch, size=len(data), content=content))

    def symlink(self, path: str, target: str) -> None:
        """Make ``path`` a symlink to ``target``, replacing what is there."""
        self._put(Entry(path=path, kind="symlink", mode=0o777, mtime=self._epoch, link=target))

    def copy(self, source: str, path: str) -> None:
        """A copy of the file at ``source``, if there is one and ``path`` is still free."""
        if source in self._entries and path not in self._entries:
            self._put(evolve(self._entries[source], path=path))

    def _put(self, entry: Entry) -> None:
        self._entries[entry.path] = entry
        self._claims[entry.path] = Claim(name="NanoBench")
