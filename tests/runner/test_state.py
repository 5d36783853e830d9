from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from nanobench.errors import Refused
from nanobench.formats.documents import dump_json
from nanobench.model.result import Attempt, Cause, CellResult, ProviderFacts, RunManifest
from nanobench.runner.state import RunState


@pytest.fixture
def manifest(cell_result: CellResult) -> RunManifest:
    cells = tuple(attrs.evolve(cell_result.cell, repeat=n) for n in range(3))
    provider = ProviderFacts(name="p", kind="scripted", models=("m",))
    return RunManifest(schema=1, nanobench="0", provider=provider, cells=cells)


def test_a_cell_is_pending_until_it_has_a_result(
    tmp_path: Path, manifest: RunManifest, cell_result: CellResult
) -> None:
    state = RunState(tmp_path / "state", manifest)
    first, second, third = manifest.cells
    state.record_attempt(first, Attempt(number=1, cause=Cause.WIRE))
    assert state.pending() == (first, second, third)
    state.finish(attrs.evolve(cell_result, cell=second))
    assert state.pending() == (first, third)
    assert [r.cell for r in state.results()] == [second]


def test_attempts_are_kept_and_never_overwritten(tmp_path: Path, manifest: RunManifest) -> None:
    state = RunState(tmp_path / "state", manifest)
    cell = manifest.cells[0]
    state.record_attempt(cell, Attempt(number=1, cause=Cause.WIRE, detail="gone"))
    with pytest.raises(Refused):
        state.record_attempt(cell, Attempt(number=1, cause=Cause.FINISHED))
    state.record_attempt(cell, Attempt(number=2, cause=Cause.FINISHED))
    assert [a.cause for a in RunState(state.folder, manifest).attempts(cell)] == [Cause.WIRE, Cause.FINISHED]


def test_the_state_of_another_plan_is_refused(tmp_path: Path, manifest: RunManifest) -> None:
    RunState(tmp_path / "s", manifest)
    with pytest.raises(Refused) as refusal:
        RunState(tmp_path / "s", attrs.evolve(manifest, cells=manifest.cells[:1]))
    assert refusal.value.code == "NB_RUN_DIFFERS"


def test_a_file_that_is_no_database_is_refused(tmp_path: Path, manifest: RunManifest) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "run.sqlite").write_bytes(b"x" * 5000)
    with pytest.raises(Refused, match="not a usable state"):
        RunState(tmp_path / "s", manifest)


def test_kill_9_right_after_finish_loses_nothing(
    tmp_path: Path, manifest: RunManifest, cell_result: CellResult
) -> None:
    (tmp_path / "m").write_bytes(dump_json(manifest))
    (tmp_path / "r").write_bytes(dump_json(attrs.evolve(cell_result, cell=manifest.cells[0])))
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from nanobench.formats.documents import read_json\n"
        "from nanobench.model.result import CellResult, RunManifest\n"
        "from nanobench.runner.state import RunState\n"
        "d = Path(sys.argv[1])\n"
        "s = RunState(d / 's', read_json((d / 'm').read_bytes(), RunManifest, where='m'))\n"
        "s.finish(read_json((d / 'r').read_bytes(), CellResult, where='r'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], env={**os.environ}, check=False)
    assert done.returncode == -signal.SIGKILL
    assert RunState(tmp_path / "s", manifest).pending() == manifest.cells[1:]
