from __future__ import annotations

from itertools import groupby

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from nanobench.errors import Misuse
from nanobench.model.result import Cell
from nanobench.runner.plan import interleaved, plan


def test_every_task_model_mode_and_repeat_is_one_cell_in_that_order() -> None:
    cells = plan({"b": ["h"], "a": ["h"]}, models={"p": ["m", "n"]}, modes=["hinted", "navigation"], repeats=2)
    assert len({cell.id for cell in cells}) == 16
    assert [cell.id for cell in cells[:3]] == [
        "b/h--p--m--hinted--0",
        "b/h--p--m--hinted--1",
        "b/h--p--m--navigation--0",
    ]


def test_nothing_to_run_is_misuse() -> None:
    with pytest.raises(Misuse, match="nothing to run"):
        plan({}, models={"p": ["m"]}, modes=["hinted"], repeats=1)


@pytest.mark.parametrize("models", [["m", "m"], ["a/b", "a_b"], ["a:b", "a_b"]])
def test_two_cells_that_would_share_a_file_are_refused_by_name(models: list[str]) -> None:
    with pytest.raises(Misuse) as refused:
        plan({"t": ["h"]}, models={"p": models}, modes=["hinted"], repeats=1)
    assert refused.value.details == (f"t/h--p--{models[1]}--hinted--0",)


@pytest.mark.parametrize("name", ["a b", "", "-x", "a\nb", "\x1b[31m", "../a b"])
@pytest.mark.parametrize("what", ["provider", "model"])
def test_a_name_that_could_be_no_name_is_misuse_not_a_bug(what: str, name: str) -> None:
    names = {"provider": "p", "model": "m", what: name}
    with pytest.raises(Misuse) as refused:
        plan({"t": ["h"]}, models={names["provider"]: [names["model"]]}, modes=["hinted"], repeats=1)
    assert refused.value.where == what


def test_the_longest_names_still_make_a_file_name_and_longer_ones_are_misuse() -> None:
    (cell,) = plan({"t" * 64: ["h" * 64]}, models={"p" * 32: ["m" * 120]}, modes=["navigation"], repeats=1)
    longest = evolve(cell, repeat=10_000)
    assert all(len(part) <= 255 for part in f"{longest.id}.json".split("/"))
    for provider, model in (("p" * 33, "m"), ("p", "m" * 121)):
        with pytest.raises(Misuse, match="does not match"):
            plan({"t": ["h"]}, models={provider: [model]}, modes=["hinted"], repeats=1)


def test_each_task_has_its_own_harnesses_and_none_twice() -> None:
    def planned(harnesses: dict[str, list[str]]) -> list[str]:
        return [cell.id for cell in plan(harnesses, models={"p": ["m"]}, modes=["hinted"], repeats=1)]

    assert planned({"b": ["old", "new"], "a": ["own"]}) == [
        "b/old--p--m--hinted--0",
        "b/new--p--m--hinted--0",
        "a/own--p--m--hinted--0",
    ]
    with pytest.raises(Misuse) as refused:
        planned({"b": ["old", "old"]})
    assert refused.value.details == ("b/old--p--m--hinted--0",)


def test_every_provider_has_its_own_models_and_every_profile_meets_them_all() -> None:
    models = {"p": ["m", "n"], "q": ["m"]}
    cells = plan({"t": ["h"]}, models=models, modes=["hinted"], profiles=["a", "b"], repeats=1)
    assert [cell.id for cell in cells] == [
        f"t/{profile}/h--{provider}--{model}--hinted--0"
        for provider, model in (("p", "m"), ("p", "n"), ("q", "m"))
        for profile in ("a", "b")
    ]


CELLS = plan(
    {"t": ["h", "i"], "u": ["h", "i"]}, models={"p": ["m"], "q": ["m", "n"]}, modes=["hinted"], repeats=3
)  # 36


def arm(cell: Cell) -> tuple[str, str, str]:
    return cell.harness, cell.provider, cell.model


@given(seed=st.integers(0, 2**31 - 1))
def test_all_arms_of_a_task_and_repeat_follow_each_other_repeat_by_repeat(seed: int) -> None:
    order = interleaved(CELLS, seed)
    assert sorted(order, key=CELLS.index) == list(CELLS)
    blocks = [(key, [arm(cell) for cell in cells]) for key, cells in groupby(order, lambda c: (c.repeat, c.task))]
    assert [repeat for (repeat, _), _ in blocks] == [0, 0, 1, 1, 2, 2]
    assert all(len(set(arms)) == len(arms) == 6 for _, arms in blocks)


@given(seed=st.integers(0, 2**31 - 1), data=st.data())
def test_what_is_left_of_a_plan_keeps_its_order_in_whatever_order_it_is_given(seed: int, data: st.DataObject) -> None:
    left = data.draw(st.lists(st.sampled_from(CELLS), unique=True))
    assert interleaved(left, seed) == tuple(cell for cell in interleaved(CELLS, seed) if cell in left)


def test_no_arm_is_always_first_and_another_seed_gives_another_order() -> None:
    firsts = {arm(cells[0]) for seed in range(20) for cells in [interleaved(CELLS[:18], seed)]}
    assert len(firsts) > 3
    assert interleaved(CELLS, 1) != interleaved(CELLS, 2)


def test_the_order_is_the_same_everywhere() -> None:
    assert [cell.id for cell in interleaved(CELLS, 0)[:3]] == [
        "u/i--q--n--hinted--0",
        "u/h--q--m--hinted--0",
        "u/h--p--m--hinted--0",
    ]
