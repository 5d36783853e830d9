"""``nanobench lock``: from specs to locks, or only a look whether the locks are current."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from itertools import chain
from typing import Annotated

import typer
from attrs import frozen

from nanobench.cli import common, lock_check
from nanobench.cli.cost import Meter
from nanobench.cli.lock_results import Said, of_harness, of_task
from nanobench.cli.locked import current, keep, keep_harness
from nanobench.cli.nanocoder import HELP, OPTION, requested
from nanobench.curate.harness import lock_harness_alone
from nanobench.curate.lock import INPUTS, lock_task
from nanobench.errors import Misuse
from nanobench.image.workbench import Workbench
from nanobench.model.lock import HarnessLock
from nanobench.project.files import Project
from nanobench.sandbox.choose import EngineName

Before = Annotated[
    str | None,
    typer.Option(
        "--before",
        metavar="DATE",
        help="With --nanocoder: its dependencies are older than this (YYYY-MM-DD), which then is in the lock's name.",
    ),
]


@common.verb
def lock(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(metavar="TASK", help="Tasks to lock (--check: default all locks, and the dataset's members)."),
    ] = None,
    nanocoder: Annotated[
        list[str] | None, typer.Option(OPTION, metavar="X", help=f"{HELP}. Locks the harness alone.")
    ] = None,
    before: Before = None,
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
        return lock_check.check(found, tasks or [], nanocoder or [], as_json=as_json)
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
    documents = {}
    for said in chain(map(errand.harness, nanocoder or []), map(errand.task, tasks or [])):
        documents[said.name] = said.document
        if not as_json:
            common.show(None, said.text, as_json=False)
    if as_json:
        common.show(documents, "", as_json=True)


@frozen(kw_only=True)
class _Errand:
    """How each lock is made."""

    project: Project
    before: str | None
    upgrade: tuple[str, ...]
    bench: Workbench
    offline: bool
    dry_run: bool

    def harness(self, asked: str) -> Said:
        """Lock a harness alone."""
        name, request = requested(self.project, asked, self.before, self.bench.store)
        with common.network(offline=self.offline) as online:
            outcome = lock_harness_alone(
                self.project,
                name,
                request,
                upgrade=self.upgrade,
                online=online,
                bench=self.bench,
                dry_run=self.dry_run,
            )
        if not self.dry_run:
            keep_harness(self.project.lock(HarnessLock, outcome.lock.name), self.bench.store)
        return of_harness(outcome, dry_run=self.dry_run)

    def task(self, task: str) -> Said:
        """Lock a task, and its environment and harness with it."""
        meter = Meter.begin(self.bench)
        with common.network(offline=self.offline) as online:
            outcome = lock_task(
                self.project, task, upgrade=self.upgrade, online=online, bench=meter.bench, dry_run=self.dry_run
            )
        common.say(meter.cost(outcome))
        if not self.dry_run:
            keep(current(self.project, task), self.bench.store)
        return of_task(outcome, dry_run=self.dry_run)


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
