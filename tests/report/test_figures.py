"""Figures over rows: every planned cell is counted once, and only what counts is in a rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve, fields
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.synthetic import Plan, spec
from nanobench.bundle.read import Bundle
from nanobench.errors import Misuse, Refused
from nanobench.formats.converter import structure
from nanobench.model.label import Labelled
from nanobench.model.lock import TaskLock
from nanobench.model.result import Cause, Cell, CellResult, Score, Served
from nanobench.model.task import Task
from nanobench.report.dimensions import DIMENSIONS, band
from nanobench.report.figures import parts_of
from nanobench.report.rows import Facts, Row, facts_of, gather
from nanobench.report.tables import differences, scores
from nanobench.report.tally import CLASSES, tally
from nanobench.report.words import AXES
from nanobench.scoring.causes import POLICIES, Denominator
from nanobench.scoring.score import LABELS, Value

Made = Callable[..., Bundle]
SPECS = [structure(spec(f"task-{n}", n, Plan(tasks=10)), Task, where=f"task-{n}") for n in range(10)]


def row(result: CellResult, cause: Cause | None, value: Value, task: int, repeat: int) -> Row:
    """A row of that task and repeat; without a cause, one that was not found."""
    cell = evolve(result.cell, task=f"task-{task}", repeat=repeat)
    facts = Facts(task=cell.task, spec=SPECS[task])
    if cause is None:
        return Row(run="r", cell=cell, facts=facts, result=None)
    solved = value == "1.0"
    score = Score(value=value, label=LABELS[value], resolved=solved, targets_passed=int(solved), targets=1)
    scored = POLICIES[cause].scored
    failure = None if solved or not scored else Labelled(label="unclassified")
    found = evolve(result, cell=cell, cause=cause, score=score if scored else None, failure=failure)
    return Row(run="r", cell=cell, facts=facts, result=found)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])  # it is frozen
@given(data=st.lists(st.tuples(st.sampled_from([None, *Cause]), st.sampled_from(list(LABELS)), st.integers(0, 9))))
def test_classes_add_up_to_the_planned_cells_and_labels_to_the_unsolved(
    cell_result: CellResult, data: list[tuple[Cause | None, Value, int]]
) -> None:
    rows = [row(cell_result, cause, value, task, number) for number, (cause, value, task) in enumerate(data)]
    found = tally(rows)
    assert sum(found.classes.values()) == found.planned == len(rows) and set(found.classes) == set(CLASSES)
    assert found.found == sum(cause is not None for cause, _, _ in data)
    assert found.solved.n == found.valid == found.classes[Denominator.VALID]
    assert sum(found.labels.values()) == found.valid - found.solved.passed
    assert found.solved_all.n >= found.solved.n
    for part in parts_of(rows):
        assert sum(t.planned for t in part.arms.values()) == part.whole.planned
        squares = [square for tasks in part.matrix.values() for square in tasks.values()]
        assert sum(square.tally.planned for square in squares) == part.whole.planned
        for dimension in part.dimensions:
            whole = sum(group.tally.planned for group in dimension.groups)
            assert whole == part.whole.planned or dimension.overlaps


def test_a_rate_limited_run_is_scored_and_listed_apart(cell_result: CellResult) -> None:
    found = tally([row(cell_result, Cause.RATE_LIMIT, "1.0", 1, 0), row(cell_result, Cause.FINISHED, "0.5", 1, 1)])
    assert (found.solved.passed, found.solved.n) == (0, 1) and (found.solved_all.passed, found.solved_all.n) == (1, 2)
    assert found.mean == 0.5 and found.classes["rate_limited"] == 1


def test_scores_that_no_model_earned_and_samples_that_were_free_are_warned_of(cell_result: CellResult) -> None:
    rows = [row(cell_result, Cause.FINISHED, "1.0", 1, number) for number in range(3)]
    assert rows[0].result is not None
    rows[0] = evolve(rows[0], result=evolve(rows[0].result, no_model_usage=True, sampling_pinned=False))
    (part,) = parts_of(rows)
    usage, sampling = part.warnings
    assert usage.startswith("1 of 3 cells show no usage") and sampling.startswith("1 of 3 cells were not sampled")
    assert parts_of(rows[1:])[0].warnings == ()


def test_a_model_that_became_another_in_the_middle_of_a_run_is_told(cell_result: CellResult) -> None:
    before, after, other = (
        Served(model=name, fingerprint=mark, steps=1) for name, mark in (("a", "x"), ("a", "y"), ("b", "x"))
    )
    served = ((before, after), (before, other), (Served(steps=1), before), None)
    rows = [row(evolve(cell_result, served=who), Cause.FINISHED, "1.0", n, 0) for n, who in enumerate(served)]
    found = [warning for warning in parts_of(rows)[0].warnings if "more than one model" in warning]
    assert found == ["1 of 4 cells were answered by more than one model, by the names that answers gave"]


def test_a_planned_cell_without_a_result_is_missing_everywhere(made: Made) -> None:
    (part,) = parts_of(gather([made(tasks=2, repeats=2, missing=(0, 5))]))
    assert part.whole.planned == 8 and part.whole.found == 6 and part.whole.classes["missing"] == 2
    assert part.matrix[next(iter(part.arms))]["task-000"].first is None


def test_arms_of_two_runs_stay_apart_and_the_same_run_twice_is_refused(made: Made) -> None:
    one, other = made(tasks=1, seed=1), made(tasks=1, seed=2)
    (part,) = parts_of(gather([one, other]))
    assert len(part.arms) == 4 and len({arm.run for arm in part.arms}) == 2
    with pytest.raises(Misuse, match="twice"):
        gather([one, one])


@pytest.mark.parametrize(("times", "code"), [(2, "NB_RECORD_TWICE"), (0, "NB_NO_CELLS")])
def test_a_plan_that_names_a_cell_twice_or_none_is_refused_by_its_file(made: Made, times: int, code: str) -> None:
    bundle = made(tasks=1)
    doubled = evolve(bundle, run=evolve(bundle.run, cells=bundle.run.cells * times))
    with pytest.raises(Refused, match="plan") as caught:
        gather([doubled])
    assert caught.value.code == code and caught.value.where.endswith("/run.json")


def test_an_arm_is_all_that_a_cell_names_beside_task_and_repeat() -> None:
    assert {*AXES, "task", "repeat"} == {field.name for field in fields(Cell)}


def test_kinds_of_tasks_never_stand_in_one_part(cell_result: CellResult) -> None:
    released, other = (row(cell_result, Cause.FINISHED, "1.0", task, 0) for task in (1, 2))
    merged = evolve(other, facts=Facts(task="task-2", spec=evolve(SPECS[2], kind="merged-pr")))
    assert [(part.kind, part.whole.planned) for part in parts_of([released, merged])] == [
        ("merged-pr", 1),
        ("release-pair", 1),
    ]


def test_the_navigation_delta_is_over_tasks_that_count_in_both_modes(made: Made) -> None:
    (part,) = parts_of(gather([made(tasks=3, models=("m",), modes=("hinted", "navigation"), missing=(0,))]))
    (found,) = part.navigation
    assert found.delta.n == len(
        {t for t, square in part.matrix[found.hinted].items() if square.tally.valid}
        & {t for t, square in part.matrix[found.navigation].items() if square.tally.valid}
    )
    assert found.delta.n <= 2


@pytest.mark.parametrize(("models", "said"), [(20, 19), (21, 1)])
def test_an_axis_of_too_many_pairs_is_left_to_compare(made: Made, models: int, said: int) -> None:
    (part,) = parts_of(gather([made(tasks=2, models=tuple(f"m{number:02}" for number in range(models)))]))
    assert len(part.differences) == said
    text = " ".join(differences(part).rows[0])
    assert ("model: 210 pairs" in text and "compare BUNDLE --by model" in text) == (models > 20)


def test_too_few_tasks_claim_nothing_and_none_are_no_comparison(made: Made) -> None:
    def verdicts(**plan: Any) -> list[str]:
        (part,) = parts_of(gather([made(**plan)]))
        return [row[1] for row in differences(part).rows]

    assert verdicts(tasks=2) == ["not distinguishable from noise (fewer than 6 tasks)"]
    assert verdicts(tasks=2, missing=(0, 3)) == ["nothing may be compared"]
    assert verdicts(tasks=2, models=("m",)) == verdicts(tasks=2, models=("m",), modes=("hinted", "navigation")) == []


def test_scores_begin_with_the_arm_that_solved_most(made: Made) -> None:
    skill = {"none": 0.0, "all": 1.0, "too": 1.0}
    (part,) = parts_of(gather([made(tasks=3, models=tuple(skill), skill=skill)]))
    assert [row[0] for row in scores(part).rows] == ["all", "too", "none"]


def test_a_task_in_two_languages_stands_in_both_and_that_is_said(made: Made) -> None:
    (part,) = parts_of(gather([made(tasks=4)]))
    languages = next(d for d in part.dimensions if d.name == "language")
    assert languages.overlaps and [(g.value, g.tally.planned) for g in languages.groups] == [
        ("go", 2),
        ("python", 4),
        ("typescript", 4),
    ]
    assert [d.name for d in part.dimensions] == list(DIMENSIONS)


def test_a_lock_whose_specification_is_of_another_time_is_grouped_as_unknown(task_lock: TaskLock) -> None:
    facts = facts_of(task_lock)
    assert facts == Facts(task="x")
    assert [band(n) for n in (None, 0, 19_999, 20_000, 49_999, 50_000, 80_000, 80_001)] == [
        *("unknown", "under 20k", "under 20k", "20k to 50k", "20k to 50k", "50k to 80k", "50k to 80k", "over 80k"),
    ]
