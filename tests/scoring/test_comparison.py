"""What may be said of two sets of results, and what may not."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nanobench.model.label import Labelled
from nanobench.model.result import Attempt, Cause, CellResult, Usage
from nanobench.model.task import Task
from nanobench.scoring.arms import Contrast, Side, arm_of
from nanobench.scoring.comparison import Comparison, compare
from nanobench.scoring.verdict import Word

Make = Callable[..., Any]


@pytest.fixture
def said(contrast: Make, task: Make) -> Callable[..., Comparison]:
    """The comparison of ``{task: runs}`` before and after; all tasks are of one tier."""

    def of(before: dict[str, str], after: dict[str, str], *, tier: int = 1) -> Comparison:
        tasks = {name: task(name, tier=tier) for name in {*before, *after}}
        return compare([contrast(before, after)], tasks).comparisons[0]

    return of


def alike(tasks: int, runs: str, first: str = "t") -> dict[str, str]:
    """So many tasks whose runs went alike."""
    return {f"{first}{number:02}": runs for number in range(tasks)}


def test_what_both_rules_say_is_said(said: Make) -> None:
    better, worse = said(alike(12, "0"), alike(12, "1")), said(alike(12, "1"), alike(12, "0"))
    assert (better.verdict.word, worse.verdict.word) == (Word.MORE, Word.LESS)
    assert str(worse.verdict) == (
        "solves less: intervals over runs are apart, after below before; "
        "exact McNemar over 12 tasks says less (p 0.0005, corrected 0.0005)"
    )


def test_no_difference_is_noise(said: Make) -> None:
    same = said(alike(12, "1"), alike(12, "1"))
    assert same.verdict.word == "not distinguishable from noise"
    assert (same.test.p, same.difference.value, same.flips) == (1.0, 0.0, ())


def test_tasks_alone_do_not_make_a_difference(said: Make) -> None:
    # Six of thirty turned and none back: significant over tasks, while the intervals over runs overlap.
    before = {**alike(10, "1"), **alike(14, "0", "u"), **alike(6, "0", "v")}
    found = said(before, {**before, **alike(6, "1", "v")})
    assert found.corrected == pytest.approx(0.03125)
    assert found.verdict.word is Word.NOISE
    assert str(found.verdict) == (
        "not distinguishable from noise: intervals over runs overlap; "
        "exact McNemar over 30 tasks says more (p 0.0313, corrected 0.0313)"
    )


def test_runs_alone_do_not_make_a_difference(said: Make) -> None:
    # Four of seven tasks turned with all of their twenty runs: far apart over runs, 2/16 over tasks.
    half = alike(3, "10" * 10, "u")
    found = said({**half, **alike(4, "0" * 20)}, {**half, **alike(4, "1" * 20)})
    assert found.test.p == pytest.approx(0.125)
    assert found.verdict.word is Word.NOISE
    assert str(found.verdict) == (
        "not distinguishable from noise: intervals over runs are apart, after above before; "
        "paired permutation over 7 tasks is not significant (p 0.1250, corrected 0.1250)"
    )


def test_below_six_tasks_nothing_is_claimed(said: Make) -> None:
    found = said(alike(5, "0" * 9), alike(5, "1" * 9))
    assert found.verdict.word is Word.NOISE
    assert found.verdict.pairs.endswith("claims nothing: no significance below 6 tasks")
    assert found.detectable is None


def test_among_many_contrasts_one_small_p_is_not_enough(contrast: Make, task: Make) -> None:
    tasks = {name: task(name) for name in alike(6, "")}
    turned = contrast(alike(6, "0"), alike(6, "1"))
    still = contrast(alike(6, "0"), alike(6, "0"))
    (alone,) = compare([turned], tasks).comparisons
    among = compare([turned, *[still] * 9], tasks).comparisons
    assert (alone.test.p, alone.corrected, alone.verdict.word) == (0.03125, 0.03125, Word.MORE)
    assert (among[0].test.p, among[0].corrected, among[0].verdict.word) == (0.03125, 0.3125, Word.NOISE)


def test_repeats_collapse_to_one_mean_a_task(said: Make) -> None:
    found = said({"a": "10000", "b": "11"}, {"a": "11111", "b": "10"})
    assert found.found.before.means == {"a": 0.2, "b": 1.0}
    assert found.test.n == 2
    assert found.difference.value == pytest.approx((0.8 - 0.5) / 2)


def test_the_figures_of_a_side(said: Make) -> None:
    found = said({"a": "01101", "b": "10"}, {"a": "11111", "b": "111"})
    before = found.found.before
    assert str(before.rate).startswith("4/7 = 57.1 % [")
    assert (before.first.passed, before.first.n) == (1, 2)
    assert (before.mean.value, before.mean.n) == (pytest.approx((0.6 + 0.5) / 2), 2)
    assert found.k == 2
    assert before.any_of(2).value == pytest.approx((0.9 + 1) / 2)
    assert before.all_of(2).value == pytest.approx((0.3 + 0) / 2)
    assert [str(runs) for runs in before.tasks.values()] == ["3/5", "1/2"]


def test_a_task_flips_when_most_of_its_runs_do(said: Make) -> None:
    found = said({"a": "11100", "b": "11100", "c": "00"}, {"a": "11000", "b": "11111", "c": "01"})
    assert [(f.task, str(f.before), str(f.after)) for f in found.flips] == [("a", "3/5", "2/5")]


def test_tasks_are_grouped_by_what_they_have_in_common(contrast: Make, task: Make) -> None:
    tasks = {"a": task("a", tier=1), "b": task("b", tier=2)}
    (found,) = compare([contrast({"a": "11", "b": "0"}, {"a": "10", "b": "1"})], tasks).comparisons
    groups = {(g.dimension, g.value): (g.before.passed, g.before.n, g.after.passed, g.after.n) for g in found.groups}
    assert groups["tier", "1"] == (2, 2, 1, 2)
    assert groups["tier", "2"] == (0, 1, 1, 1)
    assert groups["language", "python"] == (2, 3, 2, 3)
    assert {dimension for dimension, _ in groups} == {"tier", "language", "domain", "reasoning category"}


def test_labels_shift_with_intervals_and_add_up(contrast: Make, task: Make) -> None:
    made = contrast(alike(8, "1"), alike(8, "0"))
    wrong = Labelled(label="wrong_abstraction_layer", rule=4, level="4")
    after = tuple(evolve(result, failure=wrong) for result in made.after.results)
    made = evolve(made, after=evolve(made.after, results=after))
    shift = compare([made], {name: task(name) for name in alike(8, "")}).comparisons[0].shift
    assert {s.label: (s.before.passed, s.after.passed) for s in shift} == {
        "resolved": (8, 0),
        "wrong_abstraction_layer": (0, 8),
    }
    assert all(s.before.n == s.after.n == 8 for s in shift)


def test_a_run_that_nobody_labelled_is_shown_as_such(said: Make) -> None:
    shift = said({"a": "0"}, {"a": "0"}).shift
    assert [s.label for s in shift] == ["unlabelled"]


def using(contrast: Contrast, before: int, after: int) -> Contrast:
    """The same contrast, its runs with so many steps and seconds."""

    def side(of: Side, steps: int) -> Side:
        attempts = (Attempt(number=1, cause=Cause.FINISHED, wall_ms=1000 * steps, cpu_ms=0),)
        results = tuple(evolve(r, usage=Usage(steps=steps + r.cell.repeat), attempts=attempts) for r in of.results)
        return evolve(of, results=results)

    return evolve(contrast, before=side(contrast.before, before), after=side(contrast.after, after))


def test_efficiency_is_compared_by_medians_of_five_runs(contrast: Make, task: Make) -> None:
    runs = {**alike(7, "11111"), "few": "1111"}
    (found,) = compare([using(contrast(runs, runs), 10, 8)], {name: task(name) for name in runs}).comparisons
    changes = {change.figure: (change, p) for change, p in found.efficiency}
    steps, p = changes["steps"]
    assert "few" not in steps.before and set(steps.before.values()) == {12}
    assert str(steps.difference) == "-2.000 [-2.000, -2.000] (n = 7)"
    assert steps.word(p) == "less"
    assert changes["wall_ms"][0].word(changes["wall_ms"][1]) == "less"
    assert not {"cpu_ms", "input_tokens", "cost"} & changes.keys()  # unknown is not zero


def test_efficiency_of_too_few_tasks_is_noise(contrast: Make, task: Make) -> None:
    runs = alike(5, "11111")
    (found,) = compare([using(contrast(runs, runs), 10, 2)], {name: task(name) for name in runs}).comparisons
    assert {change.word(p) for change, p in found.efficiency} == {"not distinguishable from noise"}


RUNS = st.text("01", min_size=1, max_size=5)
BOTH_SIDES = st.lists(st.tuples(RUNS, RUNS), min_size=1, max_size=9)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(BOTH_SIDES, st.randoms(use_true_random=False))
def test_the_order_of_results_says_nothing_and_turning_the_sides_turns_the_verdict(
    contrast: Make, task: Make, runs: list[tuple[str, str]], random: Random
) -> None:
    tasks = {f"t{number}": task(f"t{number}") for number in range(len(runs))}
    made = contrast(*({f"t{n}": pair[side] for n, pair in enumerate(runs)} for side in (0, 1)))

    def shuffled(side: Side) -> Side:
        return evolve(side, results=tuple(random.sample(side.results, len(side.results))))

    (one,) = compare([made], tasks).comparisons
    (same,) = compare([evolve(made, before=shuffled(made.before), after=shuffled(made.after))], tasks).comparisons
    (turned,) = compare([evolve(made, before=made.after, after=made.before)], tasks).comparisons
    assert (same.verdict, same.flips, same.shift) == (one.verdict, one.flips, one.shift)
    other = {Word.MORE: Word.LESS, Word.LESS: Word.MORE, Word.NOISE: Word.NOISE}
    assert turned.verdict.word is other[one.verdict.word]
    assert turned.difference.value == pytest.approx(-one.difference.value)
    assert [flip.task for flip in turned.flips] == [flip.task for flip in one.flips]


@pytest.fixture
def draws(repeats: Make, task: Make) -> Callable[..., tuple[list[Contrast], dict[str, Task]]]:
    """``draws(n, worse=…)``: contrasts of 12 tasks, half of them with one run and half with five. Each task has
    its own chance, the same on both sides; times ``worse`` on the second."""
    tasks = {f"t{number:02}": task(f"t{number:02}", tier=1 if number < 6 else 3) for number in range(12)}
    pool: dict[tuple[str, int, bool, int], CellResult] = {}
    for name, spec in tasks.items():
        for digit in "01":
            for result in repeats(name, digit * (1 if spec.curation.complexity_tier == 1 else 5)):
                for steps in range(3, 9):
                    key = (name, result.cell.repeat, digit == "1", steps)
                    pool[key] = evolve(result, usage=Usage(steps=steps))
    arm = arm_of(next(iter(pool.values())))

    def side(chances: dict[str, float], random: np.random.Generator) -> Side:
        found = [
            pool[name, repeat, bool(random.random() < chance), int(random.integers(3, 9))]
            for name, chance in chances.items()
            for repeat in range(1 if tasks[name].curation.complexity_tier == 1 else 5)
        ]
        return Side(arm=arm, results=tuple(found))

    def draw(number: int, *, worse: float = 1.0) -> tuple[list[Contrast], dict[str, Task]]:
        random = np.random.default_rng(7)
        found = []
        for _ in range(number):
            chances = {name: float(random.beta(2, 2)) for name in tasks}
            after = {name: chance * worse for name, chance in chances.items()}
            found.append(Contrast(kind="fixture", before=side(chances, random), after=side(after, random)))
        return found, tasks

    return draw


def test_of_a_thousand_a_a_comparisons_no_more_than_the_nominal_share_claims_a_difference(draws: Make) -> None:
    contrasts, tasks = draws(1_000)
    found = [compare([contrast], tasks).comparisons[0] for contrast in contrasts]
    assert sum(each.verdict.word is not Word.NOISE for each in found) <= 50
    assert sum(any(change.word(p) != Word.NOISE for change, p in each.efficiency) for each in found) <= 50
    for level in (0.05, 0.1, 0.2, 0.5):  # the paired test alone, and it could have claimed some
        assert 0 < sum(each.test.p <= level for each in found) <= 1_000 * level


def test_a_a_comparisons_made_at_once_are_one_family(draws: Make) -> None:
    found = compare(*draws(200)).comparisons
    assert sum(comparison.corrected <= 0.05 for comparison in found) <= 10


def test_a_real_difference_is_found_in_most_cases(draws: Make) -> None:
    contrasts, tasks = draws(50, worse=0.1)
    words = [compare([contrast], tasks).comparisons[0].verdict.word for contrast in contrasts]
    assert words.count(Word.LESS) >= 40
    assert Word.MORE not in words
