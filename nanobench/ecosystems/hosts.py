"""What is known of each host: that it was contacted, and that no more is to be hoped of it."""

from __future__ import annotations

import threading
from urllib.parse import urlsplit

GIVE_UP = 3
"""So many files in a row that a host did not give, each after all attempts, and it is asked for nothing more."""


class Hosts:
    """A record that several threads keep together."""

    def __init__(self) -> None:
        self._contacted: set[str] = set()
        self._failures: dict[str, int] = {}
        self._closed: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def contacted(self) -> tuple[str, ...]:
        """Every host that was contacted, sorted."""
        with self._lock:
            return tuple(sorted(self._contacted))

    def note(self, url: str) -> None:
        """``url``'s host is contacted."""
        with self._lock:
            self._contacted.update(filter(None, [urlsplit(url).hostname]))

    def closed(self, url: str) -> str | None:
        """Why ``url``'s host is not asked any more; None when it is."""
        with self._lock:
            return self._closed.get(_place(url))

    def answered(self, url: str) -> None:
        """It gave a file: what failed before had other reasons."""
        with self._lock:
            self._failures.pop(_place(url), None)

    def failed(self, url: str, why: str, *, lasting: bool) -> None:
        """It gave none, after all attempts; ``lasting``: nor will it give any other one."""
        with self._lock:
            count = self._failures[_place(url)] = self._failures.get(_place(url), 0) + 1
            if lasting or count >= GIVE_UP:
                self._closed.setdefault(_place(url), why)


def _place(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]
