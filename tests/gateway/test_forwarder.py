"""The forwarder with the agent's own Node: a loopback port that leads to a unix socket while a command runs."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from nanobench.gateway.forwarder import forwarded
from nanobench.gateway.gateway import Gateway
from nanobench.harness.session import Seat

Start = Callable[..., "subprocess.Popen[bytes]"]
SAY_READY = "print('ready', flush=True); "
WAIT = (sys.executable, "-c", SAY_READY + "import sys; sys.stdin.read()")


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        number: int = free.getsockname()[1]
        return number


@pytest.fixture
def node(seat: Seat) -> str:
    """The Node of the locked closure, which runs the forwarder in earnest."""
    return str(seat.closure / "node/bin/node")


@pytest.fixture
def start(gateway: Gateway, node: str, port: int) -> Iterator[Start]:
    """Starts a forwarded command and waits until the command itself says that it runs."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*command: str, directory: Path = gateway.directory, ready: bool = True) -> subprocess.Popen[bytes]:
        argv = forwarded(command, node=node, directory=str(directory), port=port)
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        started.append(process)
        if ready:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def test_requests_reach_the_gateway_many_at_a_time(start: Start, port: int, chat: Any, provider: Any) -> None:
    start(*WAIT)
    provider.answer = lambda exchange: exchange.say(exchange.body["model"] * 1000)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}/v1", timeout=60) as client, ThreadPoolExecutor(8) as pool:
        answers = pool.map(
            lambda n: client.post("chat/completions", json={**chat, "model": f"m{n}_"}).text, range(24)
        )
        assert [f"m{n}_" * 1000 in answer for n, answer in enumerate(answers)] == [True] * 24


def test_it_exits_as_its_command_does_and_passes_its_streams_through(start: Start) -> None:
    process = start(sys.executable, "-c", "import sys; print(sys.stdin.read()); sys.exit(7)", ready=False)
    assert process.communicate(b"in and out")[0] == b"in and out\n"
    assert process.returncode == 7


def test_a_command_killed_by_a_signal_is_128_and_the_signal(start: Start) -> None:
    process = start(sys.executable, "-c", "import os; os.kill(os.getpid(), 9)", ready=False)
    process.communicate()
    assert process.returncode == 128 + 9


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_reaches_the_command(start: Start, number: int) -> None:
    code = "import signal, sys; signal.signal(int(sys.argv[1]), lambda *_: sys.exit(5)); "
    process = start(sys.executable, "-c", code + SAY_READY + "signal.pause()", str(int(number)))
    process.send_signal(number)
    process.communicate()
    assert process.returncode == 5


def test_a_command_that_is_not_there_is_127(start: Start) -> None:
    process = start("/no/such/command", ready=False)
    assert b"ENOENT" in process.communicate()[1]
    assert process.returncode == 127


def test_a_taken_port_is_126_and_the_command_does_not_run(start: Start, port: int, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", port)):
        process = start("touch", str(tmp_path / "ran"), ready=False)
        assert b"EADDRINUSE" in process.communicate()[1]
    assert process.returncode == 126
    assert not (tmp_path / "ran").exists()


def test_a_dead_gateway_breaks_the_connection_and_not_the_command(
    start: Start, port: int, gateway: Gateway, chat: Any
) -> None:
    process = start(*WAIT)
    gateway.close()
    for _ in range(2):
        with pytest.raises(httpx.TransportError):
            httpx.post(f"http://127.0.0.1:{port}/v1/chat/completions", json=chat)
    process.communicate(b"")
    assert process.returncode == 0


def test_a_client_that_hangs_up_is_seen_by_the_provider(
    start: Start, port: int, gateway: Gateway, chat: Any, provider: Any
) -> None:
    def answer(exchange: Any) -> None:
        exchange.start()
        while True:
            exchange.delta(content="x" * 100_000)

    start(*WAIT)
    provider.answer = answer
    with httpx.stream("POST", f"http://127.0.0.1:{port}/v1/chat/completions", json=chat) as response:
        next(response.iter_raw())
    assert provider.hung_up.wait(30)


def test_a_half_closed_connection_still_gets_its_answer(start: Start, port: int, tmp_path: Path) -> None:
    directory = tmp_path / "echo"
    directory.mkdir()
    shutil.copy(tmp_path / "gw" / "forward.cjs", directory)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.fspath(directory / "model.sock"))
        listening.listen()

        def echo() -> None:
            peer, _ = listening.accept()
            with peer, peer.makefile("rb") as reading:
                peer.sendall(reading.read()[::-1])

        thread = threading.Thread(target=echo)
        thread.start()
        start(*WAIT, directory=directory)
        with socket.create_connection(("127.0.0.1", port)) as client, client.makefile("rb") as reading:
            client.sendall(b"abc" * 100_000)
            client.shutdown(socket.SHUT_WR)
            assert reading.read() == b"cba" * 100_000
        thread.join()
