"""What did a task take? Steps, tool calls, tokens, money and time: median and quartiles over repeats. Pure.

Counted are the cells whose end was the agent's own: one that a rate limit, the user's purse or the machine ended took
what it took by chance. What is unknown of a cell is left out of its figure, and said, never taken for zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from statistics import quantiles
from typing import Final

from attrs import frozen

from nanobench.model.result import CellResult
from nanobench.scoring.tally import by_task, counts

REPEATS: Final = 5
"""Repeats that a figure of efficiency rests on, whatever the task's tier."""

Number = int | Decimal


@frozen(kw_only=True)
class Spread:
    """The middle half of ``n`` values: lower quartile, median, upper quartile; all None where no value is known.

    ``unknown`` is how many more cells there are whose value nobody told.
    """

    n: int
    unknown: int
    low: Decimal | None
    median: Decimal | None
    high: Decimal | None


@frozen(kw_only=True)
class Efficiency:
    """What the cells of one task took: ``cells`` were counted, ``missing`` more are needed for the figures.

    ``by_tool`` has the calls of each tool that any of the cells called.
    """

    task: str
    cells: int
    missing: int
    figures: dict[str, Spread]
    by_tool: dict[str, Spread]


FIGURES: Final[dict[str, Callable[[CellResult], Number | None]]] = {
    "steps": lambda r: r.usage.steps,
    "tool_calls": lambda r: r.usage.tool_calls,
    "input_tokens": lambda r: r.usage.input_tokens,
    "output_tokens": lambda r: r.usage.output_tokens,
    "cached_tokens": lambda r: r.usage.cached_tokens,
    "cache_written_tokens": lambda r: r.usage.cache_written_tokens,
    "cost": lambda r: None if r.cost is None else Decimal(r.cost),
    "wall_ms": lambda r: r.attempts[-1].wall_ms,
    "cpu_ms": lambda r: r.attempts[-1].cpu_ms or None,
}
"""Every figure of a cell. No agent runs without taking CPU time: zero is an engine that did not tell."""


def efficiency(results: Iterable[CellResult]) -> tuple[Efficiency, ...]:
    """What each task took, by the tasks' ids. The cells are to be of one arm: those of several are taken together."""
    return tuple(_of_task(task, cells) for task, cells in sorted(by_task(results).items()))


def _of_task(task: str, results: list[CellResult]) -> Efficiency:
    counted = [result for result in results if counts(result)]
    tools = sorted({tool for result in counted for tool in result.usage.by_tool or ()})
    return Efficiency(
        task=task,
        cells=len(counted),
        missing=max(0, REPEATS - len(counted)),
        figures={name: spread(map(figure, counted)) for name, figure in FIGURES.items()},
        by_tool={tool: spread(_calls(result, tool) for result in counted) for tool in tools},
    )


def _calls(result: CellResult, tool: str) -> int | None:
    """How often a tool was called; a tool that is not among the counted ones was not."""
    return None if result.usage.by_tool is None else result.usage.by_tool.get(tool, 0)


def spread(values: Iterable[Number | None]) -> Spread:
    """Median and quartiles by linear interpolation between the ordered values (Hyndman & Fan 1996, type 7), exact."""
    all_values = list(values)
    known = sorted(Decimal(value) for value in all_values if value is not None)
    low, median, high = _quartiles(known) if known else (None, None, None)
    return Spread(n=len(known), unknown=len(all_values) - len(known), low=low, median=median, high=high)


def _quartiles(known: list[Decimal]) -> tuple[Decimal, Decimal, Decimal]:
    low, median, high = quantiles(known, n=4, method="inclusive") if len(known) > 1 else known * 3
    return low, median, high
