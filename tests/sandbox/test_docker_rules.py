"""The rules of the Docker engine that need no daemon."""

from __future__ import annotations

import errno
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import MachineFailure
from nanobench.sandbox.choose import EngineName, engine_named, untried_engine
from nanobench.sandbox.docker import Docker
from nanobench.sandbox.docker_account import _group_of
from nanobench.sandbox.docker_daemon import address_of, unsuitable, weak
from nanobench.sandbox.docker_inside import command, misplaced
from nanobench.sandbox.docker_seccomp import profile
from nanobench.sandbox.docker_stream import hijack
from nanobench.sandbox.interface import Mount, Request, SandboxLimits
from nanobench.sandbox.seccomp import refused_calls
from nanobench.store.store import Store

FINE: dict[str, Any] = {
    "OSType": "linux",
    "SecurityOptions": ["name=seccomp,profile=default", "name=cgroupns"],
    "CPUSet": True,
    "MemoryLimit": True,
    "SwapLimit": True,
    "PidsLimit": True,
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_a_good_daemon_has_no_problem_and_watches_the_disk_only() -> None:
    assert unsuitable(FINE, 0) == unsuitable(FINE, 1000) == ()
    assert weak(FINE, swaps=True) == ("disk",)


@pytest.mark.parametrize(
    ("facts", "uid", "words"),
    [
        ({"OSType": "windows"}, 0, "runs windows containers"),
        ({"SecurityOptions": ["name=seccomp", "name=rootless"]}, 0, "maps users (rootless)"),
        ({"SecurityOptions": ["name=userns"]}, 0, "maps users (userns)"),
        ({}, 1001, "user 1001 cannot give workspaces"),
    ],
)
def test_a_daemon_that_cannot_be_used_is_told_so(facts: dict[str, Any], uid: int, words: str) -> None:
    (problem,) = unsuitable(FINE | facts, uid)
    assert words in problem


@pytest.mark.parametrize(
    ("facts", "swaps", "limit"),
    [
        ({"CPUSet": False}, False, "cpus"),
        ({"MemoryLimit": False}, False, "memory"),
        ({"SwapLimit": False}, True, "memory"),
        ({"PidsLimit": False}, False, "pids"),
        ({"SecurityOptions": None}, False, "system calls"),
    ],
)
def test_a_limit_that_the_kernel_does_not_keep_is_named(facts: dict[str, Any], swaps: bool, limit: str) -> None:
    assert set(weak(FINE | facts, swaps=swaps)) == {"disk", limit}


def test_without_swap_space_nothing_spills() -> None:
    assert weak(FINE | {"SwapLimit": False}, swaps=False) == ("disk",)


def test_no_daemon_and_a_daemon_elsewhere_are_told_apart(store: Store, tmp_path: Path) -> None:
    assert "no Docker daemon listens at" in Docker(store, address=str(tmp_path / "none")).check()[0]
    assert "cannot mount workspaces" in Docker(store, address="tcp://127.0.0.1:2375").check()[0]
    assert address_of({"DOCKER_HOST": "unix:///x"}) == "unix:///x"
    assert address_of({}) == "/var/run/docker.sock"


@pytest.mark.skipif(os.geteuid() == 0, reason="no socket is closed to root")
def test_a_socket_closed_to_us_is_told_so(store: Store, tmp_path: Path) -> None:
    (tmp_path / "sock").touch(mode=0)
    assert "closed to this user" in Docker(store, address=str(tmp_path / "sock")).check()[0]


def test_a_run_without_a_daemon_is_the_machines_fault_and_nothing_is_left_to_remove(
    store: Store, tmp_path: Path
) -> None:
    engine = Docker(store, address=str(tmp_path / "none"))
    with pytest.raises(MachineFailure, match="NB_ENGINE"):
        engine.run(request(tmp_path))
    assert engine.leftovers() == engine.sweep() == engine.forget() == ()


def test_the_engine_is_chosen_by_name_and_bubblewrap_comes_first(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    assert {engine_named(name, store).name for name in (EngineName.AUTO, EngineName.BUBBLEWRAP)} == {"bubblewrap"}
    with pytest.raises(MachineFailure, match="NB_NO_ENGINE: the engine docker does not work here") as failure:
        engine_named(EngineName.DOCKER, store)
    assert "docker: no Docker daemon listens" in failure.value.details[0]
    assert untried_engine(EngineName.DOCKER, store).name == "docker"


def test_auto_takes_docker_when_bubblewrap_does_not_work_and_names_both_when_none_does(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nanobench.sandbox.choose.Bubblewrap.check", lambda _: ("forbidden",))
    monkeypatch.setattr("nanobench.sandbox.docker.Docker.check", lambda _: ())
    assert engine_named(EngineName.AUTO, store).name == "docker"
    monkeypatch.setattr("nanobench.sandbox.docker.Docker.check", lambda _: ("absent",))
    with pytest.raises(MachineFailure) as failure:
        engine_named(EngineName.AUTO, store)
    assert failure.value.details == ("bubblewrap: forbidden", "docker: absent")


def request(place: Path, *argv: str, **changes: Any) -> Request:
    defaults: dict[str, Any] = {
        "layers": (place,),
        "argv": argv or ("true",),
        "limits": SandboxLimits(cpus=1, memory_mib=64, pids=8, disk_mib=8, seconds=1),
        "stdout": place / "out",
        "stderr": place / "err",
    }
    return Request(**(defaults | changes))


def test_a_command_with_an_equals_sign_is_no_assignment(tmp_path: Path) -> None:
    words = command(request(tmp_path, "a=b", "c"))
    assert words[-6:] == ["/bin/sh", "-c", 'exec "$@"', "sh", "a=b", "c"]


def test_the_command_has_the_fixed_environment_the_requests_and_no_other(tmp_path: Path) -> None:
    words = command(request(tmp_path, "x", env={"B": "=", "HOME": "/h"}, cwd="/w"))
    settings = words[words.index("-i") + 1 : -1]
    assert {"B==", "HOME=/h", "PWD=/w"} <= set(settings)
    assert settings == sorted(settings)


@pytest.mark.parametrize(
    ("target", "there"),
    [
        ("/workspace", True),
        ("/nanobench/any/where", True),
        ("/usr/lib", True),
        ("/usr/none", False),
        ("/outer/inner", True),
        ("/outer/none", False),
        ("/workspacer", False),
    ],
)
def test_a_mount_needs_a_place_in_the_image_or_in_another_mount(tmp_path: Path, target: str, there: bool) -> None:
    (tmp_path / "layer" / "usr" / "lib").mkdir(parents=True)
    (tmp_path / "layer" / "outer").mkdir()
    (tmp_path / "source" / "inner").mkdir(parents=True)
    mounts = (Mount(source=tmp_path / "source", target="/outer"), Mount(source=tmp_path, target=target))
    asked = request(tmp_path, layers=(tmp_path / "layer",), mounts=mounts)
    assert misplaced(asked) == (None if there else target)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_refuses_what_bubblewraps_refuses(machine: str) -> None:
    rules = json.loads(profile(machine))["syscalls"]
    refused = {
        name for rule in rules for name in rule["names"] if rule["errnoRet"] == errno.EPERM and not rule["args"]
    }
    assert refused == set(refused_calls(machine))
    families = [rule["args"][0] for rule in rules if rule["names"] == ["socket"]]
    closed = {each["value"] for each in families if each["op"] == "SCMP_CMP_EQ"}
    assert set(range(17)) - closed == {1, 2, 10, 16}
    assert [each["value"] for each in families if each["op"] == "SCMP_CMP_GT"] == [16]


def test_an_unknown_machine_has_no_filter() -> None:
    assert profile("riscv64") == "unconfined"


def test_accounts_are_found_under_both_versions_of_control_groups() -> None:
    old = _group_of("9:name=systemd:/d/x\n8:pids:/d/x\n4:memory:/d/x\n3:cpu,cpuacct:/d/y\n0::/\n")
    assert str(old.memory).endswith("/memory/d/x/memory.oom_control")
    assert str(old.cpu).endswith("/cpuacct/d/y/cpuacct.usage")
    new = _group_of("0::/system.slice/docker-x.scope\n")
    assert str(new.memory).endswith("/system.slice/docker-x.scope/memory.events")
    assert str(new.cpu).endswith("/system.slice/docker-x.scope/cpu.stat")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[tuple[str, list[bytes]]]:
    """A socket that answers one request with these pieces, then ends."""
    pieces: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
        server.listen()

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                for piece in pieces:
                    connection.sendall(piece)

        thread = threading.Thread(target=answer)
        thread.start()
        yield str(tmp_path / "sock"), pieces
        thread.join()


def test_what_comes_along_with_the_head_is_not_lost(daemon: tuple[str, list[bytes]]) -> None:
    address, pieces = daemon
    frames = b"\1\0\0\0\0\0\0\6ready\n\2\0\0\0\0\0\0\3oh\n"
    pieces += [b"HTTP/1.1 101 UPGRADED\r\nUpgrade: tcp\r\n\r\n" + frames[:9], frames[9:]]
    stream = hijack(address, "/x", {})
    while not stream.ended(10):
        pass
    assert stream.said == "ready\noh"
    stream.close()


def test_a_refusal_is_told_in_the_daemons_words(daemon: tuple[str, list[bytes]]) -> None:
    address, pieces = daemon
    pieces.append(b'HTTP/1.1 409 Conflict\r\n\r\n{"message":"it is paused"}')
    with pytest.raises(MachineFailure, match=r"409 Conflict.*it is paused"):
        hijack(address, "/x", {})


def test_a_flood_is_not_kept(daemon: tuple[str, list[bytes]]) -> None:
    address, pieces = daemon
    pieces += [b"HTTP/1.1 101 UPGRADED\r\n\r\n", b"\1\0\0\0\0\1\0\0" + b"x" * 65536, b"y" * (1 << 20)]
    stream = hijack(address, "/x", {})
    while not stream.ended(10):
        pass
    assert len(stream._data) == 64 << 10
    stream.close()
