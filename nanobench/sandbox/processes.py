"""A running sandbox seen from the host: its processes through its own ``/proc``, its file systems in memory."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from attrs import frozen

_PAGE = os.sysconf("SC_PAGE_SIZE")
TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
"""Milliseconds of a tick, in which the kernel counts CPU time."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PATH = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_INODE = 1024  # bytes of kernel memory that a file in memory costs, however empty


@frozen(kw_only=True)
class Load:
    """Resident bytes (shared pages once for each process), bytes of file systems in memory, CPU milliseconds and
    those of them in user mode; ``ready``: a process runs or waits for a CPU."""

    resident: int = 0
    files: int = 0
    cpu_ms: int = 0
    user_ms: int = 0
    ready: bool = False


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
        resident = user = system = 0
        ready = False
        for text in self._each("stat"):
            fields = text.rpartition(b")")[2].split()
            user += int(fields[11]) + int(fields[13])  # own and reaped children's
            system += int(fields[12]) + int(fields[14])
            ready = ready or fields[0] == b"R"
            resident += int(fields[21])
        files = sum(map(_in_memory, self._files))
        return Load(
            resident=resident * _PAGE,
            files=files,
            cpu_ms=round((user + system) * TICK_MS),
            user_ms=round(user * TICK_MS),
            ready=ready,
        )

    def proportional(self, files: int) -> int:
        """Bytes of memory that the kernel could not drop, shared pages divided among those who share them. Slow.

        ``files`` are the bytes of files in memory: what is mapped of them is not counted twice, at the price that a
        sandbox may use up to twice its limit when it fills both to the brim.
        """
        private = shared = 0
        for text in self._each("smaps_rollup"):
            sizes = dict(line.split()[:2] for line in text.splitlines()[1:])
            private += 1024 * int(sizes.get(b"Pss_Anon:", 0))
            shared += 1024 * int(sizes.get(b"Pss_Shmem:", 0))
        return private + max(shared, files)

    def unlinked(self) -> Counter[int]:
        """Bytes of open files without a name, by device: deleted ones on disk, ``memfd`` ones in memory."""
        if self._proc is None:
            return Counter()
        found = {(facts.st_dev, facts.st_ino): facts.st_blocks * 512 for facts in self._open_files(self._proc)}
        counted = {os.fstat(fd).st_dev for fd in self._files}
        total: Counter[int] = Counter()
        for (device, _), size in found.items():
            total[device] += 0 if device in counted else size
        return total

    def _open_files(self, proc: int) -> Iterator[os.stat_result]:
        for pid in self._pids():
            with suppress(OSError):
                fds = os.open(f"{pid}/fd", _DIRECTORY, dir_fd=proc)
                try:
                    for facts in _regular(fds):
                        if facts.st_nlink == 0:
                            yield facts
                finally:
                    os.close(fds)

    def _pids(self) -> list[str]:
        return [] if self._proc is None else [name for name in _names(self._proc) if name.isdigit()]

    def _each(self, name: str) -> Iterator[bytes]:
        """The contents of this file of every process that still has it."""
        for pid in self._pids():
            with suppress(OSError):
                fd = os.open(f"{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._proc)
                with os.fdopen(fd, "rb") as file:
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
        proc = os.open("proc", _DIRECTORY, dir_fd=root)
        if os.fstat(proc).st_dev == Path("/proc").stat().st_dev:
            os.close(proc)
            return False
        self._proc = proc
        self._files = [os.open(target.lstrip("/"), _PATH, dir_fd=root) for target in self._memory_mounts]
        return True


def _in_memory(fd: int) -> int:
    facts = os.fstatvfs(fd)
    return (facts.f_blocks - facts.f_bfree) * facts.f_frsize + (facts.f_files - facts.f_ffree) * _INODE


def _regular(directory: int) -> Iterator[os.stat_result]:
    """The open regular files that a ``/proc/N/fd`` shows."""
    for name in _names(directory):
        with suppress(OSError):
            facts = os.stat(name, dir_fd=directory)
            if stat.S_ISREG(facts.st_mode):
                yield facts


def _names(directory: int) -> list[str]:
    with os.scandir(directory) as found:
        return [entry.name for entry in found]


def _children(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return []
