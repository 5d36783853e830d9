"""Derives a bundle's task locks again from what they pin, and names every field that comes out different."""

from __future__ import annotations

from collections.abc import Iterator

from nanobench.audit.published import against_project, online_for
from nanobench.bundle.read import Bundle
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell, NanobenchError
from nanobench.formats.converter import unstructure
from nanobench.gates.agents import leaks_of_agents
from nanobench.gates.interface import Case
from nanobench.gates.judge import Judged, judge_all
from nanobench.gates.relock import case_of, lock_of, locked_inputs, remember_trials
from nanobench.harness.realise import realise_closure
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.lock import LockedImage, TaskLock
from nanobench.project.files import Project
from nanobench.project.stale import changes


def derive_again(
    bundle: Bundle, project: Project | None, *, online: Online | None, bench: Workbench
) -> Iterator[str | NanobenchError]:
    """Run every gate again on what each lock pins, and compare the lock that follows with the bundle's, key by key.

    What this machine's store has judged before is recalled, not run again.
    """
    for task in bundle.tasks:
        lock = bundle.task_lock(task).value
        statement = project.locked_statement(lock) if project else None
        if statement is None:
            yield _no_statement(task)
            continue
        locks, harness = locks_of(bundle, lock, project), bundle.harness_lock(lock).value
        trusted = online_for(bundle, task, project, online)
        inputs = locked_inputs(locks, harness, statement, online=trusted, bench=bench)
        case = case_of(inputs, bench=bench)
        judged = judge_all(case)
        image = case.image.locked()
        yield from (_objection(task, j, image) for j in judged if j.finding.verdict != "pass")
        if all(j.verdict.admitted(image) for j in judged):
            remember_trials(case)
        yield from _other_agents(bundle, case, lock, project, online=online, bench=bench)
        derived = lock_of(inputs, case, judged)
        for change in changes(unstructure(lock), unstructure(derived)):
            yield f"locks/{task}.lock.toml: {change} (derived from its pins)"


def _other_agents(
    bundle: Bundle, case: Case, lock: TaskLock, project: Project | None, *, online: Online | None, bench: Workbench
) -> Iterator[NanobenchError]:
    """What speaks against the harnesses that the task was run with beside the one of its lock."""
    names = sorted({cell.harness for cell in bundle.run.cells if cell.task == lock.task} - {lock.harness.name})
    for harness in map(bundle.run_harness_lock, names):
        published = next(against_project(bundle, harness, project), None) is None
        try:
            closure = realise_closure(harness.value, online=online if published else None, bench=bench)
            agents = [(harness.value, closure)]
            yield from leaks_of_agents(lock, case.task, case.image, case.change, agents, bench=bench)
        except NanobenchError as error:  # what is wrong with one says nothing of the others
            yield error


def _objection(task: str, judged: Judged, image: LockedImage) -> str | CannotTell:
    """What is wrong when a gate did not pass; an open question where the lock itself says so."""
    reasons = "; ".join(judged.finding.reasons)
    if judged.verdict.admitted(image):
        return CannotTell("NB_CAPTURED", reasons, where=f"{task}: gate {judged.name}", hint=judged.finding.remedy)
    return f"{task}: gate {judged.name}: {judged.finding.verdict} here: {reasons}"


def locks_of(bundle: Bundle, lock: TaskLock, project: Project | None) -> Locks:
    """What a task's image is made from: its lock, its environment's, and its folder where a project is at hand."""
    folder = project.folder(lock.task) if project else None
    return Locks(task=lock, environment=bundle.environment_lock(lock).value, folder=folder)


def _no_statement(task: str) -> CannotTell:
    return CannotTell(
        "NB_NO_STATEMENT",
        "the statement that was locked is not here, so its lock cannot be derived again",
        where=f"tasks/{task}/statement.md",
        hint="run this in the project that publishes the task, or name it with --project",
    )
