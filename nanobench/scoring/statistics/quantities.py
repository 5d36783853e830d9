"""Figures that cannot be printed alone: each carries how many observations it rests on, and its interval."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any

import scipy
from attrs import Factory, field, frozen

CONFIDENCE = 0.95
"""Of every interval: :data:`nanobench.scoring.statistics.power.ALPHA` is what it leaves."""

PLACES = 3
"""Decimal places of a figure that does not ask for more."""

_NOISE = 9
"""Decimal places that are kept before rounding for print: what lies behind them differs between processors."""


@frozen
class Interval:
    """Where a quantity plausibly lies; both ends included."""

    low: float
    high: float

    def overlaps(self, other: Interval) -> bool:
        """Do the two have a point in common?"""
        return self.low <= other.high and other.low <= self.high

    def document(self, places: int = PLACES) -> list[str]:
        """Both ends, as decimal text."""
        return [decimal(self.low, places), decimal(self.high, places)]


@lru_cache(maxsize=10_000)
def wilson(passed: int, n: int) -> Interval:
    """The score interval of a proportion, without continuity correction; all of 0 to 1 when nothing was observed.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927) 209–212.

    Raises:
        ValueError: more passed than were observed.
    """
    if not 0 <= passed <= n:
        raise ValueError(f"{passed} of {n} cannot have passed")
    if not n:
        return Interval(0.0, 1.0)
    found = scipy.stats.binomtest(passed, n).proportion_ci(CONFIDENCE, method="wilson")
    return Interval(float(found.low), float(found.high))


@frozen
class Rate:
    """``passed`` of ``n``, with its Wilson interval. It has no percentage of its own: its text carries all three."""

    passed: int
    n: int
    interval: Interval = field(init=False, default=Factory(lambda self: wilson(self.passed, self.n), takes_self=True))

    def __str__(self) -> str:
        if not self.n:
            return "0/0 (nothing was measured)"
        share, low, high = (decimal(100 * x, 1) for x in (self.passed / self.n, *_ends(self.interval)))
        return f"{self.passed}/{self.n} = {share} % [{low}, {high}]"

    def document(self) -> dict[str, Any]:
        """For ``--json``: counts, and the interval as shares."""
        return {"passed": self.passed, "n": self.n, "interval": self.interval.document()}


@frozen
class Mean:
    """A mean over ``n`` observations. Of fewer than two there is no interval, and its text says so."""

    value: float
    n: int
    interval: Interval | None

    def __str__(self) -> str:
        return self.text()

    def text(self, places: int = PLACES) -> str:
        """Value, interval and n, of so many places."""
        ends = [self._number(end, places) for end in _ends(self.interval)] if self.interval else ["no interval"]
        return f"{self._number(self.value, places)} [{', '.join(ends)}] (n = {self.n})"

    def document(self, places: int = PLACES) -> dict[str, Any]:
        """For ``--json``: numbers as decimal text."""
        interval = self.interval.document(places) if self.interval else None
        return {"value": decimal(self.value, places), "n": self.n, "interval": interval}

    def _number(self, value: float, places: int) -> str:
        return decimal(value, places)


@frozen
class Difference(Mean):
    """A mean of paired differences, after less before: its text has a sign."""

    def _number(self, value: float, places: int) -> str:
        text = decimal(value, places)
        return text if text.startswith("-") or not float(text) else f"+{text}"


def decimal(value: float, places: int = PLACES) -> str:
    """A number as text: the same on every machine, and never ``-0``."""
    exact = Decimal(repr(round(value, _NOISE)))
    return str(exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP) + 0)


def p_value(p: float) -> str:
    """A p as text: four places, or that it is smaller than they can say."""
    return decimal(p, 4) if p >= 0.00005 else "< 0.0001"


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high
