"""A fixture is locked, explained, judged again, and broken: what the verbs say each time. One of its tests turns
flaky: it depends on another, which nobody noticed as long as their order was the same."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.gates import flakiness
from nanobench.project.files import Project
from nanobench.project.stale import REVISION_GATES

TASK = "fixture-single-edit"
NAMES = REVISION_GATES[max(REVISION_GATES)]

ORDERED = "seen = []\n\ndef test_one():\n    seen.append(1)\n\ndef test_two():\n    assert seen == [1]\n"


@pytest.fixture
def fixture(repository: Project, tmp_path: Path) -> Project:
    """A copy of the project with one fixture alone, which has no lock yet."""
    place = tmp_path / "project"
    for folder in (f"tasks/{TASK}", "environments", "locks/environments", "locks/harness"):
        shutil.copytree(repository.root / folder, place / folder)
    (place / f"tasks/{TASK}/tests/tests/test_order.py").write_text(ORDERED)
    return Project(place)


def test_a_task_is_locked_explained_judged_again_and_its_rejection_is_explained_too(
    fixture: Project, nanobench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ("--project", fixture.root)
    never = nanobench("task", "explain", TASK, *where, "--json")
    if never.code == 3:  # the warm store may remember an earlier session's verdicts
        assert never.document["error"]["code"] == "NB_NOT_JUDGED"

    monkeypatch.setattr(flakiness, "shuffled", lambda arena: arena)
    locked = nanobench("lock", TASK, *where)
    assert locked.code == 0, locked.err
    last = locked.err.splitlines()[-1]
    assert last.startswith(f"{TASK}: ")
    assert all(word in last for word in (" s, gates ", " recalled; image ", " fetched"))

    said = nanobench("task", "explain", TASK, *where, "--json").document
    assert said["accepted"] is True
    assert set(said["gates"]) == set(NAMES)
    assert said["gates"]["verification"]["evidence"]["fail_to_pass"] > 0
    text = nanobench("task", "explain", TASK, *where).out
    assert f"{TASK}: accepted\n" in text
    assert "      fail_to_pass: 5\n" in text

    same = nanobench("gates", TASK, *where, "--offline", "--json")
    assert (same.code, same.document) == (0, {TASK: {key: [] for key in NAMES}})

    monkeypatch.undo()
    differs = nanobench("gates", TASK, *where, "--offline")
    assert differs.code == 1
    assert "1 of" in differs.out
    assert "test_order.py::test_two: passed in golden, run 1, failed in golden, another order" in differs.out
    assert 'status = "retired"' in differs.out

    path = fixture.folder(TASK) / "task.toml"
    path.write_text(path.read_text().replace("\n[source]", '\nrequired_files = ["nowhere.py"]\n\n[source]', 1))
    assert nanobench("lock", TASK, *where).code == 1
    rejected = nanobench("task", "explain", TASK, *where)
    assert rejected.out.startswith(f"{TASK}: rejected\n")
    assert "- required file nowhere.py is not changed by the golden patch" in rejected.out
    assert "→ name the right files under required_files" in rejected.out
