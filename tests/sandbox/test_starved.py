"""A machine that others keep busy, for real, and what runs into its time limit there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from nanobench.sandbox import neighbours
from nanobench.sandbox.contention import Share
from nanobench.sandbox.interface import Ended
from nanobench.sandbox.watch import Watch

SPINNERS = 9
SPIN = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print(flush=True)
while True: pass
"""
LOOP = "while :; do :; done"
FORGED = """
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0:
            for _ in range(300000): pass
            os._exit(0)
    except BlockingIOError: pass
"""
"""Children that nobody waits for: the account of their time goes with them."""


@pytest.fixture(scope="module")
def busy() -> Iterator[None]:
    """Others, on the CPU that a sandbox gets when there is no second one; a session each, as kernels may share out
    CPUs among sessions."""
    made = [sys.executable, "-c", SPIN]
    with ExitStack() as stack:
        for _ in range(SPINNERS):
            other = stack.enter_context(subprocess.Popen(made, stdout=subprocess.PIPE, start_new_session=True))
            stack.callback(other.kill)
            assert other.stdout is not None
            other.stdout.readline()
        yield


@pytest.mark.bubblewrap
@pytest.mark.usefixtures("busy")
def test_who_gets_next_to_nothing_of_his_cpu_is_not_to_blame_and_it_is_said_why(bench: Any) -> None:
    ran = bench.run("sh", "-c", LOOP, seconds=2)
    assert ran.finished.ended is Ended.TIME
    assert ran.finished.starved.startswith("the machine was busy: of 1 CPU for ")


@pytest.mark.usefixtures("busy")
def test_who_sleeps_has_nothing_to_complain_of(bench: Any) -> None:
    ran = bench.run("sleep", "1000", seconds=2)
    assert (ran.finished.ended, ran.finished.starved) == (Ended.TIME, None)


@pytest.mark.usefixtures("busy")
def test_who_ends_in_time_has_no_excuse_either(bench: Any) -> None:
    ran = bench.run("sh", "-c", "exit 3", seconds=60)
    assert (ran.finished.ended, ran.finished.exit_code, ran.finished.starved) == (Ended.EXITED, 3, None)


@pytest.mark.bubblewrap
@pytest.mark.parametrize("command", [("sh", "-c", LOOP), ("python3", "-c", FORGED)], ids=["loop", "forged"])
def test_nobodys_own_load_is_an_excuse_on_a_machine_that_has_nothing_else_to_do(
    bench: Any, another: Any, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """Idle as far as is seen when the sandbox is dead: this machine may be anything."""
    monkeypatch.setattr(neighbours.Neighbours, "after", lambda _: Share(cpus=1, wall_ms=1000, others_ms=0))
    ran = bench.run(*command, seconds=2, pids=30)
    assert (ran.finished.ended, ran.finished.starved) == (Ended.TIME, None)


def test_every_engine_asks_when_the_time_is_up_and_only_then(
    bench: Any, another: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watch, "starved", lambda _: "the machine was busy")
    assert bench.run("sleep", "1000", seconds=1).finished.starved == "the machine was busy"
    assert bench.run("true").finished.starved is None
