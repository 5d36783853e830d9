"""Which arms are held against each other, and which have no counterpart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import fields

from nanobench.errors import Misuse, Refused
from nanobench.model.result import Cell
from nanobench.scoring.arms import AXES, MOST, Contrast, between, within

Make = Callable[..., Any]
OLD, NEW = "nanocoder-1@00000000", "nanocoder-2@00000000"


def test_every_axis_of_a_cell_tells_arms_apart() -> None:
    assert {*AXES, "provider", "task", "repeat"} == {field.name for field in fields(Cell)}


def told(contrasts: tuple[Contrast, ...]) -> list[dict[str, tuple[str, str]]]:
    return [contrast.differing() for contrast in contrasts]


def test_the_axis_on_which_each_run_has_one_value_is_what_is_compared(repeats: Make, task: Make) -> None:
    def run(harness: str) -> list[Any]:
        return [r for m in ("m1", "m2") for r in repeats("t", "1", harness=harness, model=m)]

    found = between(run("nanocoder-1"), run("nanocoder-2"), {"t": task("t")})
    assert told(found.found) == [{"harness": (OLD, NEW)}] * 2
    assert [contrast.before.arm["model"] for contrast in found.found] == ["p/m1", "p/m2"]
    assert not found.alone


def test_two_runs_of_one_model_each_compare_the_models(repeats: Make, task: Make) -> None:
    found = between(repeats("t", "1", model="m1"), repeats("t", "1", model="m2", provider="q"), {"t": task("t")})
    assert told(found.found) == [{"model": ("p/m1", "q/m2")}]


def test_an_arm_without_a_counterpart_is_named(repeats: Make, task: Make) -> None:
    both = [*repeats("t", "1", model="m1"), *repeats("t", "1", model="m2")]
    one, other = between(both, both[:1], {"t": task("t")}), between(both[:1], both, {"t": task("t")})
    assert told(one.found) == told(other.found) == [{}]
    assert one.alone == (f"release-pair, in the first alone: harness {_LOCKED}, model p/m2, mode hinted",)
    assert other.alone == (f"release-pair, in the second alone: harness {_LOCKED}, model p/m2, mode hinted",)


_LOCKED = "nanocoder-1.30.0@00000000"


def test_two_builds_of_one_name_are_told_apart(repeats: Make, task: Make) -> None:
    found = between(repeats("t", "1"), repeats("t", "1", of={"harness_sha256": "f" * 64}), {"t": task("t")})
    assert told(found.found) == [{"harness": (_LOCKED, "nanocoder-1.30.0@ffffffff")}]


def test_tasks_of_two_kinds_never_stand_in_one_comparison(repeats: Make, task: Make) -> None:
    tasks = {"t": task("t"), "u": task("u", kind="merged-pr")}
    run = [*repeats("t", "1"), *repeats("u", "1")]
    found = between(run, run, tasks).found
    assert [(c.kind, [r.cell.task for r in c.before.results]) for c in found] == [
        ("merged-pr", ["u"]),
        ("release-pair", ["t"]),
    ]


def test_within_a_run_every_two_values_of_the_axis_meet_where_all_else_is_alike(repeats: Make, task: Make) -> None:
    run = [
        result
        for model in ("m3", "m1", "m2")
        for mode in ("hinted", "navigation")
        for result in repeats("t", "1", model=model, mode=mode)
    ]
    found = within(run, {"t": task("t")}, axis="model", base=None).found
    pairs = [("p/m1", "p/m2"), ("p/m1", "p/m3"), ("p/m2", "p/m3")]
    assert sorted(c.differing()["model"] for c in found if c.before.arm["mode"] == "hinted") == pairs
    assert len(found) == 6 and {tuple(c.differing()) for c in found} == {("model",)}


@pytest.mark.parametrize("base", ["nanocoder-2", NEW])
def test_with_a_base_every_other_value_is_measured_by_it(repeats: Make, task: Make, base: str) -> None:
    run = [r for n in (1, 2, 3) for r in repeats("t", "1", harness=f"nanocoder-{n}")]
    found = within(run, {"t": task("t")}, axis="harness", base=base).found
    assert [c.differing()["harness"][0] for c in found] == [NEW, NEW]
    assert [c.differing()["harness"][1][:11] for c in found] == ["nanocoder-1", "nanocoder-3"]


def test_a_base_that_no_arm_has_is_misuse(repeats: Make, task: Make) -> None:
    with pytest.raises(Misuse) as caught:
        within(repeats("t", "1"), {"t": task("t")}, axis="mode", base="hintd")
    assert (caught.value.code, caught.value.hint) == ("NB_NO_ARM", "there is hinted")


def test_one_value_alone_gives_no_contrast(repeats: Make, task: Make) -> None:
    assert within(repeats("t", "1"), {"t": task("t")}, axis="model", base=None).found == ()


def test_a_cell_that_is_there_twice_is_refused(repeats: Make, task: Make) -> None:
    twice = repeats("t", "1") * 2
    with pytest.raises(Refused, match="two results of one cell"):
        between(twice, repeats("t", "1"), {"t": task("t")})


def test_there_is_a_bound(repeats: Make, task: Make) -> None:
    run = [r for n in range(46) for r in repeats("t", "1", model=f"m{n}")]  # 46 · 45 / 2 = 1,035
    with pytest.raises(Refused, match=f"more than {MOST}"):
        within(run, {"t": task("t")}, axis="model", base=None)
    assert len(within(run, {"t": task("t")}, axis="model", base="p/m0").found) == 45
