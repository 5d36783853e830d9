"""What is said of a run's results: a line for each as it comes, and all of them at the end."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import typer

from nanobench.cli import common
from nanobench.formats.converter import unstructure
from nanobench.model.result import CellResult


def teller(cells: int) -> Callable[[CellResult], None]:
    """Says each result as it comes, of so many cells."""
    done = itertools.count(1)
    return lambda result: common.say(f"cell {next(done)} of {cells}: {_line(result)}")


def tell(results: tuple[CellResult, ...], destination: Path, *, as_json: bool) -> None:
    """Show every result, and how many cells were not measured; when none was, exit 3."""
    common.show(
        {"bundle": str(destination), "results": [unstructure(r) for r in results]},
        "\n".join((*(_line(r) for r in results), f"bundle: {destination}", f"  → nanobench verify {destination}")),
        as_json=as_json,
    )
    strange = sorted({f"{r.cell.harness}: {name}" for r in results for name in r.unknown_fields})
    if strange:
        common.say(f"reported, and unknown to the contract of the report: {', '.join(strange)}")
    unscored = Counter(result.cause.value for result in results if result.score is None)
    if unscored:
        causes = ", ".join(f"{count} {cause}" for cause, count in sorted(unscored.items()))
        common.say(f"not scored, and no part of any figure: {causes}")
    if unscored.total() == len(results):
        raise typer.Exit(3)


def _line(result: CellResult) -> str:
    cell, score = result.cell, result.score
    name = f"{cell.task} {cell.harness} {cell.provider}/{cell.model} {cell.mode} #{cell.repeat}"
    if score is None:
        return f"{name}: not scored ({result.cause.value}: {result.attempts[-1].detail})"
    tests = f"{score.targets_passed}/{score.targets} target tests, {len(score.broken)} broken"
    return f"{name}: {score.value} {score.label} ({tests}; {result.cause.value}, {result.usage.steps} steps)"
