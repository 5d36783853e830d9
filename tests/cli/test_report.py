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
