"""The landmarks of a locked task, read from its image and its solution: an auditor comes to the same."""

from __future__ import annotations

from nanobench.grading.locked import LockedArena
from nanobench.model.label import Landmarks
from nanobench.model.lock import TaskLock
from nanobench.scoring.landmarks import landmarks
from nanobench.store.plain_file import read_below
from nanobench.symbols.names import names_added
from nanobench.symbols.words import unknown_at

MAX_FILE = 4 << 20
"""Bytes of a required file in which names are looked for."""


def landmarks_of(place: LockedArena, lock: TaskLock) -> Landmarks:
    """The names and functions that labels of this task's runs are held against."""
    base = {path: _text(place, path) for path in lock.source.required_files}
    languages = {suite.language for suite in place.arena.suites}
    asked = unknown_at(place.image.workspace, names_added(place.change.test))
    return landmarks(base, golden=place.change.golden, asked=asked, languages=languages)


def _text(place: LockedArena, path: str) -> bytes:
    try:
        return read_below(place.image.workspace, path, limit=MAX_FILE)
    except OSError:  # a link, too large, or made by the solution
        return b""
