"""Nothing reaches the host: attempts from inside."""

from __future__ import annotations

import platform
import socket
from pathlib import Path
from typing import Any

import pytest

from nanobench.sandbox.interface import Mount


@pytest.mark.every_user
def test_a_port_of_the_host_is_out_of_reach(bench: Any) -> None:
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        addresses = {"127.0.0.1", socket.gethostbyname(socket.gethostname())}
        program = f"""
import socket
for address in {sorted(addresses)!r}:
    try: socket.create_connection((address, {port}), 5); print("connected to", address)
    except OSError as error: print(error.strerror)
"""
        ran = bench.python(program)
    assert set(ran.out.split("\n")[:-1]) <= {"Connection refused", "Network is unreachable"}
    assert ran.finished.exit_code == 0


def test_a_socket_to_the_hypervisor_cannot_be_made(bench: Any) -> None:
    ran = bench.python("import socket; socket.socket(40, socket.SOCK_STREAM)")
    assert "Address family not supported" in ran.err


@pytest.mark.parametrize(
    "call",
    [
        "libc.unshare(0x10000000)",  # a user namespace
        "libc.unshare(0x20000)",  # a mount namespace
        "libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)",  # clone into a user namespace (x86-64)
        "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
        "libc.keyctl(0, -3, 0)",
        "libc.syscall(321, 0, 0, 0)",  # bpf (x86-64)
        "libc.setuid(0)",
        "libc.sethostname(b'x', 1)",
        "libc.chroot(b'/tmp')",
    ],
)
def test_what_needs_a_privilege_fails(bench: Any, call: str) -> None:
    if ("syscall" in call or "keyctl" in call) and platform.machine() != "x86_64":
        pytest.skip("numbers of another architecture")
    program = (
        f"import ctypes; libc = ctypes.CDLL(None); libc.keyctl = lambda *a: libc.syscall(250, *a); print({call})"
    )
    assert bench.python(program).out == "-1\n"


@pytest.mark.every_user
def test_hosts_home_secrets_and_processes_are_not_there(
    bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET", "planted")
    (tmp_path / "key").write_text("planted")
    ran = bench.run("sh", "-c", f"env; ls -d {tmp_path} {Path.home()}; ls -A /home; cat /proc/*/environ")
    assert "SECRET" not in ran.out
    assert "planted" not in ran.out
    assert ran.err.count("No such file or directory") >= 2
    assert "agent\n" in ran.out


def test_a_setuid_program_of_the_image_gives_nothing(bench: Any) -> None:
    program = """
import os, shutil, subprocess
shutil.copy("/usr/bin/id", "/workspace/id"); os.chmod("/workspace/id", 0o6755)
subprocess.run(["/workspace/id", "-u"])
"""
    assert bench.python(program).out == "1000\n"


def test_a_read_only_mount_stays_so_and_a_file_can_be_mounted(bench: Any, place: Path) -> None:
    (place / "file").write_text("hello\n")
    mount = Mount(source=place / "file", target="/nanobench/deep/file")
    ran = bench.run("sh", "-c", "cat /nanobench/deep/file; echo x > /nanobench/deep/file", mounts=(mount,))
    assert ran.out == "hello\n"
    assert "Read-only file system" in ran.err
    assert (place / "file").read_text() == "hello\n"


def test_mounts_within_mounts_do_not_depend_on_their_order(bench: Any, place: Path) -> None:
    for name in ("outer/inner", "other"):
        (place / name).mkdir(parents=True)
    (place / "other" / "file").touch()
    mounts = (
        Mount(source=place / "other", target="/nanobench/out/inner"),
        Mount(source=place / "outer", target="/nanobench/out"),
    )
    assert bench.run("ls", "/nanobench/out/inner", mounts=mounts).out == "file\n"


def test_upper_layers_hide_lower_ones_and_none_can_be_written(bench: Any, place: Path) -> None:
    upper = place / "upper"
    for tree, text in ((bench.layer, "lower"), (upper, "upper")):
        (tree / "etc").mkdir(parents=True, exist_ok=True)
        (tree / "etc" / "who").write_text(text)
    (bench.layer / "etc" / "below").write_text("below")
    bench.engine.own(upper)
    command = "cat /etc/who /etc/below; rm /etc/who; echo x > /etc/new; mkdir /etc/dir"
    ran = bench.run("sh", "-c", command, layers=(bench.layer, upper))
    assert ran.out == "upperbelow"
    assert ran.err.count("Read-only file system") == 3
    assert sorted(path.name for path in upper.rglob("*")) == ["etc", "who"]


def test_a_terminal_or_input_of_the_runner_is_not_passed_on(bench: Any) -> None:
    assert bench.run("sh", "-c", "cat; : < /dev/tty").out == ""


@pytest.mark.every_user
def test_what_is_written_belongs_to_the_workspaces_owner(bench: Any) -> None:
    bench.run("sh", "-c", "mkdir d; echo x > d/f; ln -s / d/l")
    owners = {path.lstat().st_uid for path in (bench.workspace, *bench.workspace.rglob("*"))}
    assert owners == {bench.workspace.stat().st_uid}
    assert 0 not in owners
