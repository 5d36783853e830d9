"""Waiting for each other: one lock a key, and one that tells a garbage collection that nobody uses the store."""

from __future__ import annotations

import fcntl
import os
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from nanobench.errors import MachineFailure

Say = Callable[[str], None]
_POLL = 0.05


@contextmanager
def key_lock(folder: Path, key: str, *, patience: float, say: Say) -> Iterator[None]:
    """Hold the lock of ``key``; what is waited for is said at once.

    Args:
        patience: seconds to wait at most.

    Raises:
        MachineFailure: ``NB_LOCK_TIMEOUT``.
    """
    lock = FileLock(folder / f"{key}.lock", fallback_to_soft=False, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(f"waiting for another nanobench that is making {key}")
        try:
            lock.acquire(timeout=patience, poll_interval=_POLL)
        except Timeout:
            raise _waited(key, folder, patience) from None
    try:
        yield
    finally:
        lock.release()


class Usage:
    """A shared lock on the whole store, held as long as this object lives."""

    def __init__(self, path: Path, *, patience: float, say: Say) -> None:
        self._path, self._patience = path, patience
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        weakref.finalize(self, os.close, self._descriptor)
        self._take(fcntl.LOCK_SH, "waiting for a garbage collection of the store", say)

    @contextmanager
    def alone(self, say: Say) -> Iterator[None]:
        """Hold the store exclusively: nobody else builds, fetches or runs from it."""
        self._take(fcntl.LOCK_EX, "waiting for every other nanobench that uses the store", say)
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def _take(self, kind: int, waiting: str, say: Say) -> None:
        until, told = time.monotonic() + self._patience, False
        while True:
            try:
                fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                return
            if not told:
                say(waiting)
            told = True
            if time.monotonic() > until:
                with suppress(BlockingIOError):  # a refused change of kind has dropped the old lock
                    fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                raise _waited("the whole store", self._path, self._patience)
            time.sleep(_POLL)


def _waited(what: str, where: Path, patience: float) -> MachineFailure:
    return MachineFailure(
        "NB_LOCK_TIMEOUT",
        f"waited {patience:.0f} s for {what}, which another nanobench holds",
        where=str(where),
        hint="let the other process finish (or end it) and try again",
    )
