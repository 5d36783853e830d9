"""Every fixture is solved by who knows its solution, and not by who does nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nanobench.model.lock import TaskLock
from nanobench.project.files import Project

pytestmark = [pytest.mark.network, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def fixtures(repository: Project) -> tuple[str, ...]:
    found = (task for task in repository.locked_ids() if repository.task(task).value.kind == "fixture")
    return tuple(found)


def test_there_is_one_of_every_sort(fixtures: tuple[str, ...], repository: Project) -> None:
    sorts = {"navigation", "single-edit", "multi-file", "question", "two-languages", "root-cause", "create-file"}
    assert {task.removeprefix("fixture-") for task in fixtures} >= sorts
    targets = {test for task in fixtures for test in repository.lock(TaskLock, task).value.tests.fail_to_pass}
    assert {test.partition("|")[2] for test in targets} >= {"file", "exit", "answer"}


@pytest.mark.parametrize(("provider", "mode", "score"), [("oracle", "navigation", "1.0"), ("nop", "hinted", "0.0")])
def test_the_solution_solves_each_and_nothing_solves_none(
    fixtures: tuple[str, ...],
    nanobench: Any,
    repository: Project,
    tmp_path: Path,
    provider: str,
    mode: str,
    score: str,
) -> None:
    where = ("--out", tmp_path / "run", "--project", repository.root, "--json")
    done = nanobench("run", "--locked", *fixtures, "--provider", provider, "--mode", mode, *where)
    assert done.code == 0, done.err
    found = {r["cell"]["task"]: (r["score"]["value"], r["score"]["broken"]) for r in done.document["results"]}
    assert found == dict.fromkeys(fixtures, (score, []))
