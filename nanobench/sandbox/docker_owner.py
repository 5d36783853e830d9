"""Whose is it? Containers and passing images name the process that made them, so that others can tell if it died."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

LABEL = "nanobench"
OWNER = "nanobench.owner"


def this_process() -> str:
    """This process, told from every other one of this machine, before and after a restart."""
    return f"{_boot()}-{_namespace()}-{os.getpid()}-{_began(os.getpid())}"


def is_dead(owner: str) -> bool:
    """Is the process that called itself so gone? Of another PID namespace it cannot be known: then not."""
    boot, namespace, pid, began = owner.split("-")
    if boot != _boot():
        return True
    return namespace == _namespace() and _began(int(pid)) != began


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")[:16]


def _namespace() -> str:
    return str(Path("/proc/self/ns/pid").stat().st_ino)


def _began(pid: int) -> str:
    """When it began, in the kernel's ticks; empty when there is no such process."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""
