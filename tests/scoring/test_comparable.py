"""What is set aside before anything is compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from nanobench.model.result import Attempt, Cause
from nanobench.scoring.arms import Contrast
from nanobench.scoring.causes import policy
from nanobench.scoring.comparable import Comparable, comparable

Make = Callable[..., Any]


@pytest.mark.parametrize(
    ("tier", "before", "after", "reason"),
    [
        (1, "1", "1", None),
        (2, "1", "0", None),
        (3, "11111", "00000", None),
        (3, "11111", "0000", "tier 3 needs 5 runs that count on each side, and one has 4"),
        (4, "1", "11111", "tier 4 needs 5 runs that count on each side, and one has 1"),
    ],
)
def test_a_task_needs_as_many_runs_as_its_tier_asks(
    contrast: Make, task: Make, tier: int, before: str, after: str, reason: str | None
) -> None:
    found = comparable(contrast({"t": before}, {"t": after}), {"t": task("t", tier=tier)})
    assert found.aside.get("t") == reason
    assert bool(found.before.tasks) is bool(found.after.tasks) is (reason is None)


def ended(contrast: Contrast, cause: Cause) -> Contrast:
    """The same contrast, the last run of its first side ended so; what is scored keeps its score."""
    *others, last = contrast.before.results
    scored = last.score if policy(cause).scored else None
    changed = evolve(last, cause=cause, attempts=(Attempt(number=1, cause=cause),), score=scored)
    return evolve(contrast, before=evolve(contrast.before, results=(*others, changed)))


@pytest.mark.parametrize("cause", [Cause.PROVIDER_FAILED, Cause.GRADER, Cause.RATE_LIMIT])
def test_a_run_that_does_not_count_is_none_of_the_five(contrast: Make, task: Make, cause: Cause) -> None:
    found = comparable(ended(contrast({"t": "11111"}, {"t": "11111"}), cause), {"t": task("t", tier=3)})
    assert found.aside == {"t": "tier 3 needs 5 runs that count on each side, and one has 4"}


def one_more(contrast: Make, task: Make, cause: Cause) -> Comparable:
    made = ended(contrast({"t": "11111", "u": "101"}, {"t": "11111", "u": "1"}), cause)
    return comparable(made, {"t": task("t", tier=3), "u": task("u")})


@pytest.mark.parametrize("cause", [Cause.RATE_LIMIT, Cause.COST_BUDGET])
def test_runs_that_were_stopped_are_shown_with_and_without(contrast: Make, task: Make, cause: Cause) -> None:
    before = one_more(contrast, task, cause).before
    assert (before.rate.passed, before.rate.n) == (6, 7)
    assert (before.tally.solved_all.passed, before.tally.solved_all.n) == (7, 8)
    assert before.tally.planned == 8


def test_runs_that_are_not_the_agents_stand_in_no_rate(contrast: Make, task: Make) -> None:
    before = one_more(contrast, task, Cause.PROVIDER_FAILED).before
    assert before.rate == before.tally.solved_all
    assert (before.rate.n, before.tally.planned) == (7, 8)


def test_a_task_of_another_lock_is_set_aside(contrast: Make, task: Make) -> None:
    made = contrast({"t": "1", "u": "1"}, {"t": "1", "u": "1"})
    changed = tuple(evolve(r, lock_sha256="f" * 64) if r.cell.task == "t" else r for r in made.after.results)
    made = evolve(made, after=evolve(made.after, results=changed))
    found = comparable(made, {name: task(name) for name in "tu"})
    assert found.aside == {"t": "run from different locks (000000000000, ffffffffffff)"}
    assert list(found.before.tasks) == list(found.after.tasks) == ["u"]


def test_a_task_of_one_side_alone_is_set_aside(contrast: Make, task: Make) -> None:
    found = comparable(contrast({"t": "1", "u": "1"}, {"u": "1", "v": "1"}), {name: task(name) for name in "tuv"})
    assert found.aside == {"t": "run before only", "v": "run after only"}
    assert (found.before.tally.aside, found.before.tally.planned) == (1, 2)
