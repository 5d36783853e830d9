"""Waiting for each other: one lock a key, and one that tells a garbage collection that nobody uses the store."""

from __future__ import annotations

import fcntl
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
        self._path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        weakref.finalize(self, os.close, self._descriptor)
        self._take(fcntl.LOCK_SH, "waiting for a garbage collection of the store", patience, say)

    @contextmanager
    def alone(self, *, patience: float, say: Say) -> Iterator[None]:
        """Hold the store exclusively: no other process builds, fetches or runs from it."""
        self._take(fcntl.LOCK_EX, "waiting for every other nanobench that uses the store", patience, say)
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def _take(self, kind: int, waiting: str, patience: float, say: Say) -> None:
        until, told = time.monotonic() + patience, False
        while not self._try(kind):
            if not told:
                say(waiting)
            told = True
            if time.monotonic() > until:
                self._try(fcntl.LOCK_SH)  # a refused change of kind has dropped the old lock
                raise _waited("the whole store", self._path, patience)
            time.sleep(_POLL)

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


_USAGES: weakref.WeakValueDictionary[Path, Usage] = weakref.WeakValueDictionary()
_USAGES_LOCK = threading.Lock()


def usage_of(path: Path, *, patience: float, say: Say) -> Usage:
    """The one usage lock of this process at ``path``: several stores in one process do not wait for each other."""
    with _USAGES_LOCK:
        usage = _USAGES.get(path)
        if usage is None:
            usage = _USAGES[path] = Usage(path, patience=patience, say=say)
        return usage


def _waited(what: str, where: Path, patience: float) -> MachineFailure:
    return MachineFailure(
        "NB_LOCK_TIMEOUT",
        f"waited {patience:.0f} s for {what}, which another nanobench holds",
        where=str(where),
        hint="let the other process finish (or end it) and try again",
    )
