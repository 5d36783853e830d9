"""Nanocoders that a task was not locked with, searched for its solution."""

from __future__ import annotations

import functools
import gzip
from pathlib import Path

from attrs import evolve

from nanobench.errors import NanobenchError
from nanobench.formats.digest import sha256
from nanobench.gates.agents import leaks_of_agents
from nanobench.grading.locked import LockedArena
from nanobench.harness.realise import realise_closure
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.lock import HarnessLock, TaskLock
from nanobench.project.files import Project


def objections(
    harness: HarnessLock, closure: Path, locks: Locks, place: LockedArena, bench: Workbench
) -> list[NanobenchError]:
    agents = [(harness, closure)]
    return list(leaks_of_agents(locks.task, locks.spec, place.image, place.change, agents, bench=bench))


def test_a_closure_with_the_solution_is_refused_with_the_place_and_the_command_that_helps(
    leaky: HarnessLock, locks: Locks, place: LockedArena, bench: Workbench
) -> None:
    closure = realise_closure(leaky, online=None, bench=bench)
    (error,) = objections(leaky, closure, locks, place, bench)
    assert (error.code, error.exit_code) == ("NB_LEAK", 1)
    assert error.where == f"locks/harness/{leaky.name}.lock.toml: closure"
    assert error.details[0].startswith("/app/node_modules/leak/fix.patch: lines: golden patch: ")
    assert error.hint == "nanobench lock --nanocoder 1.29.0 --before DATE makes one with older packages"


def test_what_was_asked_once_is_not_searched_again(
    leaky: HarnessLock, locks: Locks, place: LockedArena, bench: Workbench, tmp_path: Path
) -> None:
    closure = realise_closure(leaky, online=None, bench=bench)
    first = objections(leaky, closure, locks, place, bench)
    again = objections(leaky, tmp_path / "not there any more", locks, place, bench)
    assert [str(error) for error in again] == [str(error) for error in first]


def test_the_date_of_the_command_is_that_of_the_merge(
    leaky: HarnessLock, locks: Locks, place: LockedArena, bench: Workbench, repository: Project
) -> None:
    upstream = repository.lock(TaskLock, "anyio-1153").value.source.upstream
    merged = evolve(locks.task, source=evolve(locks.task.source, upstream=upstream))
    closure = realise_closure(leaky, online=None, bench=bench)
    (error,) = leaks_of_agents(merged, locks.spec, place.image, place.change, [(leaky, closure)], bench=bench)
    assert "--before 2026-06-13 " in error.hint


def test_the_locked_one_was_asked_when_the_task_was_locked(
    leaky: HarnessLock, locks: Locks, place: LockedArena, bench: Workbench, tmp_path: Path
) -> None:
    assert objections(evolve(leaky, name=locks.task.harness.name), tmp_path, locks, place, bench) == []


def test_what_cannot_be_searched_whole_is_not_called_clean(
    leaky: HarnessLock, locks: Locks, place: LockedArena, bench: Workbench, tmp_path: Path
) -> None:
    (tmp_path / "onion.gz").write_bytes(
        functools.reduce(lambda data, _: gzip.compress(data, mtime=0), range(9), b"x")
    )
    packed = evolve(leaky, closure=sha256(b"onion"))
    (error,) = objections(packed, tmp_path, locks, place, bench)
    assert (error.code, error.exit_code, error.details) == ("NB_LEAK", 3, ("/onion.gz: packed more than 8 times",))
