"""``nanobench report`` as people and CI call it, on what the real ``run`` publishes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.synthetic import Plan, synthetic

Call = Callable[..., Any]
LINK = "https://example.org/report"


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return synthetic(tmp_path / "made-up", Plan(tasks=2))


def test_real_runs_are_reported_in_every_form(
    nanobench: Call, oracle_bundle: Path, nop_bundle: Path, tmp_path: Path, repository: Any
) -> None:
    both = ("report", oracle_bundle, nop_bundle)
    said = nanobench(*both)
    assert said.code == 0 and "4 cells planned, 4 found, 4 count" in said.out and "Navigation delta" in said.out
    assert "## 1 release-pair task" in nanobench(*both, "--format", "markdown").out
    assert len(list(csv.reader(io.StringIO(nanobench(*both, "--format", "csv").out)))) == 5
    (part,) = json.loads(nanobench(*both, "--format", "json").out)["parts"]
    assert part["whole"]["solved"]["passed"] == 2
    done = nanobench(*both, "--html", tmp_path / "pages", "--project", repository.root)
    assert done.code == 0 and done.out == "" and "open" in done.err
    pages = {path.relative_to(tmp_path / "pages").as_posix(): path for path in (tmp_path / "pages").rglob("*.html")}
    solved = next(path.read_text() for name, path in pages.items() if "--oracle--hinted--0" in name)
    assert (
        "string_replace" in solved
        and "What the agent was asked" in solved
        and "unidiff/patch.py</code> changed" in solved
    )
    assert (
        nanobench(*both, "--html", tmp_path / "one.html").code == 0
        and (tmp_path / "one.html").stat().st_size > 10_000
    )


def test_a_comment_compares_with_a_base(storeless: Call, made: Path, tmp_path: Path) -> None:
    base = synthetic(tmp_path / "base", Plan(tasks=2, seed=7))
    done = storeless("report", made, "--comment", "--base", base, "--link", LINK)
    assert done.code == 0 and done.out.startswith("<!-- nanobench-report -->") and "Against the base" in done.out


def test_differences_are_those_that_compare_makes_of_the_best_arm(storeless: Call, tmp_path: Path) -> None:
    """Of four models two solve hardly anything; beside the best of each Nanocoder stand the three others."""
    skill = {"a": 0.05, "b": 0.95, "c": 0.7, "d": 0.1}
    harnesses = ("nanocoder-1.29.0", "nanocoder-1.30.0")
    plan = Plan(tasks=8, repeats=5, models=tuple(skill), harnesses=harnesses, skill=skill)
    made = synthetic(tmp_path / "made-up", plan)
    (part,) = json.loads(storeless("report", made, "--format", "json").out)["parts"]
    found = {
        (axis, str(each["arms"])): each
        for axis in ("model", "harness")
        for each in storeless("compare", made, "--by", axis, "--json").document["comparisons"]
    }
    assert len(found) == 2 * 6 + 4
    for said in part["differences"]:
        each = found[said["axis"], str(said["arms"])]
        assert said["difference"] == each["paired"]["difference"]
        assert said["p_corrected"] == each["paired"]["p_corrected"]
        assert said["solved"] == {side: each[side]["solved"] for side in ("before", "after")}
        assert said["verdict"] == {key: each["verdict"][key] for key in ("word", "intervals", "pairs")}
    models = [said["arms"] for said in part["differences"] if said["axis"] == "model"]
    assert len(models) == 2 * 3 and all("made-up/b" in (m["before"]["model"], m["after"]["model"]) for m in models)
    assert len(part["differences"]) == len(models) + 4
    assert {said["verdict"]["word"] for said in part["differences"]} > {"not distinguishable from noise"}
    text = storeless("report", made, "--format", "markdown").out
    assert text.index("### Scores") < text.index("### Differences") < text.index("### Why runs failed")


@pytest.mark.parametrize(
    "options", [("--comment",), ("--link", LINK), ("--base", "x"), ("--comment", "--link", "javascript:x")]
)
def test_options_of_a_comment_go_together(options: tuple[str, ...], storeless: Call, made: Path) -> None:
    done = storeless("report", made, *options)
    assert done.code == 2 and done.out == ""


def test_what_is_no_bundle_or_was_changed_is_refused(storeless: Call, made: Path, tmp_path: Path) -> None:
    assert storeless("report", tmp_path).code == 2
    cell = next((made / "cells").rglob("*.json"))
    cell.write_bytes(cell.read_bytes().replace(b'"steps":', b'"steps": '))
    done = storeless("report", made)
    assert done.code == 1 and "the manifest says" in done.err


def test_an_existing_folder_of_pages_is_left_alone(storeless: Call, made: Path, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    done = storeless("report", made, "--html", tmp_path / "pages")
    assert done.code == 2 and "already exists" in done.err and not list((tmp_path / "pages").iterdir())
