"""How much does a writable mount hold? Asked often, walked seldom."""

from __future__ import annotations

import os
from pathlib import Path
from time import monotonic

from nanobench.sandbox.inside import MIB
from nanobench.sandbox.tree import usage

RARELY = 10.0  # seconds


class Disk:
    """A writable mount and its limit.

    It is walked when its file system lost so much since the last walk that the limit may be near, and rarely without
    that (others may free meanwhile). What a walk cannot see — too deep, unreadable — counts as what the file system
    lost since the beginning: a sandbox cannot hide there, an honest one seldom has such directories.
    """

    def __init__(self, source: Path, limit_mib: int) -> None:
        self._source, self._limit = source, limit_mib * MIB
        self.device = source.stat().st_dev
        self._first = self._free = self._free_now()
        self._known, self._when = 0, monotonic()

    def over(self, until: float, unlinked: int = 0) -> bool:
        """Does it hold more than it may, with ``unlinked`` bytes of open files without a name? Ends at ``until``."""
        now, free = monotonic(), self._free_now()
        lost = self._free - free
        if lost >= (self._limit - self._known) // 2 or now - self._when > RARELY:
            found = usage(self._source, most=self._limit, until=until)
            self._known = found.bytes if found.complete else max(found.bytes, self._first - free)
            self._free, self._when = free, now
        return self._known + unlinked > self._limit

    def _free_now(self) -> int:
        facts = os.statvfs(self._source)
        return facts.f_bavail * facts.f_frsize
