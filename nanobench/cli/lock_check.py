"""``nanobench lock --check``: are the locks current? Reads files, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from nanobench.cli import common
from nanobench.cli.locked import harness_reasons, stale_reasons
from nanobench.cli.nanocoder import OPTION, locked_harness
from nanobench.errors import NanobenchError
from nanobench.model.lock import HarnessLock, TaskLock
from nanobench.project.files import Project


def check(project: Project, tasks: Sequence[str], nanocoder: Sequence[str], *, as_json: bool) -> None:
    """Say of these tasks and harnesses, or of all that must be current, whether they are; exit 1 when one is not."""
    if tasks or nanocoder:
        harnesses = tuple(locked_harness(project, asked).value.name for asked in nanocoder)
    else:
        tasks, harnesses = _published(project), project.harness_names()
    verdicts = {task: _reasons(project, task) for task in tasks}
    verdicts |= {f"harness/{name}": _harness_reasons(project, name) for name in harnesses}
    stale = [name for name, reasons in verdicts.items() if reasons]
    lines = []
    for name, reasons in verdicts.items():
        lines += [f"{name}: {'stale' if reasons else 'current'}", *(f"  - {reason}" for reason in reasons)]
    if stale:
        lines.append(f"  → nanobench lock {' '.join(name.replace('harness/', f'{OPTION} ') for name in stale)}")
    document = {name: {"current": not reasons, "reasons": list(reasons)} for name, reasons in verdicts.items()}
    common.show(document, "\n".join(lines), as_json=as_json)
    if stale:
        raise typer.Exit(1)


def _published(project: Project) -> tuple[str, ...]:
    """What must be current: every lock there is, and every member of the dataset. Other tasks may wait for theirs."""
    return tuple(sorted({*project.locked_ids(), *project.members()}))


def _reasons(project: Project, task: str) -> tuple[str, ...]:
    """Why a task's lock is not current; a spec or lock that cannot be read is a reason like any other."""
    try:
        if not project.has_lock(TaskLock, task):
            return (f"locks/{task}.lock.toml: missing",)
        if task not in project.task_ids():
            return (f"tasks/{task}/task.toml: missing; a lock goes with its task: git rm locks/{task}.lock.toml",)
        return stale_reasons(project, project.lock(TaskLock, task).value)
    except NanobenchError as error:
        return (str(error).replace("\n", "; "),)


def _harness_reasons(project: Project, name: str) -> tuple[str, ...]:
    """Why a harness's lock is not current."""
    try:
        return harness_reasons(project.lock(HarnessLock, name).value)
    except NanobenchError as error:
        return (str(error).replace("\n", "; "),)
