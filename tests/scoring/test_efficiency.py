"""What a task took: exact figures, of the cells that count, with what is unknown and missing said."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from nanobench.model.result import Attempt, Cause, CellResult, Usage
from nanobench.scoring.efficiency import FIGURES, Spread, efficiency, spread


def taken(
    result: CellResult, repeat: int, *, cause: Cause = Cause.FINISHED, wall: int = 0, **usage: Any
) -> CellResult:
    attempts = (Attempt(number=1, cause=cause, wall_ms=wall),)
    counted = Usage(**{"steps": 1, **usage})
    return evolve(result, cell=evolve(result.cell, repeat=repeat), cause=cause, attempts=attempts, usage=counted)


def of(n: int, unknown: int, *figures: str) -> Spread:
    low, median, high = map(Decimal, figures)
    return Spread(n=n, unknown=unknown, low=low, median=median, high=high)


def test_quartiles_are_those_of_r_and_numpy() -> None:
    # quantile(c(1, 2, 4, 8), c(.25, .5, .75)) in R; numpy.percentile([1, 2, 4, 8], [25, 50, 75])
    assert spread([8, 1, 4, 2]) == of(4, 0, "1.75", "3", "5")
    assert spread([5, 1, 2, 3, 4]) == of(5, 0, "2", "3", "4")
    assert spread([7]) == of(1, 0, "7", "7", "7")


def test_an_unknown_value_is_left_out_and_told_and_where_all_are_there_is_no_figure() -> None:
    assert spread([3, None, 1]) == of(2, 1, "1.5", "2", "2.5")
    nothing = spread([None, None])
    assert nothing == Spread(n=0, unknown=2, low=None, median=None, high=None)


@given(st.lists(st.one_of(st.none(), st.integers(0, 10**12)), max_size=30))
def test_a_spread_depends_on_no_order_and_its_quartiles_lie_between_the_values(values: list[int | None]) -> None:
    found, known = spread(values), [value for value in values if value is not None]
    assert found == spread(reversed(values))
    assert found.n + found.unknown == len(values)
    if found.low is not None and found.median is not None and found.high is not None:
        assert min(known) <= found.low <= found.median <= found.high <= max(known)


def test_a_task_has_its_figures_and_says_how_many_repeats_they_lack(cell_result: CellResult) -> None:
    results = [taken(cell_result, n, steps=n + 1, input_tokens=100 * n, wall=1000 * n) for n in range(3)]
    (row,) = efficiency(results)
    assert (row.task, row.cells, row.missing) == ("x", 3, 2)
    assert row.figures["steps"] == of(3, 0, "1.5", "2", "2.5")
    assert row.figures["input_tokens"].median == 100
    assert row.figures["wall_ms"].high == 1500
    assert row.figures["cost"] == spread([None] * 3)
    assert tuple(row.figures) == tuple(FIGURES)


def test_cells_that_others_ended_take_no_part(cell_result: CellResult) -> None:
    ends = (Cause.FINISHED, Cause.RATE_LIMIT, Cause.COST_BUDGET, Cause.PROVIDER_FAILED, Cause.TIME_LIMIT)
    (row,) = efficiency([taken(cell_result, n, cause=cause, steps=n) for n, cause in enumerate(ends)])
    assert (row.cells, row.missing) == (2, 3)
    assert row.figures["steps"].median == 2


def test_money_is_a_decimal(cell_result: CellResult) -> None:
    costs = [evolve(taken(cell_result, n), cost=cost) for n, cost in enumerate(("0.1", "0.2", None))]
    (row,) = efficiency(costs)
    assert row.figures["cost"] == of(2, 1, "0.125", "0.15", "0.175")


def test_calls_are_told_by_tool_and_a_tool_that_was_not_called_was_called_no_times(cell_result: CellResult) -> None:
    calls: list[dict[str, int] | None] = [{"read": 4}, {"read": 2, "bash": 1}, None]
    results = [evolve(r, usage=evolve(r.usage, by_tool=c)) for r, c in zip(repeats(cell_result), calls, strict=True)]
    (row,) = efficiency(results)
    assert row.by_tool == {"bash": of(2, 1, "0.25", "0.5", "0.75"), "read": of(2, 1, "2.5", "3", "3.5")}


def repeats(result: CellResult) -> list[CellResult]:
    return [taken(result, n) for n in range(3)]


def test_tasks_are_told_apart_and_come_by_their_ids(cell_result: CellResult) -> None:
    results = [evolve(cell_result, cell=evolve(cell_result.cell, task=task, model=m)) for task in "ba" for m in "mn"]
    assert [(row.task, row.cells) for row in efficiency(results)] == [("a", 2), ("b", 2)]
