"""How figures are said in words: no share without its count and its interval, no count of nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from math import ceil, floor

from attrs import fields

from nanobench.report.rows import Arm
from nanobench.report.tally import Tally, too_few
from nanobench.scoring.efficiency import Spread
from nanobench.scoring.statistics.power import FLOOR
from nanobench.scoring.statistics.quantities import Rate, decimal

NONE = "–"
AXES = tuple(field.name for field in fields(Arm) if field.name != "run")
"""What may vary between the runs of one task, in the order in which people name it."""


def count(number: int, noun: str) -> str:
    """``1 task``, ``2 tasks``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def rate_words(rate: Rate) -> str:
    """Count, share and interval; a dash where nothing was counted."""
    return str(rate) if rate.n else NONE


def interval_words(rate: Rate) -> str:
    """``23–88 %``; rounded outwards, so that no interval looks narrower than it is."""
    low, high = rate.interval.low, rate.interval.high
    return f"{floor(round(low * 100, 6))}–{ceil(round(high * 100, 6))} %"


def mean_words(tally: Tally) -> str:
    """The mean score and over how many runs."""
    return NONE if tally.mean is None else f"{decimal(tally.mean, 2)} (n={tally.valid})"


def spread_words(spread: Spread) -> str:
    """``12 (9–15, n=5)``: median, quartiles and count; and how many runs did not tell."""
    if spread.low is None or spread.median is None or spread.high is None:
        return NONE
    low, median, high = (amount(value) for value in (spread.low, spread.median, spread.high))
    unknown = f", {spread.unknown} unknown" if spread.unknown else ""
    return f"{median} ({low}–{high}, n={spread.n}{unknown})"


def amount(value: Decimal) -> str:
    """A number for people: three figures at least, thousands apart."""
    if value >= 100 or value == int(value):
        return f"{int(value + Decimal('0.5')):,}"
    return str(value.quantize(Decimal("0.1") if value >= 1 else Decimal("0.0001"), ROUND_HALF_UP))


def counts_words(counts: Mapping[str, int]) -> str:
    """``2 partial_fix_only, 1 zero_signal``; a dash for none."""
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or NONE


def few_words(tally: Tally) -> str:
    """What is said where there are too few tasks to claim anything; empty where there are enough."""
    return f"{tally.tasks} of {FLOOR} tasks: too few to claim anything" if too_few(tally) else ""


def arm_names(arms: Iterable[Arm]) -> tuple[str, dict[Arm, str]]:
    """What all arms have in common, and what each is called: by the axes that vary, or by its model.

    The run is named only where arms would be called alike without.
    """
    arms = tuple(arms)
    values = {axis: {getattr(arm, axis) for arm in arms} for axis in AXES}
    varying = [axis for axis in AXES if len(values[axis]) > 1] or ["model"]
    common = ", ".join(f"{axis} {value}" for axis in AXES if axis not in varying for value in values[axis] if value)
    names = {arm: _name(arm, varying) for arm in arms}
    if len(set(names.values())) < len(arms):
        names = {arm: f"{name} · run {arm.run}" for arm, name in names.items()}
    return common, names


def _name(arm: Arm, axes: Iterable[str]) -> str:
    """The values of these axes; a scripted provider's only model has its name, which is said once."""
    return " · ".join(dict.fromkeys(getattr(arm, axis) or f"no {axis}" for axis in axes))
