"""``nanobench lock``: from specs to locks, or only a look whether the locks are current."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from functools import partial
from typing import Annotated

import typer
from attrs import frozen

from nanobench.cli import common
from nanobench.cli.cost import Meter
from nanobench.cli.locked import current, harness_reasons, keep, keep_harness, stale_reasons
from nanobench.cli.nanocoder import HELP, OPTION, locked_harness, requested
from nanobench.curate.harness import HarnessOutcome, lock_harness_alone
from nanobench.curate.lock import INPUTS, LockOutcome, lock_task
from nanobench.errors import Misuse, NanobenchError
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Document
from nanobench.model.lock import HarnessLock, TaskLock
from nanobench.model.upstream import LockedUpstream
from nanobench.project.files import Project
from nanobench.sandbox.choose import EngineName


@common.verb
def lock(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(metavar="TASK", help="Tasks to lock (--check: default all locks, and the dataset's members)."),
    ] = None,
    nanocoder: Annotated[
        list[str] | None, typer.Option(OPTION, metavar="X", help=f"{HELP}. Locks the harness alone.")
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(
            "--before", metavar="DATE", help="With --nanocoder: its dependencies are older than this (YYYY-MM-DD)."
        ),
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
    """Lock tasks or harnesses: resolve, build, run the gates, write the lock when all pass.

    What an existing lock pins stays pinned; a second lock changes no byte.

    Examples:

        nanobench lock tomlkit-0.15.2

        nanobench lock --check

        nanobench lock unidiff-1.0.1 --upgrade-input python --dry-run

        nanobench lock --nanocoder 1.29.0

        nanobench lock --nanocoder ./nanocoder.tgz --before 2026-11-28
    """
    found = common.project(project)
    if check:
        named = [locked_harness(found, asked).value.name for asked in nanocoder or []]
        if tasks or named:
            return _check(found, tasks or [], named, as_json=as_json)
        return _check(found, _published(found), found.harness_names(), as_json=as_json)
    if not tasks and not nanocoder:
        raise Misuse("NB_USAGE", "name at least one task", hint=f"known tasks: {', '.join(found.task_ids())}")
    errand = _Errand(
        project=found,
        before=_date(before, nanocoder),
        upgrade=_inputs(upgrade, upgrade_input or []),
        bench=common.workbench(store, engine),
        offline=offline,
        dry_run=dry_run,
    )
    said = {}
    for lock_one in (
        *(partial(errand.harness, asked) for asked in nanocoder or []),
        *(partial(errand.task, task) for task in tasks or []),
    ):
        name, document, text = lock_one()
        said[name] = document
        if not as_json:
            common.show(None, text, as_json=False)
    if as_json:
        common.show(said, "", as_json=True)


@frozen(kw_only=True)
class _Errand:
    """How each lock is made. What came of it: its name, a document, and words."""

    project: Project
    before: str | None
    upgrade: tuple[str, ...]
    bench: Workbench
    offline: bool
    dry_run: bool

    def harness(self, asked: str) -> tuple[str, Document, str]:
        """Lock a harness alone."""
        request = requested(self.project, asked, self.bench.store)
        with common.network(offline=self.offline) as online:
            outcome = lock_harness_alone(
                self.project,
                request,
                before=self.before,
                upgrade=self.upgrade,
                online=online,
                bench=self.bench,
                dry_run=self.dry_run,
            )
        name = outcome.lock.name
        if not self.dry_run:
            keep_harness(self.project.lock(HarnessLock, name), self.bench.store)
        return name, _harness_document(outcome), _harness_text(outcome, dry_run=self.dry_run)

    def task(self, task: str) -> tuple[str, Document, str]:
        """Lock a task, and its environment and harness with it."""
        meter = Meter.begin(self.bench)
        with common.network(offline=self.offline) as online:
            outcome = lock_task(
                self.project, task, upgrade=self.upgrade, online=online, bench=meter.bench, dry_run=self.dry_run
            )
        common.say(meter.cost(outcome))
        if not self.dry_run:
            keep(current(self.project, task), self.bench.store)
        return task, _document(outcome), _text(outcome, dry_run=self.dry_run)


def _date(before: str | None, nanocoder: list[str] | None) -> str | None:
    if before is None:
        return None
    if not nanocoder:
        raise Misuse("NB_USAGE", "--before goes with --nanocoder", where="--before")
    try:
        return date.fromisoformat(before).isoformat()
    except ValueError:
        raise Misuse("NB_USAGE", f"not a date: {before:.40}", where="--before", hint="YYYY-MM-DD") from None


def _inputs(upgrade: bool, named: Iterable[str]) -> tuple[str, ...]:
    unknown = sorted(set(named) - set(INPUTS))
    if unknown:
        raise Misuse(
            "NB_USAGE", f"no input {unknown[0]!r}", where="--upgrade-input", hint=f"one of {', '.join(INPUTS)}"
        )
    return INPUTS if upgrade else tuple(named)


def _harness_document(outcome: HarnessOutcome) -> Document:
    return {"closure": outcome.lock.closure, "written": list(outcome.written)}


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


def _harness_text(outcome: HarnessOutcome, *, dry_run: bool) -> str:
    lock = outcome.lock
    return "\n".join(
        (f"{lock.name}: locked", f"  closure {lock.closure}", *_written(outcome.written, dry_run=dry_run))
    )


def _text(outcome: LockOutcome, *, dry_run: bool) -> str:
    tests = outcome.lock.tests
    return "\n".join(
        (
            f"{outcome.task}: locked",
            *(f"  {line}" for j in outcome.judged for line in j.lines()),
            *_upstream(outcome.lock.source.upstream),
            f"  image {outcome.lock.image.manifest_digest}",
            f"  {len(tests.fail_to_pass)} tests must turn green, {len(tests.pass_to_pass)} must stay green",
            *_written(outcome.written, dry_run=dry_run),
        )
    )


def _written(names: Iterable[str], *, dry_run: bool) -> tuple[str, ...]:
    verb = "would write" if dry_run else "wrote"
    return tuple(f"  {verb} {name}" for name in names) or ("  no byte changed",)


def _upstream(found: LockedUpstream | None) -> tuple[str, ...]:
    if found is None:
        return ()
    return (f"  merge {found.merge.commit} of {found.merged_at} ({found.identity}) onto {found.base.commit}",)


def _published(project: Project) -> tuple[str, ...]:
    """What must be current: every lock there is, and every member of the dataset. Other tasks may wait for theirs."""
    return tuple(sorted({*project.locked_ids(), *project.members()}))


def _check(project: Project, tasks: Iterable[str], harnesses: Iterable[str], *, as_json: bool) -> None:
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


def _reasons(project: Project, task: str) -> tuple[str, ...]:
    """Why a task's lock is not current; a spec or lock that cannot be read is a reason like any other."""
    try:
        if not project.has_lock(TaskLock, task):
            return (f"locks/{task}.lock.toml: missing",)
        return stale_reasons(project, project.lock(TaskLock, task).value)
    except NanobenchError as error:
        return (str(error).replace("\n", "; "),)


def _harness_reasons(project: Project, name: str) -> tuple[str, ...]:
    """Why a harness's lock is not current."""
    try:
        return harness_reasons(project.lock(HarnessLock, name).value)
    except NanobenchError as error:
        return (str(error).replace("\n", "; "),)
