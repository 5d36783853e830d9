from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from nanobench.errors import MachineFailure, Refused
from nanobench.formats.documents import dump_json
from nanobench.model.result import Attempt, Cause, CellResult, RunManifest
from nanobench.runner.state import RunState, published_leftovers


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


def test_a_last_attempt_and_its_result_are_kept_together(
    tmp_path: Path, manifest: RunManifest, cell_result: CellResult
) -> None:
    state = RunState(tmp_path / "s", manifest)
    tries = (Attempt(number=1, cause=Cause.WIRE), Attempt(number=2, cause=Cause.FINISHED))
    state.record_attempt(manifest.cells[0], tries[0])
    result = attrs.evolve(cell_result, cell=manifest.cells[0], attempts=tries)
    state.finish(result)
    assert state.attempts(manifest.cells[0]) == tries
    with pytest.raises(Refused):
        state.finish(attrs.evolve(result, attempts=(*tries, Attempt(number=3, cause=Cause.FINISHED))))
    assert state.attempts(manifest.cells[0]) == tries


def test_only_one_process_goes_on_with_a_run(tmp_path: Path, manifest: RunManifest) -> None:
    state = RunState(tmp_path / "s", manifest)
    with state.alone(), pytest.raises(MachineFailure) as busy, RunState(tmp_path / "s", manifest).alone():
        pass
    assert busy.value.code == "NB_RUN_BUSY"
    with RunState(tmp_path / "s", manifest).alone():
        pass


def test_removed_it_leaves_nothing(tmp_path: Path, manifest: RunManifest) -> None:
    state = RunState(tmp_path / "s", manifest)
    (state.building / "half").mkdir(parents=True)
    with state.alone():
        state.remove()
    assert not list(tmp_path.iterdir())


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


def test_a_state_whose_bundle_is_there_is_left_over_unless_its_run_still_goes_on(
    tmp_path: Path, manifest: RunManifest
) -> None:
    states = {name: RunState(RunState.place(tmp_path / name), manifest) for name in ("going", "killed", "pending")}
    for name in ("going", "killed"):
        (tmp_path / name).mkdir()
    (tmp_path / "file.state").touch()
    (tmp_path / "file").mkdir()
    with states["going"].alone():
        assert published_leftovers(tmp_path) == (states["killed"].folder,)
    assert published_leftovers(tmp_path / "nowhere") == ()
