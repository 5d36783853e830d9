"""Reads shifts from text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

LINE = re.compile(r"(\d{4}-\d\d-\d\d)\s+(\d\d:\d\d)-(\d\d:\d\d)\s+(\d+)\s+(\S.*)")


class LogError(ValueError):
    """A line that is no shift; says which."""

    def __init__(self, number: int, problem: str) -> None:
        super().__init__(f"line {number}: {problem}")
        self.number = number


@dataclass(frozen=True)
class Shift:
    """One shift: the day it began on, the time worked without the break, and what was done."""

    day: date
    worked: timedelta
    note: str


def read_log(text: str) -> list[Shift]:
    """Every shift of a log, in its order."""
    shifts = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line and not line.startswith("#"):
            shifts.append(_shift(number, line))
    return shifts


def _shift(number: int, line: str) -> Shift:
    match = LINE.fullmatch(line)
    if match is None:
        raise LogError(number, f"not a shift: {line!r}")
    day, begin, end, rest, note = match.groups()
    try:
        start = datetime.fromisoformat(f"{day}T{begin}")
        stop = datetime.fromisoformat(f"{day}T{end}")
    except ValueError as error:
        raise LogError(number, str(error)) from None
    worked = stop - start - timedelta(minutes=int(rest))
    if worked < timedelta(0):
        raise LogError(number, "the break is longer than the shift")
    return Shift(day=start.date(), worked=worked, note=note)
