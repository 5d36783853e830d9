"""``lock --check`` without a task: every lock there is and every member of the dataset, and nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nanobench.project.files import Project

DATASET = 'schema = 1\nname = "x"\nversion = "1"\ncutoff = "2026-01-01"\ntasks = ["{}"]\n'


def test_a_task_that_waits_for_its_first_lock_is_no_reason(
    nanobench: Callable[..., Any], copied: Project, demo: str, repository: Project
) -> None:
    shutil.copytree(repository.root / "tasks/torax-001", copied.root / "tasks/torax-001")
    done = nanobench("lock", "--check", "--json", "--project", copied.root)
    locks = {demo, *(f"harness/{name}" for name in copied.harness_names())}
    assert (done.code, done.document) == (0, {name: {"current": True, "reasons": []} for name in locks})
    asked = nanobench("lock", "--check", "torax-001", "--json", "--project", copied.root)
    assert (asked.code, asked.document["torax-001"]["reasons"]) == (1, ["locks/torax-001.lock.toml: missing"])


def test_a_member_of_the_dataset_without_a_lock_is_one(
    nanobench: Callable[..., Any], copied: Project, repository: Project
) -> None:
    shutil.copytree(repository.root / "tasks/torax-001", copied.root / "tasks/torax-001")
    (copied.root / "tasks/dataset.toml").write_text(DATASET.format("torax-001"))
    done = nanobench("lock", "--check", "--json", "--project", copied.root)
    assert done.code == 1
    assert not done.document["torax-001"]["current"]


def test_a_lock_whose_task_is_gone_is_one(nanobench: Callable[..., Any], copied: Project, demo: str) -> None:
    shutil.rmtree(copied.root / "tasks" / demo)
    done = nanobench("lock", "--check", "--json", "--project", copied.root)
    assert (done.code, done.document[demo]["current"]) == (1, False)


def test_torax_stands_as_a_task_and_is_no_member(nanobench: Callable[..., Any], repository: Project) -> None:
    root: Path = repository.root
    assert nanobench("task", "check", "torax-001", "--project", root).code == 0
    assert "torax-001" not in repository.dataset().value.tasks
    assert not (root / "locks/torax-001.lock.toml").exists()
