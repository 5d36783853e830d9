"""Every limit holds, and the machine does not notice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from nanobench.sandbox.interface import Ended

FILL = """
import os, sys
with open(sys.argv[1], "wb", buffering=0) as file:
    while file.write(bytes(1 << 20)): pass
"""


@pytest.mark.every_user
def test_an_endless_loop_ends_at_the_time_limit(bench: Any) -> None:
    ran = bench.run("sh", "-c", "echo begun; while :; do :; done", seconds=1)
    assert (ran.finished.ended, ran.finished.exit_code, ran.out) == (Ended.TIME, 137, "begun\n")
    assert ran.finished.cpu_ms > 100


@pytest.mark.every_user
def test_a_fork_bomb_stops_at_the_process_limit(bench: Any) -> None:
    program = """
import os, sys, time
made = 0
try:
    while True:
        if os.fork() == 0: time.sleep(1000)
        made += 1
except BlockingIOError: print(made)
"""
    ran = bench.python(program, pids=20, seconds=30)
    assert ran.finished.ended is Ended.EXITED
    assert 10 <= int(ran.out) < 20


def test_sandboxes_do_not_share_the_count_of_processes(bench: Any, signals: Any) -> None:
    """The limit is counted in the sandbox's user namespace, not over all that the host's user runs."""
    hold = "for i in 1 2 3 4 5; do sleep 1000 & done; echo > /nanobench/there; cat /nanobench/go"
    with ThreadPoolExecutor(1) as pool:
        held = bench.request("sh", "-c", hold, pids=8, mounts=signals.mounts, stdout=bench.place / "held")
        running = pool.submit(bench.engine.run, held)
        signals.await_command()
        ran = bench.run("sh", "-c", "sleep 0 & sleep 0 & sleep 0 & wait; echo ok", pids=8)
        signals.let_go()
        assert running.result().exit_code == 0
    assert ran.out == "ok\n"


def test_a_memory_hog_is_stopped(bench: Any) -> None:
    program = "import os\nx = []\nwhile True: x.append(os.urandom(1) * (8 << 20))"
    ran = bench.python(program, memory_mib=200)
    assert (ran.finished.ended, ran.finished.exit_code) == (Ended.MEMORY, 137)
    assert ran.finished.peak_mib >= 200


def test_the_runners_own_memory_is_not_counted(bench: Any) -> None:
    """A process's largest size counts what it was before it became another program: a copy of who started it."""
    ballast = b"x" * (300 << 20)
    ran = bench.run("true")
    assert ran.finished.peak_mib < 100 < len(ballast) >> 20


def test_a_memory_hog_that_hides_from_debuggers_is_stopped(bench: Any) -> None:
    """A process that is not dumpable is closed to its host user, but not to the namespace's owner."""
    program = "import ctypes, time\nctypes.CDLL(None).prctl(4, 0)\nx = b'x' * (400 << 20)\ntime.sleep(1000)"
    assert bench.python(program, memory_mib=200, seconds=50).finished.ended is Ended.MEMORY


@pytest.mark.every_user
def test_memory_of_many_processes_is_summed(bench: Any) -> None:
    program = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        x = bytearray(b"x" * (60 << 20))
        time.sleep(1000)
time.sleep(1000)
"""
    assert bench.python(program, memory_mib=300).finished.ended is Ended.MEMORY


def test_shared_pages_are_counted_once(bench: Any) -> None:
    program = """
import os, time
x = b"x" * (100 << 20)
children = [os.fork() or time.sleep(0.5) or os._exit(0) for _ in range(6)]
print([os.waitpid(child, 0)[1] for child in children])
"""
    ran = bench.python(program, memory_mib=300)
    assert (ran.finished.ended, ran.out) == (Ended.EXITED, "[0, 0, 0, 0, 0, 0]\n")


def test_memory_without_a_name_is_counted(bench: Any) -> None:
    program = """
import os, time
fd = os.memfd_create("hidden")
for _ in range(400): os.write(fd, bytes(1 << 20))
time.sleep(1000)
"""
    assert bench.python(program, memory_mib=200, seconds=50).finished.ended is Ended.MEMORY


@pytest.mark.every_user
def test_tmp_home_and_shared_memory_are_full_at_their_size(bench: Any) -> None:
    for place in ("/tmp", "/home/agent", "/dev/shm"):
        ran = bench.run("python3", "-c", FILL, f"{place}/x", disk_mib=64, memory_mib=256)
        assert ran.finished.ended is Ended.EXITED
        assert "No space left on device" in ran.err


@pytest.mark.every_user
def test_a_workspace_that_grows_beyond_the_limit_ends_the_run(bench: Any) -> None:
    program = "import os\nwhile True: os.write(os.open(os.urandom(8).hex(), os.O_CREAT | os.O_RDWR), bytes(1 << 20))"
    ran = bench.python(program, disk_mib=40)
    assert (ran.finished.ended, ran.finished.exit_code) == (Ended.DISK, 137)


def test_deleted_files_that_are_held_open_count(bench: Any) -> None:
    program = """
import os, time
fd = os.open("x", os.O_CREAT | os.O_WRONLY); os.unlink("x")
for _ in range(100): os.write(fd, bytes(1 << 20))
time.sleep(1000)
"""
    assert bench.python(program, disk_mib=40, seconds=50).finished.ended is Ended.DISK


def test_files_behind_a_closed_directory_count(bench: Any) -> None:
    program = """
import os, time
os.mkdir("d")
fd = os.open("d/x", os.O_CREAT | os.O_WRONLY)
os.chmod("d", 0)
for _ in range(100): os.write(fd, bytes(1 << 20))
os.fsync(fd)
time.sleep(1000)
"""
    ran = bench.python(program, disk_mib=40, seconds=50)
    (bench.workspace / "d").chmod(0o700)
    assert ran.finished.ended is Ended.DISK


def test_what_was_written_just_before_the_end_counts(bench: Any) -> None:
    ran = bench.python("import os; os.write(1, bytes(3 << 20))", output_mib=1)
    assert (ran.finished.ended, ran.finished.exit_code) == (Ended.DISK, 0)
    assert (bench.place / "out").stat().st_size == 1 << 20


def test_endless_output_is_stopped_and_cut(bench: Any) -> None:
    ran = bench.run("sh", "-c", "yes >&2", output_mib=1)
    assert ran.finished.ended is Ended.DISK
    assert (bench.place / "err").stat().st_size == 1 << 20


@pytest.mark.every_user
def test_the_limits_that_are_only_watched_are_named(bench: Any) -> None:
    watched = {"disk"} if bench.engine.name == "docker" else {"cpus", "disk", "memory"}
    assert watched <= set(bench.run("true").finished.weak) <= watched | {"pids"}
