"""``nanobench gates``: run every gate again on what existing locks pin, and say what has changed since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from nanobench.cli import common
from nanobench.cli.locked import current, of_task
from nanobench.formats import json
from nanobench.formats.digest import split
from nanobench.gates.judge import Judged, judge_all
from nanobench.gates.relock import case_of, locked_inputs
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Digest
from nanobench.model.lock import GateVerdict, Verdict
from nanobench.project.files import Project
from nanobench.project.stale import changes
from nanobench.sandbox.choose import EngineName
from nanobench.store.store import Store

_RETIRE = 'a task that drifts is locked again, or retired: status = "retired" with [retired] reason and date'


@common.verb
def gates(
    tasks: Annotated[list[str], typer.Argument(metavar="TASK", help="Tasks that are locked.")],
    offline: common.Offline = False,
    store: common.StorePath = None,
    engine: common.Engines = EngineName.AUTO,
    project: common.ProjectPath = None,
    as_json: common.AsJson = False,
) -> None:
    """Run every gate again on what the locks pin; the evidence must be the locked one. Nothing is recalled.

    Examples:

        nanobench gates unidiff-1.0.1
    """
    found = common.project(project)
    bench = common.workbench(store, engine)
    drift = {task: _drift(found, task, bench, offline=offline) for task in tasks}
    lines = [line for task, verdicts in drift.items() for line in (f"{task}: {_word(verdicts)}", *_lines(verdicts))]
    document = {task: {name: list(reasons) for name, (_, reasons) in v.items()} for task, v in drift.items()}
    differing = [verdict for verdicts in drift.values() for verdict, _ in verdicts.values() if verdict != "pass"]
    common.show(document, "\n".join((*lines, *([f"  → {_RETIRE}"] if differing else []))), as_json=as_json)
    if differing:
        raise typer.Exit(1 if "fail" in differing else 3)


Drift = dict[str, tuple[Verdict, tuple[str, ...]]]


def _drift(project: Project, task: str, bench: Workbench, *, offline: bool) -> Drift:
    """Each gate: whether it says what it said, and what is different."""
    locked = current(project, task)
    with common.network(offline=offline) as online, of_task(task):
        inputs = locked_inputs(
            locked.locks, locked.harness.value, locked.statement.encode(), online=online, bench=bench
        )
    judged = {j.name: j for j in judge_all(case_of(inputs, bench=bench, afresh=True), afresh=True)}
    before = {gate.name: gate for gate in locked.task.value.gate}
    return {name: _compared(before.get(name), j, bench.store) for name, j in judged.items()}


def _compared(before: GateVerdict | None, now: Judged, store: Store) -> tuple[Verdict, tuple[str, ...]]:
    if before == now.verdict:
        return "pass", ()
    if before is None:
        return "fail", ("not in the lock",)
    if now.finding.verdict == "unknown":
        return "unknown", now.finding.reasons
    return "fail", (*now.finding.reasons, *_differences(before, now, store))


def _differences(before: GateVerdict, now: Judged, store: Store) -> Iterator[str]:
    old = Digest(f"sha256:{before.evidence_sha256}")
    if store.has(old):
        yield from changes(json.parse(store.read(old), where="evidence"), now.finding.evidence)
    else:
        yield f"evidence: locked sha256 {before.evidence_sha256}, now {split(now.evidence)[1]}"


def _word(verdicts: Drift) -> str:
    differing = sum(verdict != "pass" for verdict, _ in verdicts.values())
    return (
        f"{differing} of {len(verdicts)} gates differ" if differing else f"the same evidence of {len(verdicts)} gates"
    )


def _lines(verdicts: Drift) -> Iterator[str]:
    for name, (verdict, reasons) in verdicts.items():
        yield f"  {name:<14} {'same' if verdict == 'pass' else 'differs' if verdict == 'fail' else verdict}"
        yield from (f"    - {reason}" for reason in reasons)
