"""Watching a sandbox: is it still within its limits? Costs next to nothing while all is well."""

from __future__ import annotations

import os
from pathlib import Path
from time import monotonic

from nanobench.sandbox.interface import Ended, Request, memory_mounts
from nanobench.sandbox.output import Outputs
from nanobench.sandbox.processes import Load, Processes
from nanobench.sandbox.tree import usage

MIB = 1024 * 1024
QUICKEST, SLOWEST = 0.02, 0.25  # seconds between two looks
SHARE = 20  # a look may take a twentieth of the time


class Watch:
    """Looks at one running sandbox. ``pause`` is how long to wait before the next look."""

    def __init__(self, request: Request, pid: int, files: Outputs) -> None:
        self._limits, self._files = request.limits, files
        self._processes = Processes(pid, tuple(memory_mounts(request.limits)))
        self._disks = [Disk(mount.source, request.limits.disk_mib) for mount in request.mounts if mount.writable]
        self._began = monotonic()
        self.deadline = self._began + request.limits.seconds
        self._slow = QUICKEST
        self.peak = self.cpu_ms = 0

    @property
    def pause(self) -> float:
        """Seconds until the next look."""
        return max(0.0, min(self._slow, self.deadline - monotonic()))

    @property
    def wall_ms(self) -> int:
        """Milliseconds since the sandbox was ready."""
        return round((monotonic() - self._began) * 1000)

    def close(self) -> None:
        """The sandbox is over."""
        self._processes.close()

    def look(self) -> Ended | None:
        """The limit that is exceeded now, if any."""
        before = monotonic()
        found = self._judge(before)
        cost = monotonic() - before
        self._slow = max(min(self._slow * 1.5, SLOWEST), cost * SHARE)
        return found

    def _judge(self, now: float) -> Ended | None:
        load = self._processes.load()
        if load:
            self.cpu_ms = max(self.cpu_ms, load.cpu_ms)
        if now >= self.deadline:
            return Ended.TIME
        if load and self._over_memory(load):
            return Ended.MEMORY
        if self._files.over() or any(disk.over(self.deadline) for disk in self._disks):
            return Ended.DISK
        return None

    def last(self) -> Ended | None:
        """A limit that was passed since the last look, once the command has ended."""
        over = self._files.over() or any(disk.over(monotonic() + SLOWEST) for disk in self._disks)
        return Ended.DISK if over else None

    def _over_memory(self, load: Load) -> bool:
        """The sum of what is resident counts shared pages often; only what is really used ends a sandbox."""
        used, limit = load.resident + load.files, self._limits.memory_mib * MIB
        if used > limit:
            used = self._processes.proportional() + load.files
        self.peak = max(self.peak, used)
        if used > limit // 2:
            self._slow = QUICKEST
        return used > limit


class Disk:
    """A writable mount. It is walked only when the file system lost enough since the last time to matter, or rarely."""

    RARELY = 10.0

    def __init__(self, source: Path, limit_mib: int) -> None:
        self._source, self._limit = source, limit_mib * MIB
        self._known, self._free, self._when = 0, self._free_now(), monotonic()

    def over(self, until: float) -> bool:
        """Does it hold more than it may? Looks until ``until`` at the latest."""
        now, free = monotonic(), self._free_now()
        due = self._free - free >= (self._limit - self._known) // 2 or now - self._when > self.RARELY
        if due:
            self._known = usage(self._source, most=self._limit, until=until).bytes
            self._free, self._when = free, now
        return self._known > self._limit

    def _free_now(self) -> int:
        facts = os.statvfs(self._source)
        return facts.f_bavail * facts.f_frsize
