"""Small plots as inline SVG, beside the numbers that they draw: a rate's interval, shares, a spread, a difference.

They are decoration to a screen reader, which reads the numbers. Colours are classes of the style sheet.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from markupsafe import Markup

from nanobench.scoring.efficiency import Spread
from nanobench.scoring.statistics.quantities import Difference, Rate

_WIDTH, _HEIGHT = 120.0, 14.0
_MIDDLE = _HEIGHT / 2


def interval(rate: Rate) -> Markup:
    """A rate as a dot on a line from none to all, its interval as a bar."""
    if not rate.n:
        return Markup("")
    return _plot(_line(0, 1) + _bar(rate.interval.low, rate.interval.high) + _dot(rate.passed / rate.n))


def spread(found: Spread, most: Decimal) -> Markup:
    """Quartiles as a bar and the median as a dot, on a line from zero to ``most``."""
    if found.low is None or found.median is None or found.high is None or not most:
        return Markup("")
    low, median, high = (float(value / most) for value in (found.low, found.median, found.high))
    return _plot(_line(0, 1) + _bar(low, high) + _dot(median))


def difference(found: Difference) -> Markup:
    """A difference of shares as a dot between minus one and one, its interval as a bar, zero as a stroke."""
    place = _of_difference
    bar = _bar(place(found.interval.low), place(found.interval.high)) if found.interval else ""
    zero = _rule(0.5)
    return _plot(_line(0, 1) + zero + bar + _dot(place(found.value)))


def shares(parts: Iterable[tuple[str, int]], whole: int) -> Markup:
    """Counts of a whole as one bar: each part has a class, and its length is its share."""
    at, drawn = 0.0, []
    for name, count in parts:
        width = 1000 * count / whole if whole else 0
        if count:
            drawn.append(f'<rect class="{name}" x="{at:.1f}" y="0" width="{width:.1f}" height="18"/>')
        at += width
    body = "".join(drawn)
    return Markup(  # noqa: S704  the classes are ours
        f'<svg class="shares" viewBox="0 0 1000 18" preserveAspectRatio="none" aria-hidden="true">{body}</svg>'
    )


def _of_difference(value: float) -> float:
    return (value + 1) / 2


def _x(share: float) -> float:
    """Where a share of the line lies; a dot at either end is still whole."""
    return 5 + min(max(share, 0.0), 1.0) * (_WIDTH - 10)


def _line(low: float, high: float) -> str:
    return f'<line class="axis" x1="{_x(low):.1f}" x2="{_x(high):.1f}" y1="{_MIDDLE}" y2="{_MIDDLE}"/>'


def _rule(at: float) -> str:
    return f'<line class="axis" x1="{_x(at):.1f}" x2="{_x(at):.1f}" y1="1" y2="{_HEIGHT - 1}"/>'


def _bar(low: float, high: float) -> str:
    width = max(_x(high) - _x(low), 1)
    return f'<rect class="reach" x="{_x(low):.1f}" y="{_MIDDLE - 3}" width="{width:.1f}" height="6" rx="3"/>'


def _dot(at: float) -> str:
    return f'<circle class="dot" cx="{_x(at):.1f}" cy="{_MIDDLE}" r="4"/>'


def _plot(body: str) -> Markup:
    size = f'width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}"'
    return Markup(f'<svg class="plot" {size} aria-hidden="true">{body}</svg>')  # noqa: S704  numbers alone
