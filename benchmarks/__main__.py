"""``python -m benchmarks``: the table of all figures on stdout, or the same as JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attrs import asdict

from benchmarks import cell, containers, errands, gates, matrix, packing, phases, report, sandbox
from benchmarks.measure import Place, Row, machine, staged
from nanobench.cli import common
from nanobench.formats import json

BENCHMARKS: dict[str, Callable[[Place], Iterator[Row]]] = {
    "sandbox": sandbox.rows,
    "cell": cell.rows,
    "matrix": matrix.rows,
    "packing": packing.rows,
    "docker": containers.rows,
    "errands": errands.rows,
    "gates": gates.rows,
    "phases": phases.rows,
    "report": report.rows,
}
TASKS = ("unidiff-1.0.1", "tomlkit-0.15.2")


def main(arguments: list[str]) -> None:
    """Run the chosen benchmarks and print their rows."""
    asked = parser().parse_args(arguments)
    place = _place(asked.store, asked.repeats)
    before, rows = machine(), []
    for name in asked.benchmark or BENCHMARKS:
        common.say(f"measuring: {name}")
        rows += list(BENCHMARKS[name](place))
    facts = {**before, "load_after": machine()["load"]}
    document = {"machine": facts, "rows": [_document(row) for row in rows]}
    sys.stdout.write(json.pretty(document).decode() if asked.json else table(facts, rows))


def table(facts: dict[str, Any], rows: list[Row]) -> str:
    """The rows for people's eyes."""
    cells = [("what", "figure", "yardstick", "ratio", "aim"), *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(5)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells
    ]
    machine_line = ", ".join(f"{key} {value}" for key, value in facts.items())
    return "\n".join((machine_line, "", lines[0], "-" * len(lines[0]), *lines[1:], ""))


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    beside = f"{_figure(row.against, row.unit)} ({row.yardstick})" if row.against is not None else ""
    ratio = f"{row.ratio:.2f}" if row.ratio is not None else ""
    aim = ""
    if row.aim is not None:
        most = _figure(row.aim, row.unit) if row.aim_of == "value" else f"ratio {row.aim:g}"
        aim = f"at most {most}: {'met' if row.met else 'MISSED'}"
    return row.name, _figure(row.value, row.unit), beside, ratio, aim


def _figure(value: float, unit: str) -> str:
    digits = {"s": 3 if value < 10 else 1, "MiB": 1}.get(unit, 0)
    return f"{value:.{digits}f} {unit}"


def _document(row: Row) -> dict[str, Any]:
    return {**asdict(row), "ratio": row.ratio, "met": row.met}


def _place(store: Path | None, repeats: int) -> Place:
    project, bench = common.project(None), common.workbench(store)
    stages = {name: staged(name, project, bench) for name in TASKS}
    return Place(project=project, bench=bench, stages=stages, repeats=repeats)


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("benchmark", nargs="*", type=_named, help=f"some of {', '.join(BENCHMARKS)} (default: all)")
    options.add_argument("--json", action="store_true", help="the same figures as JSON")
    options.add_argument("--store", type=Path, help="the content store, as for nanobench")
    options.add_argument("--repeats", type=int, default=5, help="runs that a median is of (default: 5)")
    return options


def _named(name: str) -> str:
    if name not in BENCHMARKS:
        raise argparse.ArgumentTypeError(f"no benchmark {name!r}")
    return name


if __name__ == "__main__":
    main(sys.argv[1:])
