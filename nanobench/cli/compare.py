"""``nanobench compare``: did something change, and may one say so?"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from nanobench.bundle.read import Bundle, open_bundle
from nanobench.cli import common
from nanobench.cli.compared import document, text
from nanobench.errors import MAX_DETAILS, CannotTell, Misuse
from nanobench.model.result import CellResult
from nanobench.model.task import Task
from nanobench.scoring.arms import AXES, Contrasts, between, within
from nanobench.scoring.comparison import Compared
from nanobench.scoring.comparison import compare as compare_contrasts


class FailOn(StrEnum):
    """What makes the exit code 1."""

    REGRESSION = "regression"


@common.verb
def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="The bundle that is measured by.")],
    after: Annotated[Path | None, typer.Argument(metavar="B", help="The bundle that is measured.")] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="AXIS", help=f"Compare within A alone, by {', '.join(AXES)}."),
    ] = None,
    base: Annotated[
        str | None, typer.Option("--base", metavar="VALUE", help="With --by: compare with this value only.")
    ] = None,
    fail_on: Annotated[FailOn | None, typer.Option("--fail-on", help="Exit 1 when B solves less than A.")] = None,
    as_json: common.AsJson = False,
) -> None:
    """Compare two bundles over the tasks that both ran, or harnesses, models, modes or profiles of one bundle.

    Two sides differ when their intervals over runs are apart and the paired comparison over tasks is significant.
    Tasks of different locks, or of fewer runs than their tier needs, are set aside.

    Exit 0: compared. 1: with --fail-on regression, something got worse. 3: there is nothing that may be compared.

    Examples:

        nanobench compare runs/before runs/after --fail-on regression

        nanobench compare runs/releases --by harness --base nanocoder-1.29.0
    """
    _check_usage(after, by=by, base=base, fail_on=fail_on)
    bundles = [open_bundle(common.bundle(path)) for path in (before, after) if path is not None]
    tasks = {task: bundle.task(task) for bundle in bundles for task in bundle.tasks}
    contrasts = _contrasts([_results(bundle) for bundle in bundles], tasks, by=by, base=base)
    found = _compared(contrasts, tasks, as_json=as_json)
    if fail_on and any(comparison.regressed for comparison in found.comparisons):
        raise typer.Exit(1)


def _check_usage(after: Path | None, *, by: str | None, base: str | None, fail_on: FailOn | None) -> None:
    if (after is None) == (by is None):
        raise Misuse(
            "NB_USAGE",
            "give either a second bundle or --by",
            hint="nanobench compare A B, or nanobench compare A --by model",
        )
    if by is not None and by not in AXES:
        raise Misuse("NB_USAGE", f"no axis {by!r}", where="--by", hint=", ".join(AXES))
    if base is not None and by is None:
        raise Misuse("NB_USAGE", "--base goes with --by", where="--base")
    if fail_on is not None and by is not None and base is None:
        raise Misuse("NB_USAGE", "worse than what?", where="--fail-on", hint="name it with --base")


def _results(bundle: Bundle) -> list[CellResult]:
    return [bundle.result(cell) for cell in bundle.run.cells]


def _contrasts(
    runs: list[list[CellResult]], tasks: Mapping[str, Task], *, by: str | None, base: str | None
) -> Contrasts:
    """What is to be compared, of two runs or within one."""
    return between(runs[0], runs[1], tasks) if by is None else within(runs[0], tasks, axis=by, base=base)


def _compared(contrasts: Contrasts, tasks: Mapping[str, Task], *, as_json: bool) -> Compared:
    """Every comparison, shown.

    Raises:
        CannotTell: ``NB_NOT_COMPARABLE`` when there is none.
    """
    found = compare_contrasts(contrasts.found, tasks, alone=contrasts.alone)
    if not found.comparisons:
        raise _nothing(found)
    if as_json:  # one of the two alone: intervals are drawn when they are asked for
        common.show(document(found), "", as_json=True)
    else:
        common.show({}, text(found), as_json=False)
    return found


def _nothing(found: Compared) -> CannotTell:
    """Why nothing is compared, task by task."""
    reasons = [f"{task}: {reason}" for empty in found.empty for task, reason in empty.aside.items()]
    return CannotTell(
        "NB_NOT_COMPARABLE",
        "there is nothing that may be compared",
        details=tuple(dict.fromkeys([*reasons, *found.alone]))[:MAX_DETAILS],
        hint="both sides need the same locked tasks, each run as often as its tier asks: nanobench run --repeats 5",
    )
