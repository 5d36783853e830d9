from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.model.lock import HarnessLock, TaskLock
from nanobench.project.files import Project

BEFORE_RENAME = """
replace = pathlib.Path.replace
pathlib.Path.replace = lambda self, target: die() if str(target).endswith(".lock.toml") else replace(self, target)
"""


@pytest.fixture
def check(nanobench: Any, copied: Project) -> Callable[..., Any]:
    """``lock --check --json`` on the copied project."""
    return lambda *arguments: nanobench("lock", "--check", *arguments, "--project", copied.root, "--json")


def test_the_committed_locks_are_current(nanobench: Any, repository: Project) -> None:
    done = nanobench("lock", "--check", "--project", repository.root)
    assert (done.code, done.err) == (0, "")
    assert "unidiff-1.0.1: current\n" in done.out


def test_every_reason_is_listed_at_once(check: Any, copied: Project, demo: str) -> None:
    (copied.root / f"tasks/{demo}/statement.md").write_text("Other words.\n")
    task = copied.root / f"tasks/{demo}/task.toml"
    task.write_text(task.read_text().replace("seconds = 120", "seconds = 121"))
    lock = copied.lock(TaskLock, demo).value
    environment = copied.root / f"environments/{lock.environment.name}.toml"
    environment.write_text(environment.read_text().replace("pids = 512", "pids = 511") + '\n[env]\nA = "1"\n')
    harness = copied.lock(HarnessLock, lock.harness.name).value
    copied.write_lock(harness.name, evolve(harness, revision=harness.revision + 1))
    done = check()
    assert done.code == 1
    assert done.document[demo]["current"] is False
    text = "\n".join(done.document[demo]["reasons"])
    for expected in (
        "statement.md",
        "suite[0].seconds",
        "limits differ",
        "env differs",
        "locks/harness/",
        "limits.pids",
    ):
        assert expected in text, text


def test_a_spec_that_cannot_be_read_is_a_reason_like_any_other(check: Any, copied: Project, demo: str) -> None:
    (copied.root / f"tasks/{demo}/task.toml").write_text("schema = true\n")
    done = check()
    assert done.code == 1
    assert any("task.toml: " in reason for reason in done.document[demo]["reasons"])


def test_the_lock_of_a_task_that_is_gone_is_to_go_too(check: Any, copied: Project, demo: str) -> None:
    (copied.root / f"tasks/{demo}/task.toml").unlink()
    (reason,) = check().document[demo]["reasons"]
    assert reason.endswith(f"a lock goes with its task: git rm locks/{demo}.lock.toml")


def test_without_a_lock_a_task_is_not_current_and_the_command_is_named(
    nanobench: Any, copied: Project, demo: str
) -> None:
    copied.lock_path(TaskLock, demo).unlink()
    done = nanobench("lock", "--check", demo, "--project", copied.root)
    assert (done.code, done.out) == (
        1,
        f"{demo}: stale\n  - locks/{demo}.lock.toml: missing\n  → nanobench lock {demo}\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "known tasks: unidiff-1.0.1"),
        (["no-such-task"], "known tasks: unidiff-1.0.1"),
        (["unidiff-1.0.1", "--upgrade-input", "weather"], "base, python"),
    ],
)
def test_wrong_usage_is_exit_2_and_says_what_there_is(
    nanobench: Any, copied: Project, arguments: list[str], message: str
) -> None:
    done = nanobench("lock", *arguments, "--project", copied.root, "--json")
    assert done.code == 2
    assert message in done.document["error"]["hint"]


def test_the_verdict_names_gates_image_and_what_was_written(nanobench: Any, copied: Project, demo: str) -> None:
    copied.lock_path(TaskLock, demo).unlink()
    done = nanobench("lock", demo, "--offline", "--dry-run", "--project", copied.root, "--json")
    assert done.code == 0, done.err
    said = done.document[demo]
    assert said["written"] == [f"locks/{demo}.lock.toml"]
    assert {gate["verdict"] for gate in said["gates"].values()} == {"pass"}
    assert not copied.has_lock(TaskLock, demo)
    text = nanobench("lock", demo, "--offline", "--project", copied.root)
    assert f"wrote locks/{demo}.lock.toml" in text.out
    assert copied.has_lock(TaskLock, demo)


def test_killed_before_the_lock_has_its_name_there_is_the_old_one_or_none_and_doctor_removes_the_rest(
    start: Any, dying: str, descendants: Any, nanobench: Any, copied: Project, demo: str
) -> None:
    path = copied.lock_path(TaskLock, demo)
    path.unlink()
    arguments = ("lock", demo, "--offline", "--project", copied.root)
    process = start(*arguments, first=dying + BEFORE_RENAME, env={"DYING": str(descendants.note)})
    _, err = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL, err
    assert descendants.alive() == []
    (left,) = path.parent.glob(".*")
    assert left.name.startswith(f".{path.name}.")
    assert not path.exists()
    assert left.name in nanobench("doctor", "--keep", "--project", copied.root).out
    assert left.exists()
    assert left.name in nanobench("doctor", "--project", copied.root).out
    assert not left.exists()
    assert nanobench(*arguments).code == 0
    assert path.exists()


@pytest.mark.parametrize(
    "arguments",
    [("lock", "\x1b[31mred\x07", "--json"), ("lock", "--check", "\x1b]0;x\x07"), ("build", "a\x9bb", "--offline")],
)
def test_a_hostile_name_is_shown_harmlessly(nanobench: Any, copied: Project, arguments: tuple[str, ...]) -> None:
    done = nanobench(*arguments, "--project", copied.root)
    assert done.code in (1, 2, 3)
    for text in (done.out, done.err):
        assert not [c for c in text if not c.isprintable() and c != "\n"]


def test_a_project_is_looked_for_upwards_and_its_lack_is_wrong_usage(
    nanobench: Any, copied: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, demo: str
) -> None:
    monkeypatch.chdir(copied.root / f"tasks/{demo}")
    assert nanobench("lock", "--check").code == 0
    monkeypatch.chdir("/")
    done = nanobench("lock", "--check", "--json")
    assert (done.code, done.document["error"]["code"]) == (2, "NB_NO_PROJECT")
