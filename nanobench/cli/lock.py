"""``nanobench lock``: from specs to locks, or only a look whether the locks are current."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from nanobench.cli import common
from nanobench.cli.locked import current, keep, stale_reasons
from nanobench.curate.lock import INPUTS, LockOutcome, lock_task
from nanobench.errors import Misuse, NanobenchError
from nanobench.model.fields import Document
from nanobench.model.lock import TaskLock
from nanobench.model.upstream import LockedUpstream
from nanobench.project.files import Project
from nanobench.sandbox.choose import EngineName


@common.verb
def lock(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(metavar="TASK", help="Tasks to lock (--check: default all locks, and the dataset's members)."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only say whether the locks are current: no network.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Do everything but write the locks.")] = False,
    upgrade: Annotated[bool, typer.Option("--upgrade", help="Resolve every input anew.")] = False,
    upgrade_input: Annotated[
        list[str] | None,
        typer.Option("--upgrade-input", metavar="INPUT", help=f"Resolve one input anew: {', '.join(INPUTS)}."),
    ] = None,
    offline: common.Offline = False,
    store: common.StorePath = None,
    engine: common.Engines = EngineName.AUTO,
    project: common.ProjectPath = None,
    as_json: common.AsJson = False,
) -> None:
    """Lock tasks: resolve, build, run the gates, write the lock when all pass.

    What an existing lock pins stays pinned; a second lock changes no byte.

    Examples:

        nanobench lock tomlkit-0.15.2

        nanobench lock --check

        nanobench lock unidiff-1.0.1 --upgrade-input python --dry-run
    """
    found = common.project(project)
    if check:
        _check(found, tasks or _published(found), as_json=as_json)
        return
    if not tasks:
        raise Misuse("NB_USAGE", "name at least one task", hint=f"known tasks: {', '.join(found.task_ids())}")
    inputs = _inputs(upgrade, upgrade_input or [])
    bench = common.workbench(store, engine)
    outcomes = []
    for task in tasks:
        with common.network(offline=offline) as online:
            outcome = lock_task(found, task, upgrade=inputs, online=online, bench=bench, dry_run=dry_run)
        if not dry_run:
            keep(current(found, task), bench.store)
        outcomes.append(outcome)
        if not as_json:
            common.show(None, _text(outcome, dry_run=dry_run), as_json=False)
    if as_json:
        common.show({outcome.task: _document(outcome) for outcome in outcomes}, "", as_json=True)


def _inputs(upgrade: bool, named: Iterable[str]) -> tuple[str, ...]:
    unknown = sorted(set(named) - set(INPUTS))
    if unknown:
        raise Misuse(
            "NB_USAGE", f"no input {unknown[0]!r}", where="--upgrade-input", hint=f"one of {', '.join(INPUTS)}"
        )
    return INPUTS if upgrade else tuple(named)


def _document(outcome: LockOutcome) -> Document:
    gates = {
        j.name: {"verdict": j.finding.verdict, "evidence_sha256": j.verdict.evidence_sha256} for j in outcome.judged
    }
    tests = outcome.lock.tests
    return {
        "image": outcome.lock.image.manifest_digest,
        "gates": gates,
        "fail_to_pass": len(tests.fail_to_pass),
        "pass_to_pass": len(tests.pass_to_pass),
        "written": list(outcome.written),
    }


def _text(outcome: LockOutcome, *, dry_run: bool) -> str:
    tests = outcome.lock.tests
    verb = "would write" if dry_run else "wrote"
    return "\n".join(
        (
            f"{outcome.task}: locked",
            *(f"  {line}" for j in outcome.judged for line in j.lines()),
            *_upstream(outcome.lock.source.upstream),
            f"  image {outcome.lock.image.manifest_digest}",
            f"  {len(tests.fail_to_pass)} tests must turn green, {len(tests.pass_to_pass)} must stay green",
            *(f"  {verb} {name}" for name in outcome.written),
            *(("  no byte changed",) if not outcome.written else ()),
        )
    )


def _upstream(found: LockedUpstream | None) -> tuple[str, ...]:
    if found is None:
        return ()
    return (f"  merge {found.merge.commit} of {found.merged_at} ({found.identity}) onto {found.base.commit}",)


def _published(project: Project) -> tuple[str, ...]:
    """What must be current: every lock there is, and every member of the dataset. Other tasks may wait for theirs."""
    return tuple(sorted({*project.locked_ids(), *project.members()}))


def _check(project: Project, tasks: Iterable[str], *, as_json: bool) -> None:
    verdicts = {task: _reasons(project, task) for task in tasks}
    stale = {task: reasons for task, reasons in verdicts.items() if reasons}
    lines = []
    for task, reasons in verdicts.items():
        lines += [f"{task}: {'stale' if reasons else 'current'}", *(f"  - {reason}" for reason in reasons)]
    if stale:
        lines.append(f"  → nanobench lock {' '.join(stale)}")
    document = {task: {"current": not reasons, "reasons": list(reasons)} for task, reasons in verdicts.items()}
    common.show(document, "\n".join(lines), as_json=as_json)
    if stale:
        raise typer.Exit(1)


def _reasons(project: Project, task: str) -> tuple[str, ...]:
    """Why a task's lock is not current; a spec or lock that cannot be read is a reason like any other."""
    try:
        if not project.has_lock(TaskLock, task):
            return (f"locks/{task}.lock.toml: missing",)
        return stale_reasons(project, project.lock(TaskLock, task).value)
    except NanobenchError as error:
        return (str(error).replace("\n", "; "),)
