"""``nanobench task``: looks at one task without building anything."""

from __future__ import annotations

from typing import Annotated

import typer

from nanobench.cli import common
from nanobench.cli.locked import stale_reasons
from nanobench.errors import CannotTell
from nanobench.formats.digest import sha256_hex
from nanobench.gates.contamination import dated
from nanobench.gates.explain import Said, judgement_of, locked_judgement
from nanobench.gates.fairness import told_files
from nanobench.gates.interface import Finding
from nanobench.gates.judge import words
from nanobench.gates.schema import schema_problems
from nanobench.harness.prompt import prompt
from nanobench.image.sources import source_names
from nanobench.model.lock import TaskLock
from nanobench.model.task import GitSource, Task
from nanobench.project.files import Project
from nanobench.store.store import Store

app = typer.Typer(no_args_is_help=True, help="Look at one task without building anything.")


@app.command()
@common.verb
def check(
    task: Annotated[str, typer.Argument(help="The task's id.")],
    project: common.ProjectPath = None,
    as_json: common.AsJson = False,
) -> None:
    """Read a task, its environment and its statement, run the gates that need no build, and say what is wrong.

    Examples:

        nanobench task check tomlkit-0.15.2
    """
    found = common.project(project)
    spec = found.task(task)
    environment = found.environment(spec.value.environment)
    statement = found.statement(task)
    problems = schema_problems({"task": spec.document, "environment": environment.document})
    when = _when(found, spec.value)
    names = source_names(spec.value, folder=found.folder(task))
    prompt(statement.decode("utf-8"), "hinted", spec.value.required_files)
    facts = {
        "task": task,
        "spec_sha256": spec.sha256,
        "environment_sha256": environment.sha256,
        "statement_sha256": sha256_hex(statement),
        "source": list(names),
        "problems": list(problems),
        "contamination": when.verdict,
    }
    lines = [f"{task}: {'not ' if problems else ''}well-formed", *(f"  - {p}" for p in problems)]
    lines += [f"  {line}" for line in words("contamination", when)]
    lines += [f"  ! {told}" for told in told_files(task, statement, spec.value.required_files)]
    common.show(facts, "\n".join((*lines, f"  → nanobench lock {task}")), as_json=as_json)
    if problems or when.verdict == "fail":
        raise typer.Exit(1)


def _when(project: Project, task: Task) -> Finding:
    """The contamination gate, by what the task's lock pins; a merge that was never read has no date."""
    pins = project.lock(TaskLock, task.id).value.source.pins if project.has_lock(TaskLock, task.id) else None
    if isinstance(task.source, GitSource) and pins is None:
        reason = "no merge commit was read yet"
        return Finding(verdict="unknown", evidence={}, reasons=(reason,), remedy=f"nanobench lock {task.id}")
    return dated(task, pins, project.cutoff())


@app.command()
@common.verb
def explain(
    task: Annotated[str, typer.Argument(help="The task's id.")],
    store: common.StorePath = None,
    project: common.ProjectPath = None,
    as_json: common.AsJson = False,
) -> None:
    """Say why a task was accepted or rejected, gate by gate, with the numbers of the evidence. Runs nothing.

    Examples:

        nanobench task explain unidiff-1.0.1
    """
    found, place = common.project(project), common.store(store)
    accepted, said = _judgement(found, task, place)
    word = "accepted" if accepted else "rejected"
    facts = {
        "task": task,
        "accepted": accepted,
        "gates": {
            s.name: {
                "verdict": s.finding.verdict,
                "reasons": list(s.finding.reasons),
                "remedy": s.finding.remedy,
                "evidence": s.finding.evidence if s.known else None,
            }
            for s in said
        },
    }
    lines = [f"{task}: {word}", *(f"  {line}" for s in said for line in s.lines())]
    if not all(s.known for s in said):
        lines.append(f"  → nanobench gates {task}")
    common.show(facts, "\n".join(lines), as_json=as_json)


def _judgement(project: Project, task: str, store: Store) -> tuple[bool, tuple[Said, ...]]:
    """A current lock says what was accepted; else what was last said of the specs as they are now.

    Raises:
        CannotTell: ``NB_NOT_JUDGED`` when nothing was.
    """
    spec = project.task(task)
    documents = {"task": spec.document, "environment": project.environment(spec.value.environment).document}
    if project.has_lock(TaskLock, task):
        lock = project.lock(TaskLock, task).value
        if not stale_reasons(project, lock):
            return True, locked_judgement(lock.gate, store=store)
    said = judgement_of(task, documents, project.statement(task), store=store)
    if not said:
        hint = f"nanobench lock {task}"
        raise CannotTell("NB_NOT_JUDGED", "no gate has seen these specs here", where=f"tasks/{task}", hint=hint)
    return False, said
