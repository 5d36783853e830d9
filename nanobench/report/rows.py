"""A row for every planned cell of some bundles: its result, if there is one, and what its task's lock says of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from nanobench.bundle.read import Bundle
from nanobench.bundle.write import MANIFEST, RUN, cell_name
from nanobench.errors import MAX_DETAILS, Misuse, Refused
from nanobench.formats.converter import structure
from nanobench.formats.digest import sha256_hex
from nanobench.formats.documents import dump_json
from nanobench.model.lock import TaskLock
from nanobench.model.result import Cell, CellResult, Mode
from nanobench.model.task import Task
from nanobench.scoring.tally import counts

RUN_DIGITS = 12
"""So many digits of a run's sha256 are its name."""


@frozen(kw_only=True)
class Facts:
    """What figures group a task by, from its lock: None is unknown (an older lock, or one of a stranger's making).
    ``tokens`` is the estimate over its required files."""

    task: str
    tokens: int | None = None
    spec: Task | None = None


@frozen(kw_only=True)
class Arm:
    """What tasks were run with: all that a cell names beside task and repeat, and the run (a bundle's name) that it
    stands in."""

    run: str
    provider: str
    model: str
    profile: str | None
    harness: str
    mode: Mode


@frozen(kw_only=True)
class Row:
    """One planned cell. ``result`` is None where the bundle holds none: the cell was planned and not found."""

    run: str
    cell: Cell
    facts: Facts
    result: CellResult | None

    @property
    def counts(self) -> bool:
        """Is it part of the rates?"""
        return self.result is not None and counts(self.result)

    @property
    def arm(self) -> Arm:
        """What the cell was run with."""
        cell = self.cell
        return Arm(
            run=self.run,
            provider=cell.provider,
            model=cell.model,
            profile=cell.profile,
            harness=cell.harness,
            mode=cell.mode,
        )


def run_sha256(bundle: Bundle) -> str:
    """What a bundle is known by, wherever it lies: the sha256 of its manifest's bytes."""
    return sha256_hex(dump_json(bundle.manifest))


def run_name(bundle: Bundle) -> str:
    """A bundle's name in reports."""
    return run_sha256(bundle)[:RUN_DIGITS]


def gather(bundles: Sequence[Bundle]) -> tuple[Row, ...]:
    """A row a planned cell, by bundle as given and in the order of its plan.

    Raises:
        Misuse: ``NB_TWICE`` when a bundle is given twice.
        Refused: ``NB_RECORD_TWICE`` when a plan names a cell twice, ``NB_NO_CELLS`` when it names none; a file is not
            what the manifest says, or not what it should be.
    """
    names = [run_name(bundle) for bundle in bundles]
    for name in names:
        if names.count(name) > 1:
            where = str(bundles[names.index(name)].root)
            raise Misuse("NB_TWICE", "the same bundle is given twice", where=where, hint=f"{MANIFEST} is the same")
    return tuple(row for name, bundle in zip(names, bundles, strict=True) for row in _rows(name, bundle))


def _rows(run: str, bundle: Bundle) -> list[Row]:
    _check_plan(bundle)
    tasks = dict.fromkeys(cell.task for cell in bundle.run.cells)
    facts = {task: facts_of(bundle.task_lock(task).value) for task in tasks}
    return [
        Row(run=run, cell=cell, facts=facts[cell.task], result=_result(bundle, cell)) for cell in bundle.run.cells
    ]


def _check_plan(bundle: Bundle) -> None:
    """A cell that stands in a plan twice would be counted twice, and of none no figure can be given."""
    where, hint = f"{bundle.root}/{RUN}", "nanobench verify says what else is wrong with this bundle"
    twice = [cell.id for cell, times in Counter(bundle.run.cells).items() if times > 1]
    if twice:
        details = tuple(twice[:MAX_DETAILS])
        raise Refused("NB_RECORD_TWICE", "a cell stands twice in the plan", where=where, details=details, hint=hint)
    if not bundle.run.cells:
        raise Refused("NB_NO_CELLS", "no cell was planned, so there is nothing to report", where=where, hint=hint)


def _result(bundle: Bundle, cell: Cell) -> CellResult | None:
    return bundle.result(cell) if cell_name(cell.id) in bundle.manifest.files else None


def facts_of(lock: TaskLock) -> Facts:
    """What a lock says of its task."""
    try:
        spec = structure(lock.original, Task, where=lock.task)
    except Refused:  # written for another version of the task's schema
        spec = None
    return Facts(task=lock.task, tokens=lock.source.token_estimate, spec=spec)
