"""The host's git, for fetching and reading only: in a private repository, with nothing of the caller's state.

Of the user's configuration counts what reaches servers (``insteadOf``, proxies, certificates, ssh, credential
helpers); hooks, filters, attributes, prompts and replacements never do. A command uses the network only when told to.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from attrs import field, frozen

from nanobench.errors import CannotTell, MachineFailure, Refused

PROTOCOLS = ("https", "http", "ssh", "git", "file")
"""Transports that may be used at all; the user's own ``GIT_ALLOW_PROTOCOL`` narrows them."""

MAX_OUTPUT = 64 << 20
MAX_FILE = 8 << 30
"""Bytes of any one file that git writes: of a pack, however much a server sends (twice that where sh is bash)."""

_KEPT = {
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
    *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_PROXY_COMMAND"),
    *("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_NO_VERIFY"),
}
_ENV = {
    "LC_ALL": "C",
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
}
_SETTINGS = {
    "core.askPass": "",
    "core.attributesFile": "/dev/null",
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.quotePath": "false",
    "fetch.fsckObjects": "false",
    "fetch.recurseSubmodules": "false",
    # Always one pack file, whose size the limit below bounds.
    "fetch.unpackLimit": "1",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    "maintenance.auto": "false",
    "protocol.version": "2",
    "transfer.bundleURI": "false",
}
_CONFIG = b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
_BOUNDED = ("/bin/sh", "-c", 'ulimit -f "$1" && shift && exec "$@"', "sh")
_TAIL = 8192
_PATIENCE = 2.0
_USERINFO = re.compile(r"(?<=://)[^/@\s']*@")


@frozen(kw_only=True)
class Said:
    """How a command ended. ``words`` are the last lines that it wrote to stderr, without credentials."""

    code: int
    output: bytes
    words: tuple[str, ...]


@frozen(kw_only=True)
class Running:
    """A command at work: what it prints, and what it reads."""

    output: IO[bytes]
    input: IO[bytes]
    tail: _Tail = field(repr=False)
    process: subprocess.Popen[bytes] = field(repr=False)

    def ask(self, name: str) -> bytes:
        """What ``cat-file --batch`` says of an object, on one line; its content and a line end come next."""
        self.input.write(name.encode() + b"\n")
        self.input.flush()
        return self.output.readline(200)

    def end(self) -> Said:
        """Wait for its end; everything of interest was read before."""
        with suppress(BrokenPipeError):
            self.input.close()
        code = self.process.wait()
        return Said(code=code, output=b"", words=self.tail.lines())


class Git:
    """A bare repository of its own at ``place``, made when it is not there.

    Args:
        seconds: how long any one command may take.
    """

    def __init__(self, place: Path, *, seconds: float = 3600) -> None:
        self.place, self.seconds = place, seconds
        if not (place / "config").is_file():
            place.mkdir(parents=True, exist_ok=True)
            with self.started("init", "--quiet", "--bare", "--template=", "--", str(place)) as running:
                said = running.end()
            if said.code:
                raise MachineFailure("NB_GIT", "git cannot make a repository", details=said.words)
            self.forget_remotes()

    def forget_remotes(self) -> None:
        """After a partial fetch: what is missing is missing, and no later command looks for it on the network."""
        (self.place / "config").write_bytes(_CONFIG)

    def run(self, *arguments: str, network: bool = False, stdin: bytes = b"", limit: int = MAX_OUTPUT) -> Said:
        """Run to the end; a failure is an answer too.

        Raises:
            Refused: ``NB_GIT_BOUND`` when it prints more than ``limit`` bytes, or a server sent more than a pack may
                hold.
            CannotTell: ``NB_GIT_TIME`` when it took too long.
        """
        with self.started(*arguments, network=network) as running:
            feeder = threading.Thread(target=_feed, args=(running.input, stdin))
            feeder.start()
            output = running.output.read(limit + 1)
            if len(output) > limit:
                raise Refused("NB_GIT_BOUND", f"git {arguments[0]} prints more than {limit} bytes")
            feeder.join()
            said = running.end()
        if said.code == -signal.SIGKILL:
            raise CannotTell("NB_GIT_TIME", f"git {arguments[0]} was stopped after {self.seconds} seconds")
        self._tidy()
        return Said(code=said.code, output=output, words=said.words)

    def _tidy(self) -> None:
        """Remove packs that were not received whole; one that reached the bound is an answer."""
        for path in self.place.glob("objects/pack/tmp_pack_*"):
            size = path.stat().st_size
            path.unlink()
            if size >= MAX_FILE:
                raise Refused("NB_GIT_BOUND", f"a server sent more than {MAX_FILE} bytes")

    def read(self, *arguments: str, stdin: bytes = b"", limit: int = MAX_OUTPUT) -> bytes:
        """What a command prints that must work.

        Raises:
            Refused: ``NB_GIT`` with git's words, or ``NB_GIT_BOUND``.
        """
        said = self.run(*arguments, stdin=stdin, limit=limit)
        if said.code:
            raise Refused("NB_GIT", f"git {arguments[0]} ended with {said.code}", details=said.words)
        return said.output

    @contextmanager
    def started(self, *arguments: str, network: bool = False) -> Iterator[Running]:
        """A command at work; when the block is left it is dead, and so is all that it started."""
        settings = [part for key, value in _SETTINGS.items() for part in ("-c", f"{key}={value}")]
        process = _start((*_BOUNDED, str(MAX_FILE // 512), "git", *settings, *arguments), self._environment(network))
        timer = threading.Timer(self.seconds, _kill, args=(process,))
        timer.daemon = True
        timer.start()
        assert process.stdin and process.stdout and process.stderr
        tail = _Tail(process.stderr)
        try:
            yield Running(output=process.stdout, input=process.stdin, tail=tail, process=process)
        finally:
            timer.cancel()
            _kill(process)
            process.wait()
            tail.join(_PATIENCE)
            for pipe in (process.stdin, process.stdout, process.stderr):
                with suppress(BrokenPipeError):
                    pipe.close()

    def _environment(self, network: bool) -> Mapping[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
        return own | _ENV | {"GIT_DIR": str(self.place), "GIT_ALLOW_PROTOCOL": _allowed() if network else "none"}


class _Tail(threading.Thread):
    """Reads a pipe to its end and keeps the last of it: a hostile server may talk for ever."""

    def __init__(self, pipe: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._pipe, self._kept = pipe, bytearray()
        self.start()

    def run(self) -> None:
        while chunk := os.read(self._pipe.fileno(), 1 << 16):
            self._kept += chunk
            del self._kept[:-_TAIL]

    def lines(self) -> tuple[str, ...]:
        self.join(_PATIENCE)  # a connection that ssh keeps open for others holds the pipe too
        text = _USERINFO.sub("", bytes(self._kept).decode("utf-8", "replace"))
        return tuple(line[:300] for line in re.split(r"[\r\n]+", text) if line.strip())[-12:]


def _start(command: tuple[str, ...], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    # A session of its own has no terminal to ask at, and can be ended as a whole.
    return subprocess.Popen(command, env=env, cwd="/", stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _feed(pipe: IO[bytes], data: bytes) -> None:
    with suppress(BrokenPipeError):
        pipe.write(data)
        pipe.close()


def _allowed() -> str:
    chosen = os.environ.get("GIT_ALLOW_PROTOCOL")
    return ":".join(p for p in PROTOCOLS if chosen is None or p in chosen.split(":")) or "none"
