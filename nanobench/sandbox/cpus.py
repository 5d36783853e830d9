"""Which CPUs a sandbox gets: the least used ones of those that the runner may use, so that parallel cells spread."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class Cpus:
    """Hands out CPUs to the sandboxes of one engine."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: Counter[int] = Counter()

    @contextmanager
    def take(self, count: int) -> Iterator[frozenset[int]]:
        """``count`` CPUs (all there are, if fewer) for the time of the block."""
        with self._lock:
            allowed = sorted(os.sched_getaffinity(0), key=lambda cpu: (self._users[cpu], cpu))
            taken = frozenset(allowed[:count])
            self._users.update(taken)
        try:
            yield taken
        finally:
            with self._lock:
                self._users.subtract(taken)
