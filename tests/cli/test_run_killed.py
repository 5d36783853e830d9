"""Runs that end by force: what they leave, what removes it, and how the same command goes on."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from nanobench.gateway.scripted.provider import ScriptedProvider
from nanobench.gateway.scripted.reply import Messages, Reply
from nanobench.image.workbench import Workbench
from nanobench.project.files import Project

IN_AGENT = """
from nanobench.gateway.scripted.provider import ScriptedProvider
answer, asked = ScriptedProvider._answer, []
async def answering(self, request):
    asked.append(1)
    return die() if len(asked) == 2 else await answer(self, request)
ScriptedProvider._answer = answering
"""
IN_TESTS = """
from nanobench.sandbox.watch import Watch
begin, look = Watch.__init__, Watch.look
def beginning(self, request, *rest):
    self.phase = request.phase
    begin(self, request, *rest)
Watch.__init__ = beginning
Watch.look = lambda self: die() if self.phase.startswith("tests:") else look(self)
"""
PUBLISHING = """
from nanobench.bundle import write
put = write._put
write._put = lambda root, name, data: die() if name == "manifest.json" else put(root, name, data)
"""
PUBLISHED = """
from nanobench.runner.state import RunState
RunState.remove = lambda self: die()
"""

TOLD = {IN_AGENT: ["cell 1 of 2"], PUBLISHING: ["cell 1 of 1"]}


@pytest.fixture
def run(start: Any, repository: Project, demo: str, tmp_path: Path, descendants: Any) -> Callable[..., Any]:
    """Two cells, one after the other, by a process of its own that ends by itself or by ``first``."""

    def ask(first: str = "") -> subprocess.CompletedProcess[str]:
        process = start(
            *("run", "--frozen", demo, "--provider", "nop", "--repeats", 2, "--jobs", 1),
            *("--out", tmp_path / "runs/bundle", "--project", repository.root),
            first=first,
            env={"DYING": str(descendants.note)},
        )
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    return ask


def test_a_run_that_is_killed_again_and_again_goes_on_each_time_and_leaves_nothing(
    run: Any, dying: str, descendants: Any, nanobench: Any, bench: Workbench, tmp_path: Path, repository: Project
) -> None:
    bundle, state = tmp_path / "runs/bundle", tmp_path / "runs/bundle.state"
    for moment in (IN_AGENT, IN_TESTS, PUBLISHING, PUBLISHED):
        killed = run(dying + moment)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert killed.stdout == ""
        # Each finished cell is told once: the first before the first kill, the second before the bundle is written.
        told = [line for line in killed.stderr.splitlines() if line.startswith("cell ")]
        assert [line.partition(":")[0] for line in told] == TOLD.get(moment, [])
        assert descendants.count() > 2 or moment in (PUBLISHING, PUBLISHED)
        assert descendants.alive() == []
        # Beside the state, with which the run goes on, there is the whole bundle or none.
        left = [state, bundle] if moment is PUBLISHED else [state]
        assert sorted((tmp_path / "runs").iterdir()) == sorted(left)
        doctor = nanobench("doctor", "--project", repository.root)
        assert doctor.code == 0, doctor.out
        assert bench.store.leftovers() == ()
    done = run()
    assert done.returncode == 0, done.stderr
    assert "cell 1 of" not in done.stderr
    assert done.stdout.count("0.0 Zero Signal") == 2
    assert list((tmp_path / "runs").iterdir()) == [bundle]
    verified = nanobench("verify", bundle, "--offline", "--project", repository.root)
    assert verified.code == 0, verified.out


@pytest.fixture
def silent() -> Iterator[Any]:
    """A model that says that it was asked, and then nothing until the test is over."""
    asked, over = threading.Event(), threading.Event()

    def script(_: Messages) -> Reply:
        asked.set()
        over.wait(120)
        return Reply(text="too late")

    with ScriptedProvider("silent", script) as provider:
        yield provider, asked
        over.set()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_130_and_leaves_no_process_and_no_scratch(
    start: Any, silent: Any, repository: Project, demo: str, tmp_path: Path, sent: signal.Signals
) -> None:
    provider, asked = silent
    process = start(
        *("run", demo, "--offline", "--provider", "silent", "--base-url", provider.upstream.base_url, "--model", "m"),
        *("--out", tmp_path / "bundle", "--project", repository.root, "--json"),
    )
    assert asked.wait(120), "the agent did not ask"
    runner = psutil.Process(process.pid)
    children = runner.children(recursive=True)
    scratch = [Path(file.path).with_suffix("") for file in runner.open_files() if "/scratch/cell-" in file.path]
    assert len(children) > 2
    assert len([path for path in scratch if path.is_dir()]) == 1
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert '"NB_INTERRUPTED"' in out
    assert "Traceback" not in err
    assert psutil.wait_procs(children, timeout=20)[1] == []
    assert not [path for path in scratch if path.exists()]
    assert [path.name for path in tmp_path.iterdir()] == ["bundle.state"]
