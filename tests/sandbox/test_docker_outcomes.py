"""One lock, two engines: what became of every test, and so the score, is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from nanobench.grading.locked import LockedArena, locked_arena
from nanobench.grading.trial import try_patch
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.result import GradingRecord
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.docker import Docker
from nanobench.sandbox.interface import Engine
from nanobench.store.store import Store


@pytest.mark.parametrize("solved", [True, False], ids=["the solution", "nothing"])
def test_both_engines_see_the_same_outcomes_of_the_demo_task(
    warm_store: Path, locks: Locks, docker_socket: Path, solved: bool
) -> None:
    store = Store(warm_store)
    engines: tuple[Engine, ...] = (Bubblewrap(), Docker(store, address=str(docker_socket)))
    first, second = (graded(Workbench(store=store, engine=e, say=lambda _: None), locks, solved) for e in engines)
    assert first == second
    assert set(locks.task.tests.fail_to_pass) <= set(first.outcomes)
    assert {end.exit_code for end in first.suite} == {0 if solved else 1}


def graded(bench: Workbench, locks: Locks, solved: bool) -> GradingRecord:
    place: LockedArena = locked_arena(locks, online=None, bench=bench)
    with bench.store.scratch("compare") as scratch:
        return try_patch(place.arena, place.change.golden if solved else b"", scratch=scratch).grading.record
