"""The benchmarks that take no minutes are run once on the real thing; figures are not judged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.__main__ import BENCHMARKS, parser
from benchmarks.errands import Done, sharing
from nanobench.model.fields import Digest
from nanobench.sources.interface import Pinned

ROOT = Path(__file__).parents[2]


def done(built: str, *, stored: float = 0) -> Done:
    return Done(seconds=1, peak_mib=1, built=tuple(built.split()), stored_mib=stored)


def file(number: int) -> Pinned:
    return Pinned(digest=Digest(f"sha256:{number:064x}"), size=1 << 20)


@pytest.mark.network
def test_each_benchmark_gives_its_rows(warm_store: Path) -> None:
    quick = [name for name in BENCHMARKS if name not in ("docker", "errands", "gates", "phases", "report")]
    options = ["--json", "--repeats", "1", "--store", str(warm_store)]
    command = [sys.executable, "-m", "benchmarks", *quick, *options]
    said = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    assert said["machine"]["cpus"] >= 1
    beside = ["bare bubblewrap"] * 3 + ["", "tar --sort=name | sha256sum"]
    assert [row["yardstick"] for row in said["rows"]] == beside
    assert all(row["value"] > 0 for row in said["rows"])
    assert all(row["against"] > 0 and row["ratio"] > 0 for row in said["rows"] if row["yardstick"])


def test_a_report_of_made_up_cells_is_timed_form_by_form() -> None:
    names = [row.name for row in report.of(tasks=2) if row.value > 0]
    forms = ("read and checked", "Markdown", "CSV", "JSON", "pages")
    assert names == [f"report of 40 cells: {form}" for form in forms]


def test_without_a_name_all_are_run_and_an_unknown_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert parser().parse_args([]).benchmark == []
    assert parser().parse_args(["cell", "packing"]).benchmark == ["cell", "packing"]
    with pytest.raises(SystemExit):
        parser().parse_args(["nothing"])
    assert "no benchmark 'nothing'" in capsys.readouterr().err


def test_what_a_second_task_shares_is_counted() -> None:
    first, second = done("debian python bytecode task", stored=100), done("task", stored=101)
    rows = {(row.name, row.unit): row for row in sharing((file(1), file(2)), (file(3),), first, second)}
    assert rows["second task: layers", "layers"].value == 1
    assert rows["second task: fetched", "files"].against == 2
    assert rows["second task: stored", "MiB"].value == 1
    assert rows["fetched twice", "files"].met and rows["built or packed twice", "layers"].met


def test_what_comes_twice_is_counted() -> None:
    first, second = done("debian python python task"), done("debian task")
    rows = {row.name: row for row in sharing((file(1),), (file(1), file(2)), first, second)}
    assert rows["fetched twice"].value == 1 and rows["fetched twice"].met is False
    assert rows["built or packed twice"].value == 2 and rows["built or packed twice"].met is False
