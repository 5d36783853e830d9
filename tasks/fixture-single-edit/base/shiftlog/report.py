"""Adds shifts up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta

from shiftlog.parse import Shift


def weekly(shifts: Iterable[Shift]) -> dict[str, timedelta]:
    """The time worked in each calendar week, ``2026-W10`` and so on, in order."""
    weeks: dict[str, timedelta] = defaultdict(timedelta)
    for shift in shifts:
        year, week, _ = shift.day.isocalendar()
        weeks[f"{year}-W{week:02}"] += shift.worked
    return dict(sorted(weeks.items()))


def hours(time: timedelta) -> str:
    """``7:30`` for seven hours and a half."""
    minutes = int(time.total_seconds()) // 60
    return f"{minutes // 60}:{minutes % 60:02}"
