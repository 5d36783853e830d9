"""Walking a hostile tree: by descriptors, never through a link, however deep it is and while it changes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic

from attrs import frozen

BLOCK = 4096
DEEPEST = 512
"""Directories within directories that are looked into; each costs a descriptor while the walk is below it."""

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@frozen(kw_only=True)
class Usage:
    """Bytes on disk below a directory. Incomplete when something was too deep, unreadable, or the time was over."""

    bytes: int
    complete: bool


class Walk:
    """Every entry below a directory as (descriptor of its directory, name, lstat), directories before contents.

    A descriptor is good until the next step. ``complete`` turns False when a directory could not be looked into.
    """

    def __init__(self, top: Path) -> None:
        self._top, self.complete = top, True
        self._levels: list[tuple[int, list[str]]] = []

    def __iter__(self) -> Iterator[tuple[int, str, os.stat_result]]:
        """Walk once; abandoning the iteration closes everything."""
        below: int | None = os.open(self._top, _OPEN)
        try:
            while below is not None:
                inner: list[str] = []
                self._levels.append((below, inner))
                for name, facts in _entries(below):
                    if stat.S_ISDIR(facts.st_mode):
                        inner.append(name)
                    yield below, name, facts
                below = self._descend()
        finally:
            for fd, _ in self._levels:
                os.close(fd)

    def _descend(self) -> int | None:
        while self._levels:
            fd, inner = self._levels[-1]
            while inner:
                name = inner.pop()
                if len(self._levels) < DEEPEST:
                    with suppress(OSError):
                        return os.open(name, _OPEN, dir_fd=fd)
                self.complete = False
            self._levels.pop()
            os.close(fd)
        return None


def _entries(directory: int) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(directory) as found:
        for entry in found:
            with suppress(FileNotFoundError):
                yield entry.name, entry.stat(follow_symlinks=False)


def usage(top: Path, *, most: int, until: float) -> Usage:
    """What the tree (or file) takes on disk: every entry at least a block, a hard-linked file once, the top not.

    Stops beyond ``most`` bytes, and at ``until`` of the monotonic clock.
    """
    itself = top.lstat()
    if not stat.S_ISDIR(itself.st_mode):
        return Usage(bytes=itself.st_blocks * 512, complete=True)
    walk, total, linked = Walk(top), 0, set()
    for _, _, facts in walk:
        if facts.st_nlink > 1 and not stat.S_ISDIR(facts.st_mode):
            if facts.st_ino in linked:
                continue
            linked.add(facts.st_ino)
        total += max(BLOCK, facts.st_blocks * 512)
        if total > most or monotonic() > until:
            return Usage(bytes=total, complete=False)
    return Usage(bytes=total, complete=walk.complete)


def give(top: Path, uid: int) -> None:
    """Make ``top`` and all below it belong to ``uid`` and its group; links themselves, never their targets."""
    os.lchown(top, uid, uid)
    if top.is_dir() and not top.is_symlink():
        for directory, name, facts in Walk(top):
            if (facts.st_uid, facts.st_gid) != (uid, uid):
                os.chown(name, uid, uid, dir_fd=directory, follow_symlinks=False)
