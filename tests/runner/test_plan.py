from __future__ import annotations

import pytest
from attrs import evolve

from nanobench.errors import Misuse
from nanobench.runner.plan import plan


def test_every_task_model_mode_and_repeat_is_one_cell_in_that_order() -> None:
    cells = plan({"b": ["h"], "a": ["h"]}, provider="p", models=["m", "n"], modes=["hinted", "navigation"], repeats=2)
    assert len({cell.id for cell in cells}) == 16
    assert [cell.id for cell in cells[:3]] == [
        "b/h--p--m--hinted--0",
        "b/h--p--m--hinted--1",
        "b/h--p--m--navigation--0",
    ]


def test_nothing_to_run_is_misuse() -> None:
    with pytest.raises(Misuse, match="nothing to run"):
        plan({}, provider="p", models=["m"], modes=["hinted"], repeats=1)


@pytest.mark.parametrize("models", [["m", "m"], ["a/b", "a_b"], ["a:b", "a_b"]])
def test_two_cells_that_would_share_a_file_are_refused_by_name(models: list[str]) -> None:
    with pytest.raises(Misuse) as refused:
        plan({"t": ["h"]}, provider="p", models=models, modes=["hinted"], repeats=1)
    assert refused.value.details == (f"t/h--p--{models[1]}--hinted--0",)


@pytest.mark.parametrize("name", ["a b", "", "-x", "a\nb", "\x1b[31m", "../a b"])
@pytest.mark.parametrize("what", ["provider", "model"])
def test_a_name_that_could_be_no_name_is_misuse_not_a_bug(what: str, name: str) -> None:
    names = {"provider": "p", "model": "m", what: name}
    with pytest.raises(Misuse) as refused:
        plan({"t": ["h"]}, provider=names["provider"], models=[names["model"]], modes=["hinted"], repeats=1)
    assert refused.value.where == what


def test_the_longest_names_still_make_a_file_name_and_longer_ones_are_misuse() -> None:
    (cell,) = plan({"t" * 64: ["h" * 64]}, provider="p" * 32, models=["m" * 120], modes=["navigation"], repeats=1)
    longest = evolve(cell, repeat=10_000)
    assert all(len(part) <= 255 for part in f"{longest.id}.json".split("/"))
    for provider, model in (("p" * 33, "m"), ("p", "m" * 121)):
        with pytest.raises(Misuse, match="does not match"):
            plan({"t": ["h"]}, provider=provider, models=[model], modes=["hinted"], repeats=1)


def test_each_task_has_its_own_harnesses_and_none_twice() -> None:
    def planned(harnesses: dict[str, list[str]]) -> list[str]:
        return [cell.id for cell in plan(harnesses, provider="p", models=["m"], modes=["hinted"], repeats=1)]

    assert planned({"b": ["old", "new"], "a": ["own"]}) == [
        "b/old--p--m--hinted--0",
        "b/new--p--m--hinted--0",
        "a/own--p--m--hinted--0",
    ]
    with pytest.raises(Misuse) as refused:
        planned({"b": ["old", "old"]})
    assert refused.value.details == ("b/old--p--m--hinted--0",)
