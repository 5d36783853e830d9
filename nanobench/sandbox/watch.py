"""Watching a sandbox: is it still within its limits? Costs next to nothing while all is well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from time import monotonic

from nanobench.sandbox.contention import starved
from nanobench.sandbox.disk import Disk
from nanobench.sandbox.inside import MIB
from nanobench.sandbox.interface import Ended, Request, memory_mounts
from nanobench.sandbox.neighbours import Neighbours
from nanobench.sandbox.output import Outputs
from nanobench.sandbox.processes import Load, Processes

QUICKEST, SLOWEST = 0.02, 0.25  # seconds between two looks
SHARE = 20  # a look may take a twentieth of the time
UNLINKED_EVERY = 1.0  # seconds
LAST = 60.0  # seconds that the last look may take: nothing runs any more, and a hasty one would blame the neighbours


class Watch:
    """Looks at one running sandbox on its CPUs. ``pause`` is how long to wait before the next look."""

    def __init__(self, request: Request, pid: int, files: Outputs, cpus: Collection[int]) -> None:
        self._limits, self._files = request.limits, files
        self._processes = Processes(pid, tuple(memory_mounts(request.limits)))
        self._neighbours = Neighbours(cpus)
        self._disks = [Disk(mount.source, request.limits.disk_mib) for mount in request.mounts if mount.writable]
        self._began = self._listed = monotonic()
        self._deadline = self._began + request.limits.seconds
        self._slow = QUICKEST
        self._unlinked: Counter[int] = Counter()
        self.peak = self.cpu_ms = 0

    @property
    def pause(self) -> float:
        """Seconds until the next look."""
        return max(0.0, min(self._slow, self._deadline - monotonic()))

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
        self._slow = max(min(self._slow * 1.5, SLOWEST), (monotonic() - before) * SHARE)
        return found

    def last(self) -> Ended | None:
        """The limit that the command passed after the last look, once it has ended."""
        over = self._files.over() or any(disk.over(monotonic() + LAST) for disk in self._disks)
        return Ended.DISK if over else None

    def starved(self) -> str | None:
        """Why it is the machine's doing that the command ran into its time limit; to be asked when it is dead."""
        during = self._neighbours.during(self.wall_ms)
        return starved(during, self._neighbours.after()) if during.most else None

    def _judge(self, now: float) -> Ended | None:
        load = self._processes.load()
        if load:
            self.cpu_ms = max(self.cpu_ms, load.cpu_ms)
            self._neighbours.note(load)
        if now >= self._deadline:
            return Ended.TIME
        if now - self._listed > UNLINKED_EVERY:
            self._listed, self._unlinked = now, self._processes.unlinked()
        if load and self._over_memory(load):
            return Ended.MEMORY
        return Ended.DISK if self._files.over() or self._over_disk() else None

    def _over_memory(self, load: Load) -> bool:
        """The sum of what is resident counts shared pages often; only what is really used ends a sandbox."""
        on_disk = {disk.device for disk in self._disks}
        files = load.files + sum(size for device, size in self._unlinked.items() if device not in on_disk)
        used, limit = load.resident + files, self._limits.memory_mib * MIB
        if used > limit:
            used = self._processes.proportional(files)
        self.peak = max(self.peak, used)
        if used > limit // 2:
            self._slow = QUICKEST
        return used > limit

    def _over_disk(self) -> bool:
        return any(disk.over(self._deadline, self._unlinked[disk.device]) for disk in self._disks)
