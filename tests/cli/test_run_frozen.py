"""``--frozen`` makes no connection, and ``lock --check`` does not even look: seen by the interpreter itself, and for
root by a network that has nothing but a loopback."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from nanobench.project.files import Project

WATCHED = """
import os, sys
seen = os.open(os.environ["SEEN"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
NAMES, CONNECTIONS = ("socket.getaddrinfo", "socket.gethostbyname"), ("socket.connect", "socket.sendto")
WRITES = ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod")
def watch(event, args):
    if event in NAMES + CONNECTIONS:
        address = args[0] if event in NAMES else args[1]
        host = address[0] if isinstance(address, tuple) else address
        os.write(seen, f"{event} {host!r}\\n".encode())
        if isinstance(address, tuple) and host != "127.0.0.1" or event in NAMES and host != "127.0.0.1":
            raise OSError(101, "no network here")
    elif event in WRITES or event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR):
        os.write(seen, f"write {event} {args[0]!r}\\n".encode())
sys.addaudithook(watch)
"""
LOOPBACK = """
import fcntl, socket, struct
with socket.socket() as it:
    fcntl.ioctl(it, 0x8914, struct.pack("16sh22x", b"lo", 0x41))
"""


def alone() -> tuple[str, ...]:
    """A command prefix that gives a process a network of its own, where that is allowed."""
    prefix = ("unshare", "--net")
    if os.geteuid() != 0 or subprocess.run([*prefix, "true"], capture_output=True).returncode != 0:
        return ()
    return prefix


@pytest.fixture
def watched(start: Any, tmp_path: Path) -> Any:
    """Run a command under watch: its process, and what was seen."""

    def run(*arguments: object, **options: Any) -> tuple[subprocess.CompletedProcess[str], list[str]]:
        seen = tmp_path / "seen"
        env = {"SEEN": str(seen), "PYTHONDONTWRITEBYTECODE": "1", **options.pop("env", {})}
        first = options.pop("first", "") + WATCHED
        process = start(*arguments, first=first, env=env, **options)
        out, err = process.communicate(timeout=300)
        done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
        return done, seen.read_text().splitlines()

    return run


def test_a_frozen_run_connects_to_nothing_but_its_own_loopback(
    watched: Any, repository: Project, demo: str, tmp_path: Path
) -> None:
    wrapper = alone()
    done, seen = watched(
        *("run", "--frozen", demo, "--provider", "oracle", "--out", tmp_path / "bundle"),
        *("--project", repository.root),
        wrapper=wrapper,
        first=LOOPBACK if wrapper else "",
    )
    assert done.returncode == 0, done.stderr
    assert "1.0 Complete Resolution" in done.stdout
    connections = {line for line in seen if line.startswith("socket.connect")}
    assert "socket.connect ('127.0.0.1'" not in connections
    assert connections <= {"socket.connect '127.0.0.1'", "socket.connect '/var/run/docker.sock'"}, connections
    assert "socket.connect '127.0.0.1'" in connections, "the watch saw nothing at all"
    assert {line for line in seen if line.startswith(("socket.getaddrinfo", "socket.gethost"))} <= {
        "socket.getaddrinfo '127.0.0.1'"
    }


def test_a_check_of_locks_makes_no_connection_and_writes_nothing(
    watched: Any, copied: Project, tmp_path: Path
) -> None:
    store = tmp_path / "no-store"
    done, seen = watched("lock", "--check", "--project", copied.root, env={"NANOBENCH_STORE": str(store)})
    assert (done.returncode, done.stderr) == (0, "")
    assert seen == []
    assert not store.exists()
