"""What cells of one task need and share: the locked image, the solution's patches, the agent's closure."""

from __future__ import annotations

from attrs import frozen

from nanobench.ecosystems.online import Online
from nanobench.grading.locked import LockedArena, locked_arena
from nanobench.harness.realise import realise_closure
from nanobench.harness.session import Seat
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.lock import EnvironmentLock, HarnessLock, TaskLock
from nanobench.project.files import Locked


@frozen(kw_only=True)
class LockedTask:
    """A task's three locks, as files, and its statement."""

    task: Locked[TaskLock]
    environment: Locked[EnvironmentLock]
    harness: Locked[HarnessLock]
    statement: str

    @property
    def locks(self) -> Locks:
        """What its image is made from."""
        return Locks(task=self.task.value, environment=self.environment.value)


@frozen(kw_only=True)
class Stage:
    """A task ready to run: where its agent sits and where its patches are graded."""

    locked: LockedTask
    place: LockedArena
    seat: Seat


def set_stage(locked: LockedTask, *, online: Online | None, bench: Workbench) -> Stage:
    """Bring a task's image, patches and closure from its locks alone; every digest is compared."""
    lock = locked.task.value
    place = locked_arena(locked.locks, online=online, bench=bench)
    closure = realise_closure(locked.harness.value, online=online, bench=bench)
    trees = place.image.trees
    seat = Seat(engine=bench.engine, trees=trees, closure=closure, limits=lock.limits, env=lock.env)
    return Stage(locked=locked, place=place, seat=seat)
