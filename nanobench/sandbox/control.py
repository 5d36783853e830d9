"""The engine's end of a launcher: start it, hear from it, end it. Nothing of it outlives the ``with`` block."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

LAUNCHER = Path(__file__).with_name("launch.py")
PATIENCE = 30  # seconds that a killed sandbox may take to vanish before its launcher is killed too


class Launcher:
    """A running launcher. Its channel closing, for whatever reason, ends the sandbox."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel, self._data = channel, b""

    def hear(self, seconds: float) -> dict[str, Any] | None:
        """The next message, None when none came in time; ``{"error": …}`` when the launcher is gone."""
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        while b"\n" not in self._data:
            if not poll.poll(max(0, seconds * 1000)):
                return None
            chunk = self._channel.recv(65536)
            if not chunk:
                return {"error": "its launcher was killed"}
            self._data += chunk
        line, _, self._data = self._data.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def stop(self) -> None:
        """Kill the sandbox; its end is still to be heard."""
        with suppress(OSError):
            self._channel.shutdown(socket.SHUT_WR)


@contextmanager
def launcher(request: dict[str, Any], *, stdout: int, stderr: int) -> Iterator[Launcher]:
    """A launcher at work on ``request`` (see ``launch.py``), whose outputs are these descriptors."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", str(LAUNCHER), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(theirs.fileno(),),
                cwd="/",
                env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
                start_new_session=True,
            )
        started = Launcher(ours)
        try:
            with suppress(BrokenPipeError):  # it died at once: hear() says so
                ours.sendall(json.dumps(request).encode() + b"\n")
            yield started
        finally:
            started.stop()
            _await(process)


def _await(process: subprocess.Popen[bytes]) -> None:
    """Wait for the moment of its end (``Popen.wait`` with a time-out looks again and again, ever more seldom)."""
    ended, poll = os.pidfd_open(process.pid), select.poll()
    poll.register(ended, select.POLLIN)
    try:
        if not poll.poll(PATIENCE * 1000):
            process.kill()
    finally:
        os.close(ended)
    process.wait()
