"""A running sandbox seen from the host: its processes through its own ``/proc``, its file systems in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from attrs import frozen

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
_PATH = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


@frozen(kw_only=True)
class Load:
    """Resident bytes summed over processes (shared pages counted for each), bytes in ``/tmp`` and the like, CPU time."""

    resident: int
    files: int
    cpu_ms: int


class Processes:
    """The processes of the sandbox whose process 1 is ``pid`` here.

    Its own ``/proc`` lists exactly the processes of its namespace, and nobody inside can unmount it. It is opened
    through a child of process 1 (which is bubblewrap, closed to an ordinary user), as soon as there is one.
    """

    def __init__(self, pid: int, memory_mounts: tuple[str, ...]) -> None:
        self._pid, self._memory_mounts = pid, memory_mounts
        self._proc: int | None = None
        self._files: list[int] = []

    def close(self) -> None:
        """Let go of the sandbox's file systems."""
        for fd in (*self._files, *([] if self._proc is None else [self._proc])):
            os.close(fd)
        self._files, self._proc = [], None

    def load(self) -> Load | None:
        """What they use now; None while the sandbox cannot be looked into (it has just begun, or ended)."""
        if self._proc is None and not self._enter():
            return None
        resident = ticks = 0
        for text in self._each("stat"):
            fields = text.rpartition(b")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # own and reaped children's, user and system
            resident += int(fields[21])
        files = sum((facts.f_blocks - facts.f_bfree) * facts.f_frsize for facts in map(os.fstatvfs, self._files))
        return Load(resident=resident * _PAGE, files=files, cpu_ms=round(ticks * _TICK_MS))

    def proportional(self) -> int:
        """Bytes of memory that nothing can drop, shared pages divided among those who share them. Slow."""
        total = 0
        for text in self._each("smaps_rollup"):
            sizes = dict(line.split()[:2] for line in text.splitlines()[1:])
            total += 1024 * (int(sizes[b"Pss_Anon:"]) + int(sizes[b"Pss_Shmem:"]))
        return total

    def _each(self, name: str) -> Iterator[bytes]:
        """The contents of this file of every process that still has it."""
        for pid in os.listdir(self._proc):
            if pid.isdigit():
                with suppress(OSError):
                    fd = os.open(f"{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._proc)
                    with open(fd, "rb") as file:
                        yield file.read()

    def _enter(self) -> bool:
        """Open the sandbox's ``/proc`` and memory, once its root is in place (before, this would be the host's)."""
        for child in _children(self._pid):
            with suppress(OSError):
                root = os.open(f"/proc/{child}/root", os.O_PATH | os.O_CLOEXEC)
                try:
                    return self._open_below(root)
                finally:
                    os.close(root)
        return False

    def _open_below(self, root: int) -> bool:
        proc = os.open("proc", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=root)
        if os.fstat(proc).st_dev == Path("/proc").stat().st_dev:
            os.close(proc)
            return False
        self._proc = proc
        self._files = [os.open(target.lstrip("/"), _PATH, dir_fd=root) for target in self._memory_mounts]
        return True


def _children(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return []
