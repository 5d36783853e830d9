"""Whatever changes in a fixture's folder makes its lock stale, and the place is named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.project.files import Project

TASK = "fixture-single-edit"


@pytest.fixture
def fixture(repository: Project, tmp_path: Path) -> Project:
    """A copy of the project with one fixture alone."""
    place = tmp_path / "project"
    for folder in (f"tasks/{TASK}", "environments", "locks/environments", "locks/harness"):
        shutil.copytree(repository.root / folder, place / folder)
    shutil.copy(repository.root / f"locks/{TASK}.lock.toml", place / "locks")
    return Project(place)


def flip(folder: Path) -> str:
    path = folder / "base/shiftlog/report.py"
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(bytes(data))
    return "base/shiftlog/report.py"


def hide(folder: Path) -> str:
    (folder / "tests/tests/test_overnight.py").write_text("def test_nothing(): pass\n")
    return "tests/tests/test_overnight.py"


def add(folder: Path) -> str:
    (folder / "solution/shiftlog/more.py").write_text("")
    return "solution/shiftlog/more.py"


def remove(folder: Path) -> str:
    (folder / "base/example.txt").unlink()
    return "base/example.txt"


def mode(folder: Path) -> str:
    (folder / "base/example.txt").chmod(0o755)
    return "base/example.txt"


def link(folder: Path) -> str:
    (folder / "base/example.txt").unlink()
    (folder / "base/example.txt").symlink_to("/etc/hostname")
    return "base/example.txt"


@pytest.mark.parametrize("change", [flip, hide, add, remove, mode, link])
def test_a_changed_file_makes_the_lock_stale_and_is_named(
    fixture: Project, nanobench: Any, change: Callable[[Path], str]
) -> None:
    place = change(fixture.folder(TASK))
    done = nanobench("lock", "--check", "--project", fixture.root, "--json")
    assert done.code == 1
    (reason,) = done.document[TASK]["reasons"]
    assert f"tasks/{TASK}/{place}: " in reason
    done = nanobench("run", "--frozen", TASK, "--provider", "nop", "--project", fixture.root)
    assert (done.code, f"tasks/{TASK}/{place}: " in done.err) == (1, True)


def test_as_it_was_committed_it_is_current(fixture: Project, nanobench: Any) -> None:
    (fixture.folder(TASK) / "base/empty").mkdir()
    assert nanobench("lock", "--check", "--project", fixture.root).code == 0


def test_a_dataset_of_several_kinds_is_refused_with_each_tasks_kind(
    fixture: Project, repository: Project, demo: str, nanobench: Any
) -> None:
    shutil.copytree(repository.folder(demo), fixture.folder(demo))
    dataset = fixture.root / "tasks/dataset.toml"
    head = 'schema = 1\nname = "mixed"\nversion = "1"\ncutoff = "2026-01-01"\n'
    dataset.write_text(f'{head}tasks = ["{TASK}"]\n')
    assert nanobench("lock", "--check", "--project", fixture.root).code == 0
    dataset.write_text(f'{head}tasks = ["{demo}", "{TASK}"]\n')
    for command in (("lock", "--check"), ("lock", "--offline", TASK)):
        done = nanobench(*command, "--project", fixture.root, "--json")
        assert (done.code, done.document["error"]["code"]) == (1, "NB_DATASET_KINDS")
        assert done.document["error"]["details"] == [f"{demo}: release-pair", f"{TASK}: fixture"]


def test_task_check_names_a_file_in_the_wrong_folder_and_every_file_of_a_sound_one(
    fixture: Project, nanobench: Any
) -> None:
    checked = ("task", "check", TASK, "--project", fixture.root, "--json")
    done = nanobench(*checked)
    assert done.code == 0
    assert f"tasks/{TASK}/tests/tests/test_overnight.py" in done.document["source"]
    (fixture.folder(TASK) / "tests/helper.py").write_text("")
    done = nanobench(*checked)
    assert (done.code, done.document["error"]["code"]) == (1, "NB_VENDORED")
    assert done.document["error"]["details"] == ["tests/helper.py: no test by the path rules"]
