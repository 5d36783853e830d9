"""What every engine promises: one sealed command, the same inside whichever engine runs it.

Inside: uid and gid 1000 without capabilities, a read-only root file system, the host name ``nanobench``, UTC,
``C.UTF-8``, ``PYTHONHASHSEED=0``, umask 022, no network but an own loopback, ``/tmp``, ``/dev/shm`` and
``/home/agent`` as size-capped memory, standard input empty, and exactly the mounts of the request. Nothing of the
host's environment is inherited.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Protocol

from attrs import field, frozen

from nanobench.model.environment import Limits

WORKSPACE = "/workspace"
HOME = "/home/agent"
MOUNTS = "/nanobench"
"""The image has these directories; mounts go to ``WORKSPACE``, below ``MOUNTS``, or onto an existing directory."""

SANDBOX_UID = 1000
HOST_NAME = "nanobench"
OPEN_FILES = 4096
"""RLIMIT_NOFILE, soft and hard: programs that close every possible descriptor stay quick."""

SHARED_MEMORY_MIB = 64


class Ended(StrEnum):
    """Why a sandbox ended: by itself, or stopped by the engine for a limit."""

    EXITED = "exited"
    TIME = "time"
    MEMORY = "memory"
    DISK = "disk"
    INTERRUPTED = "interrupted"


@frozen(kw_only=True)
class Mount:
    """A host file, directory or unix socket's directory at ``target`` (absolute). Read-only unless said."""

    source: Path
    target: str
    writable: bool = False


@frozen(kw_only=True)
class SandboxLimits:
    """Memory, disk in MiB (disk bounds ``/tmp`` and home together, and each writable mount), time in seconds."""

    cpus: int
    memory_mib: int
    pids: int
    disk_mib: int
    seconds: int

    @classmethod
    def of(cls, limits: Limits, *, seconds: int) -> SandboxLimits:
        """An environment's limits, for so many seconds."""
        return cls(
            cpus=limits.cpus,
            memory_mib=limits.memory_mib,
            pids=limits.pids,
            disk_mib=limits.disk_mib,
            seconds=seconds,
        )


@frozen(kw_only=True)
class Request:
    """One command. ``layers`` are unpacked layer trees, lowest first; ``stdout`` and ``stderr`` are host files.

    ``env`` is added to the fixed environment. ``cwd`` is absolute, inside. The two files are made anew and may be the
    same one. ``output_mib`` bounds each: a command that writes more is stopped (``Ended.DISK``), and the file is cut.
    """

    layers: tuple[Path, ...]
    argv: tuple[str, ...]
    limits: SandboxLimits
    stdout: Path
    stderr: Path
    cwd: str = WORKSPACE
    env: dict[str, str] = field(factory=dict)
    mounts: tuple[Mount, ...] = ()
    phase: str = "run"
    output_mib: int = 64


@frozen(kw_only=True)
class Finished:
    """How it ended: exit code, reason, wall and CPU milliseconds, peak memory if known.

    ``exit_code`` is 128+n for signal n, 127 for a command (or directory to run it in) that is not there, 126 for one
    that may not be run. ``weak`` names every limit that this engine could only watch, not enforce, on this machine.
    ``starved``: why it is the machine's doing that the time was up (:mod:`.contention`), in words with numbers.
    """

    exit_code: int
    ended: Ended
    wall_ms: int
    cpu_ms: int | None = None
    peak_mib: int | None = None
    weak: tuple[str, ...] = ()
    starved: str | None = None


class Engine(Protocol):
    """One way to run a request. An engine may be used from several threads."""

    name: str

    def run(self, request: Request) -> Finished:
        """Run the request to its end.

        Raises:
            MachineFailure: ``NB_ENGINE`` when the sandbox itself could not be started (never the command's fault).
        """

    def own(self, path: Path) -> None:
        """Make the host tree at ``path`` belong to the uid that the sandbox's uid 1000 is on this host."""

    def stop(self) -> None:
        """End every run of this engine, now and from now on, as ``Ended.INTERRUPTED`` (for a runner with threads)."""

    def check(self) -> tuple[str, ...]:
        """What keeps this engine from working here, each with its remedy; empty when it works."""


def fixed_env() -> dict[str, str]:
    """The environment that every command finds; a request may add to it."""
    return {
        "PATH": "/opt/venv/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": HOME,
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/sh",
        "TERM": "dumb",
        "TMPDIR": "/tmp",  # noqa: S108 (inside)
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
    }


def memory_mounts(limits: SandboxLimits) -> dict[str, int]:
    """File systems in memory and their size in MiB: the first two share the disk, and all stay below the memory."""
    half = max(1, min(limits.disk_mib, limits.memory_mib) // 2)
    return {"/tmp": half, HOME: half, "/dev/shm": min(SHARED_MEMORY_MIB, half)}  # noqa: S108 (inside)
