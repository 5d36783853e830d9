"""What is said of a run's results: a line for each as it comes, and all of them at the end."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import typer

from nanobench.cli import common
from nanobench.errors import MAX_DETAILS, Refused
from nanobench.formats.converter import unstructure
from nanobench.model.label import Labelled
from nanobench.model.result import CellResult


def teller(cells: int) -> Callable[[CellResult], None]:
    """Says each result as it comes, of so many cells."""
    done = itertools.count(1)
    return lambda result: common.say(f"cell {next(done)} of {cells}: {_line(result)}")


def tell(results: tuple[CellResult, ...], destination: Path, *, as_json: bool) -> None:
    """Show every result, and how many cells were not measured; when none was, exit 3, and 1 when there is one that no
    model has shown itself in."""
    unreal = _unreal(results)
    common.show(
        {
            "bundle": str(destination),
            "results": [unstructure(r) for r in results],
            **({"error": unreal.document()} if unreal else {}),
        },
        "\n".join((*(_line(r) for r in results), f"bundle: {destination}", *_next(destination))),
        as_json=as_json,
    )
    strange = sorted({f"{r.cell.harness}: {name}" for r in results for name in r.unknown_fields})
    if strange:
        common.say(f"reported, and unknown to the contract of the report: {', '.join(strange)}")
    unscored = Counter(result.cause.value for result in results if result.score is None)
    if unscored:
        causes = ", ".join(f"{count} {cause}" for cause, count in sorted(unscored.items()))
        common.say(f"not scored, and no part of any figure: {causes}")
    if unreal is not None:
        common.say(str(unreal))
        raise typer.Exit(unreal.exit_code)
    if unscored.total() == len(results):
        raise typer.Exit(3)


def _next(destination: Path) -> tuple[str, str]:
    return f"  → nanobench report {destination} shows it", f"  → nanobench verify {destination} checks it"


def _unreal(results: tuple[CellResult, ...]) -> Refused | None:
    """What is wrong when a real provider's cells were scored without a sign of a model."""
    marked = [result.cell.id for result in results if result.no_model_usage]
    if not marked:
        return None
    return Refused(
        "NB_NO_MODEL_USAGE",
        f"{len(marked)} of {len(results)} cells were scored, and no answer told a token that a model made",
        details=tuple(marked[:MAX_DETAILS]),
        hint="the bundle is written and the cells are marked; see that the endpoint is a model's and tells its usage",
    )


def _line(result: CellResult) -> str:
    cell, score = result.cell, result.score
    profile = f" {cell.profile}" if cell.profile else ""
    name = f"{cell.task} {cell.harness}{profile} {cell.provider}/{cell.model} {cell.mode} #{cell.repeat}"
    if score is None:
        return f"{name}: not scored ({result.cause.value}: {result.attempts[-1].detail})"
    tests = f"{score.targets_passed}/{score.targets} target tests, {len(score.broken)} broken"
    mark = ", no model usage" if result.no_model_usage else ""
    line = f"{name}: {score.value} {score.label} ({tests}; {result.cause.value}, {result.usage.steps} steps{mark})"
    return f"{line}: {_why(result.failure)}" if result.failure else line


def _why(failure: Labelled) -> str:
    """The label and what gave it; what else was seen."""
    by = f" (rule {failure.rule}, level {failure.level})" if failure.rule else ""
    return failure.label + by + "".join(f", {signal}" for signal in failure.signals)
