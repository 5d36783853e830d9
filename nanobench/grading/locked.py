"""From a task's locks alone to the place where its patches are graded."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from nanobench.ecosystems.online import Online
from nanobench.grading.trial import Arena
from nanobench.image.realise import Locks, realise
from nanobench.image.solution import locked_solution
from nanobench.image.task import BuiltTask
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Limits
from nanobench.model.task import Task
from nanobench.sources.change import Change
from nanobench.sources.patch import affected_paths


@frozen(kw_only=True)
class LockedArena:
    """The locked image, the solution's locked patches, and where patches are graded."""

    image: BuiltTask
    change: Change
    arena: Arena


def locked_arena(locks: Locks, *, online: Online | None, bench: Workbench) -> LockedArena:
    """Build what the locks name and compare every digest.

    Raises:
        Refused: ``NB_IMAGE_DIFFERS``, ``NB_PATCH_DIFFERS``.
        CannotTell: a pinned file is missing and may not or cannot be fetched.
    """
    lock, task = locks.task, locks.spec
    image = realise(locks, online=online, bench=bench)
    change = locked_solution(lock, task, locks.source, image, bench=bench)
    arena = arena_of(task, image, change, limits=lock.limits, env=lock.env, bench=bench)
    return LockedArena(image=image, change=change, arena=arena)


def arena_of(
    task: Task, image: BuiltTask, change: Change, *, limits: Limits, env: Mapping[str, str], bench: Workbench
) -> Arena:
    """Where a task's patches are graded."""
    return Arena(
        engine=bench.engine,
        trees=image.trees,
        workspace=image.workspace,
        tests=change.test,
        rules=task.paths,
        solution_files=frozenset(affected_paths(change.golden, where="golden patch")),
        suites=task.suite,
        assertions=task.assertion,
        answer=change.answer,
        limits=limits,
        env=env,
    )
