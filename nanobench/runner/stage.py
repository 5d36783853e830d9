"""What cells of one task need and share: the locked image, the solution's patches, the agents' closures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from attrs import frozen

from nanobench.ecosystems.online import Online
from nanobench.errors import NanobenchError
from nanobench.gates.agents import leaks_of_agents
from nanobench.grading.landmarks import landmarks_of
from nanobench.grading.locked import LockedArena, locked_arena
from nanobench.harness.contract import contract_of
from nanobench.harness.realise import realise_closure
from nanobench.harness.session import Seat
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.label import Landmarks
from nanobench.model.lock import EnvironmentLock, HarnessLock, TaskLock
from nanobench.project.files import Locked
from nanobench.sandbox.interface import Engine


@frozen(kw_only=True)
class LockedTask:
    """A task's three locks, as files, its statement, and its folder in the project. ``harness`` is the one that it
    was locked with."""

    task: Locked[TaskLock]
    environment: Locked[EnvironmentLock]
    harness: Locked[HarnessLock]
    statement: str
    folder: Path

    @property
    def locks(self) -> Locks:
        """What its image is made from."""
        return Locks(task=self.task.value, environment=self.environment.value, folder=self.folder)


@frozen(kw_only=True)
class Agent:
    """A locked Nanocoder and its closure's tree."""

    lock: Locked[HarnessLock]
    closure: Path


@frozen(kw_only=True)
class Stage:
    """A task ready to run: where its patches are graded, what labels are held against, and the agents for it by the
    names of their locks."""

    locked: LockedTask
    place: LockedArena
    landmarks: Landmarks
    agents: Mapping[str, Agent]
    engine: Engine

    def seat(self, harness: str) -> Seat:
        """Where one of the agents sits."""
        lock, agent = self.locked.task.value, self.agents[harness]
        return Seat(
            engine=self.engine,
            trees=self.place.image.trees,
            closure=agent.closure,
            contract=contract_of(agent.lock.value),
            limits=lock.limits,
            env=lock.env,
        )


def refuse_leaks(stages: Iterable[Stage], *, bench: Workbench) -> None:
    """Let no task run with a harness that holds its solution. The one that it was locked with was asked then.

    Raises:
        Refused: ``NB_LEAK`` naming the places, and the others where several fail.
        CannotTell: ``NB_LEAK`` when one cannot be searched whole.
    """
    found = [error for stage in stages for error in _leaks(stage, bench)]
    if found:
        worst, *others = sorted(found, key=lambda error: error.exit_code)
        worst.details += tuple(f"{error.where}: {error.message} ({error.hint})" for error in others)
        raise worst


def _leaks(stage: Stage, bench: Workbench) -> Iterator[NanobenchError]:
    locks, place = stage.locked.locks, stage.place
    agents = [(agent.lock.value, agent.closure) for agent in stage.agents.values()]
    return leaks_of_agents(locks.task, locks.spec, place.image, place.change, agents, bench=bench)


def bring_agent(lock: Locked[HarnessLock], *, online: Online | None, bench: Workbench) -> Agent:
    """A harness's closure from its lock alone; every digest is compared."""
    return Agent(lock=lock, closure=realise_closure(lock.value, online=online, bench=bench))


def set_stage(locked: LockedTask, agents: Iterable[Agent], *, online: Online | None, bench: Workbench) -> Stage:
    """Bring a task's image and patches from its locks alone; every digest is compared."""
    place = locked_arena(locked.locks, online=online, bench=bench)
    named = {agent.lock.value.name: agent for agent in agents}
    landmarks = landmarks_of(place, locked.task.value)
    return Stage(locked=locked, place=place, landmarks=landmarks, agents=named, engine=bench.engine)
