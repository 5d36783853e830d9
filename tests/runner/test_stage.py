from __future__ import annotations

import pytest
from attrs import evolve

from nanobench.errors import Refused
from nanobench.harness.session import Seat
from nanobench.image.workbench import Workbench
from nanobench.runner.stage import Stage, set_stage


def test_the_agent_sits_in_the_graded_image_with_the_locks_limits(stage: Stage, seat: Seat) -> None:
    lock = stage.locked.task.value
    assert seat.trees == stage.place.image.trees == stage.place.arena.trees
    assert (seat.limits, seat.env) == (lock.limits, lock.env)
    assert seat.closure.name == stage.locked.harness.value.closure.partition(":")[2]


def test_the_closure_is_no_part_of_where_patches_are_graded(stage: Stage, seat: Seat) -> None:
    assert seat.closure not in stage.place.arena.trees
    assert not [tree for tree in stage.place.image.trees if (tree / "nanobench/harness").exists()]


def test_a_solution_that_is_not_the_locked_one_sets_no_stage(stage: Stage, bench: Workbench) -> None:
    task = stage.locked.task
    source = evolve(task.value.source, golden_patch_sha256="5" * 64)
    locked = evolve(stage.locked, task=evolve(task, value=evolve(task.value, source=source)))
    with pytest.raises(Refused) as refused:
        set_stage(locked, stage.agents.values(), online=None, bench=bench)
    assert refused.value.code == "NB_PATCH_DIFFERS"
