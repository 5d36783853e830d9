from __future__ import annotations

import os
from pathlib import Path

import attrs
import pytest

from nanobench.errors import CannotTell, Misuse, NanobenchError, Refused
from nanobench.formats.documents import dump_lock, read_lock
from nanobench.model.lock import TaskLock
from nanobench.project.files import Project, read_lock_file, write_whole


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for folder in ("tasks", "environments", "locks"):
        (tmp_path / folder).mkdir()
    return Project(tmp_path)


def test_the_project_is_found_from_any_folder_below_it(project: Project) -> None:
    deep = project.root / "tasks" / "x"
    deep.mkdir()
    assert Project.find(deep) == project


def test_outside_a_project_the_error_says_what_was_looked_for() -> None:
    with pytest.raises(Misuse, match="no tasks/ and environments/"):
        Project.find(Path("/"))


def test_a_lock_is_written_once_and_reads_back_equal(project: Project, task_lock: TaskLock) -> None:
    assert project.write_lock("x", task_lock) is True
    assert project.write_lock("x", task_lock) is False
    assert project.lock(TaskLock, "x").value == task_lock


def test_a_lock_is_world_readable_whatever_the_umask(project: Project, task_lock: TaskLock) -> None:
    before = os.umask(0o077)
    try:
        project.write_lock("x", task_lock)
    finally:
        os.umask(before)
    assert project.lock_path(TaskLock, "x").stat().st_mode & 0o777 == 0o644


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_a_missing_lock_cannot_tell_and_names_the_command_or_the_tasks_that_are_known(project: Project) -> None:
    def hint(name: str) -> str | None:
        with pytest.raises(CannotTell) as refusal:
            project.lock(TaskLock, name)
        return refusal.value.hint

    assert hint("x") == "known tasks: none"
    (project.root / "tasks/x").mkdir(parents=True)
    (project.root / "tasks/x/task.toml").touch()
    assert (hint("x"), hint("y")) == ("nanobench lock x", "known tasks: x")


def test_every_single_changed_byte_of_a_lock_is_refused_or_changes_its_meaning(task_lock: TaskLock) -> None:
    data = dump_lock(task_lock)
    for index in range(len(data)):
        changed = data[:index] + bytes([data[index] ^ 1]) + data[index + 1 :]
        try:
            again = read_lock(changed, TaskLock, where="x")
        except NanobenchError:
            continue
        assert again != task_lock, f"byte {index} changed and nothing was seen"


def test_windows_line_endings_in_a_lock_are_refused_with_the_reason(project: Project, task_lock: TaskLock) -> None:
    path = project.lock_path(TaskLock, "x")
    path.write_bytes(dump_lock(task_lock).replace(b"\n", b"\r\n"))
    with pytest.raises(Refused, match="line endings"):
        project.lock(TaskLock, "x")


def test_a_larger_lock_version_is_refused_before_anything_else_is_read(project: Project, task_lock: TaskLock) -> None:
    path = project.lock_path(TaskLock, "x")
    path.write_bytes(dump_lock(task_lock).replace(b"version = 1", b"version = 2\nnews = 1", 1))
    with pytest.raises(Refused) as refusal:
        project.lock(TaskLock, "x")
    assert refusal.value.code == "NB_LOCK_VERSION"


def test_a_larger_revision_is_readable(project: Project, task_lock: TaskLock) -> None:
    project.write_lock("x", attrs.evolve(task_lock, revision=9))
    assert project.lock(TaskLock, "x").value.revision == 9


@pytest.mark.parametrize("name", ["missing", "folder", "/dev/zero", "n" * 300])
def test_what_is_no_file_is_no_lock(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(Misuse, match="NB_NO_FILE: given"):
        read_lock_file(tmp_path / name, TaskLock, where="given")


def test_a_lock_that_never_ends_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(Refused, match="at most"):
        read_lock_file(tmp_path / "lock", TaskLock, where="given")
