"""A Docker daemon of our own, for tests that ask one."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from nanobench.sandbox.launch import default_signals


@contextlib.contextmanager
def daemon(*, containerd: bool) -> Iterator[Path]:
    """A daemon of our own. Its mounts are seen by nobody else and go with it."""
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        assert not os.environ.get("CI"), "continuous integration must install docker.io and run as root"
        pytest.skip("only root can start a Docker daemon, and one must be installed")
    said = subprocess.run(["dockerd", "--version"], capture_output=True, text=True, check=True).stdout
    if containerd and int(said.split("version ")[1].partition(".")[0]) < 24:
        pytest.skip(f"no containerd store in this one: {said.strip()}")
    place = Path(tempfile.mkdtemp(prefix="nanobench-dockerd-"))
    (place / "config").write_text(json.dumps({"features": {"containerd-snapshotter": containerd}}))
    address, folders = place / "sock", {"data-root": "data", "exec-root": "exec", "pidfile": "pid"}
    words = [f"--host=unix://{address}", *(f"--{option}={place / name}" for option, name in folders.items())]
    words += [f"--config-file={place / 'config'}", "--log-level=warn"]
    command = ["dockerd", *words, "--iptables=false", "--ip6tables=false", "--bridge=none"]
    if psutil.virtual_memory().available > 8 << 30:  # images in memory need not be removed file by file
        (place / "data").mkdir()
        command = ["sh", "-c", 'mount -t tmpfs -o size=4g none "$0" && exec "$@"', str(place / "data"), *command]
    with (place / "log").open("wb") as log:  # started by a shell that ends: no child of ours
        detached = ["sh", "-c", '"$@" >&2 & echo $!', "sh", "unshare", "--mount", "--propagation=slave", *command]
        started = subprocess.run(
            detached, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, check=True,
            preexec_fn=default_signals,  # what a daemon ignores, its containers do too
        )  # fmt: skip
    with open(os.pidfd_open(int(started.stdout)), "rb", buffering=0) as process:
        try:
            yield await_daemon(address, process.fileno(), place / "log")
        finally:
            signal.pidfd_send_signal(process.fileno(), signal.SIGTERM)
            assert select.select([process], [], [], 60)[0], "the Docker daemon does not end"
    shutil.rmtree(place)


def await_daemon(address: Path, process: int, log: Path) -> Path:
    """Until it answers, the address; an error with its log when it ends before."""
    while not select.select([process], [], [], 0.1)[0]:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(address))
            connection.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
            if b"200 OK" in connection.recv(4096):
                return address
    raise AssertionError(f"no Docker daemon: {log.read_text()[-2000:]}")
