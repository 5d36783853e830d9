"""Other Nanocoders than the one that a task was locked with: does one of them hold the task's solution?

The gate ``leak`` has searched the closure of the locked one only. What a closure was once searched for is remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from nanobench.errors import CannotTell, NanobenchError, Refused
from nanobench.gates.leak import older_closure, said, sought_of
from nanobench.image.task import BuiltTask
from nanobench.image.workbench import Workbench
from nanobench.leaks.scan import Scanned
from nanobench.model.lock import HarnessLock, TaskLock
from nanobench.model.task import Task
from nanobench.sources.change import Change

_SHOWN = 5
"""Places that are named of a closure."""


def leaks_of_agents(
    lock: TaskLock,
    task: Task,
    image: BuiltTask,
    change: Change,
    agents: Iterable[tuple[HarnessLock, Path]],
    *,
    bench: Workbench,
) -> Iterator[NanobenchError]:
    """What speaks against running a task with these harnesses, each with its closure's tree.

    Refused (``NB_LEAK``) is for one that holds something of the solution, CannotTell for one that could not be looked
    into whole.
    """
    others = [(agent, closure) for agent, closure in agents if agent.name != lock.harness.name]
    if not others:
        return
    scanner = sought_of(task, image, change).scanner
    for agent, closure in others:
        bench.say(f"looking for the solution of {lock.task} in {agent.name}")
        scanned = scanner.layer(agent.closure, closure, store=bench.store)
        yield from _objections(lock, agent, scanned)


def _objections(lock: TaskLock, agent: HarnessLock, scanned: Scanned) -> Iterator[NanobenchError]:
    where = f"locks/harness/{agent.name}.lock.toml: closure"
    if scanned.found:
        merged_at = lock.source.upstream.merged_at if lock.source.upstream else None
        yield Refused(
            "NB_LEAK",
            f"{agent.name} holds something of the solution of {lock.task}, where the agent can read it",
            where=where,
            details=tuple(said(one) for one in scanned.found[:_SHOWN]),
            hint=f"{older_closure(agent, merged_at)} makes one with older packages",
        )
    elif scanned.unread:
        yield CannotTell(
            "NB_LEAK",
            f"{agent.name} cannot be searched whole for the solution of {lock.task}",
            where=where,
            details=scanned.unread[:_SHOWN],
            hint="run the task with the Nanocoder that it is locked with",
        )
