"""However a run ends, it says so rightly and leaves nothing."""

from __future__ import annotations

import os
import pickle
import select
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from nanobench.errors import MachineFailure
from nanobench.sandbox.docker import Docker
from nanobench.sandbox.interface import Ended, Engine, Mount


def descendants() -> list[str]:
    return [" ".join(process.cmdline()) for process in psutil.Process().children(recursive=True)]


@pytest.fixture(autouse=True)
def nothing_left(engine: Engine) -> Iterator[None]:
    mounts = Path("/proc/self/mountinfo").read_text()
    before, running = descriptors(engine), descendants()
    yield
    assert descendants() == running
    assert Path("/proc/self/mountinfo").read_text() == mounts
    assert descriptors(engine) <= before  # what an earlier test left open may have been closed meanwhile
    assert not isinstance(engine, Docker) or containers(engine) == []


def descriptors(engine: Engine) -> int:
    """How many are open; for Docker without sockets, of which its client keeps some for the next request."""
    names = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if exists(name)]
    return sum(not isinstance(engine, Docker) or not name.startswith("socket:") for name in names)


def exists(descriptor: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{descriptor}")


def containers(engine: Docker) -> list[str]:
    found: list[dict[str, str]] = engine._daemon.connect().api.containers(all=True)
    return [each["Id"] for each in found]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("sh", "-c", "exit 0"), 0),
        (("sh", "-c", "exit 3"), 3),
        (("sh", "-c", "exit 255"), 255),
        (("sh", "-c", "kill -TERM $$"), 143),
        (("sh", "-c", "kill -KILL $$"), 137),
        (("no-such-program",), 127),
        (("/workspace",), 126),
    ],
)
def test_the_exit_code_is_the_commands(bench: Any, command: tuple[str, ...], code: int) -> None:
    finished = bench.run(*command).finished
    assert (finished.exit_code, finished.ended) == (code, Ended.EXITED)


def test_a_directory_that_is_gone_is_the_commands_fault(bench: Any) -> None:
    assert bench.run("true", cwd="/workspace/gone").finished.exit_code == 127


def test_an_image_that_cannot_be_put_together_is_the_machines_fault(bench: Any) -> None:
    mount = Mount(source=bench.workspace, target="/no/such/place")
    words = (
        "image has no /no/such/place" if isinstance(bench.engine, Docker) else "Can't mkdir.*Read-only file system"
    )
    with pytest.raises(MachineFailure, match=rf"NB_ENGINE: sandbox: tests: .*{words}"):
        bench.run("true", mounts=(mount,), phase="tests")
    with pytest.raises(MachineFailure, match="NB_ENGINE"):
        bench.run("true", layers=(bench.place / "missing",))


def test_both_outputs_can_go_to_one_file_in_order(bench: Any) -> None:
    bench.run("sh", "-c", "echo a; echo b >&2; echo c", stderr=bench.place / "out")
    assert (bench.place / "out").read_text() == "a\nb\nc\n"


def test_the_outputs_can_be_opened_again(bench: Any) -> None:
    assert bench.run("sh", "-c", "echo a > /dev/stdout; echo b >> /proc/self/fd/1").out == "a\nb\n"


def test_a_child_in_a_session_of_its_own_dies_with_the_command(bench: Any) -> None:
    ran = bench.run("sh", "-c", "setsid sh -c 'echo > there; sleep 1000' & until [ -e there ]; do :; done; echo done")
    assert (ran.out, ran.finished.ended) == ("done\n", Ended.EXITED)


def test_cpu_time_counts_children_and_reaped_grandchildren(bench: Any) -> None:
    burn = "import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass"
    ran = bench.run("sh", "-c", 'python3 -c "$1" & (python3 -c "$1"); wait', "sh", burn)
    assert 800 <= ran.finished.cpu_ms < 5000
    assert ran.finished.wall_ms >= 400


def test_several_threads_can_run_at_once(bench: Any, place: Path) -> None:
    def run(number: int) -> str:
        out = place / f"out{number}"
        finished = bench.engine.run(bench.request("sh", "-c", f"echo {number}; exit {number}", stdout=out))
        return f"{finished.exit_code} {out.read_text()}"

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(8))) == [f"{number} {number}\n" for number in range(8)]


def test_stop_ends_all_runs_of_an_engine(bench: Any, signals: Any, another: Engine) -> None:
    engine = another
    request = bench.request("sh", "-c", "echo > /nanobench/there; sleep 1000", mounts=signals.mounts)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(engine.run, request)
        signals.await_command()
        engine.stop()
        assert running.result().ended is Ended.INTERRUPTED
    assert engine.run(bench.request("sleep", "1000")).ended is Ended.INTERRUPTED


def test_control_c_kills_waits_and_goes_up(bench: Any, signals: Any, another: Engine) -> None:
    def interrupt() -> None:
        signals.await_command()
        os.kill(os.getpid(), signal.SIGINT)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(interrupt)
        with pytest.raises(KeyboardInterrupt):
            another.run(bench.request("sh", "-c", "echo > /nanobench/there; sleep 1000", mounts=signals.mounts))


RUNNER = """
import pickle, sys
from nanobench.sandbox.bubblewrap import Bubblewrap
Bubblewrap().run(pickle.loads(bytes.fromhex(sys.argv[1])))
"""


@pytest.mark.bubblewrap
@pytest.mark.parametrize("family", [1, 2, 3, "all", "all, its launcher first"])
def test_a_killed_runner_leaves_no_process(bench: Any, signals: Any, start: Any, family: int | str) -> None:
    """``kill -9`` when there are so many processes: launcher, bubblewrap, process 1 before it is let go, all."""
    command = "setsid sleep 1000 & echo > /nanobench/there; sleep 1000"
    request = bench.request("sh", "-c", command, mounts=signals.mounts)
    runner = start(RUNNER, pickle.dumps(request).hex())
    process = psutil.Process(runner.pid)
    if isinstance(family, int):
        while len(process.children(recursive=True)) < family:
            assert runner.poll() is None
    else:
        signals.await_command()
    begun = process.children(recursive=True)
    if family == "all, its launcher first":
        begun[0].kill()
    runner.kill()
    runner.wait()
    for found in begun:
        vanish(found.pid)
    assert str(bench.place) not in "".join(map(command_line, psutil.pids()))


def vanish(pid: int) -> None:
    with suppress(ProcessLookupError):
        process = os.pidfd_open(pid)
        assert select.select([process], [], [], 30)[0], f"{command_line(pid)} lives"
        os.close(process)


def command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


def test_as_root_sources_below_a_closed_directory_work(bench: Any) -> None:
    assert bench.place.stat().st_mode & 0o777 == 0o700
    assert bench.run("ls", "-d", "/usr/bin", "/workspace").out == "/usr/bin\n/workspace\n"
