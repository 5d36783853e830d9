"""Every fixture is solved by who knows its solution, and not by who does nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.lock import TaskLock
from nanobench.project.files import Project

Scores = Callable[..., dict[str, tuple[str, list[str]]]]

pytestmark = [pytest.mark.network, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def fixtures(repository: Project) -> tuple[str, ...]:
    found = (task for task in repository.locked_ids() if repository.task(task).value.kind == "fixture")
    return tuple(found)


@pytest.fixture
def scores(nanobench: Any, repository: Project, tmp_path: Path) -> Scores:
    """Run these tasks: each one's score, and what broke."""

    def run(tasks: tuple[str, ...], *options: str) -> dict[str, tuple[str, list[str]]]:
        where = ("--out", tmp_path / "run", "--project", repository.root, "--json")
        done = nanobench("run", "--locked", *tasks, *options, *where)
        assert done.code == 0, done.err
        return {r["cell"]["task"]: (r["score"]["value"], r["score"]["broken"]) for r in done.document["results"]}

    return run


def test_there_is_one_of_every_sort(fixtures: tuple[str, ...], repository: Project) -> None:
    sorts = {"navigation", "single-edit", "multi-file", "question", "two-languages", "root-cause", "create-file"}
    assert {task.removeprefix("fixture-") for task in fixtures} >= sorts
    targets = {test for task in fixtures for test in repository.lock(TaskLock, task).value.tests.fail_to_pass}
    assert {test.partition("|")[2] for test in targets} >= {"file", "exit", "answer"}


def test_the_solution_solves_each(fixtures: tuple[str, ...], scores: Scores) -> None:
    assert scores(fixtures, "--provider", "oracle", "--mode", "navigation") == dict.fromkeys(fixtures, ("1.0", []))


def test_nothing_solves_none(scores: Scores) -> None:
    some = ("fixture-create-file", "fixture-two-languages")
    assert scores(some, "--provider", "nop") == dict.fromkeys(some, ("0.0", []))
