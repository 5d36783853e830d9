"""What a container has used, from the kernel's own accounts (control groups, version 1 or 2) on this machine."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from attrs import frozen

_ROOT = Path("/sys/fs/cgroup")


@frozen(kw_only=True)
class _Group:
    """Where a control group's numbers are: processes killed for want of memory, CPU time in ``1/per_ms`` ms."""

    memory: Path
    cpu: Path
    per_ms: int


class Account:
    """The accounts of the control group that ``pid`` is in, from now on. They vanish with it; the last look is kept.

    ``killed`` counts processes that the kernel killed for want of memory; ``cpu_ms`` is None where it cannot be read.
    """

    def __init__(self, pid: int) -> None:
        self._group = _group_of(Path(f"/proc/{pid}/cgroup").read_text())
        self._begun = self._used()
        self.killed, self.cpu_ms = 0, None if self._begun is None else 0

    def look(self) -> int:
        """Read them anew; what ``killed`` is now."""
        self.killed = max(self.killed, _number(self._group.memory, "oom_kill") or 0)
        used = self._used()
        if used is not None and self._begun is not None:
            self.cpu_ms = (used - self._begun) // self._group.per_ms
        return self.killed

    def _used(self) -> int | None:
        return _number(self._group.cpu, "usage_usec")


def _group_of(listed: str) -> _Group:
    lines = [line.split(":", 2) for line in listed.splitlines()]
    groups = {name: path.lstrip("/") for _, names, path in lines for name in names.split(",")}
    if "memory" in groups and "cpuacct" in groups:
        memory, cpu = _ROOT / "memory" / groups["memory"], _ROOT / "cpuacct" / groups["cpuacct"]
        return _Group(memory=memory / "memory.oom_control", cpu=cpu / "cpuacct.usage", per_ms=1_000_000)
    place = _ROOT / groups.get("", "")
    return _Group(memory=place / "memory.events", cpu=place / "cpu.stat", per_ms=1_000)


def _number(path: Path, name: str) -> int | None:
    """The number that stands after ``name``, or alone in its file."""
    with suppress(OSError, ValueError):
        for words in map(str.split, path.read_text().splitlines()):
            if words[:-1] in ([], [name]):
                return int(words[-1])
    return None
