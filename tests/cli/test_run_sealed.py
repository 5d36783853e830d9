"""From inside: an agent that only looks around, through the real Nanocoder, told what to try by a scripted model.

Nothing that must not be found is ever named inside: patterns travel in base64 and lie where no search goes.
"""

from __future__ import annotations

import base64
import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from aiohttp import web
from attrs import frozen

from nanobench.formats.documents import read_json
from nanobench.gateway.scripted.provider import ScriptedProvider
from nanobench.gateway.scripted.reply import Messages, Reply, ToolCall, turn_of
from nanobench.gateway.transcript import read_transcript
from nanobench.image.realise import Locks
from nanobench.model.result import CellResult
from nanobench.project.files import Project

KEY = "sk-test-0123456789-secret"
PRUNED = r"\( -path /proc -o -path /sys -o -path /dev \) -prune"
FILES = f"find / {PRUNED} -o -type f -readable -print0 2>/dev/null | xargs -0 grep -laF -f"
PROCESSES = r"cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | grep -caF -f"
OBJECTS = "git cat-file --batch-all-objects --batch | grep -caF -f"
OWN = "/workspace /home/agent /tmp"
FOREIGN = "/ /etc /usr/bin /opt/venv /var/tmp /home /root /nanobench /nanobench/harness /nanobench/gateway"
CONNECT = """
import socket, sys
for address in sys.argv[2:]:
    place = '\\0' + address[1:] if address.startswith('@') else (address, int(sys.argv[1]))
    kind = socket.AF_UNIX if address.startswith('@') else socket.AF_INET
    with socket.socket(kind) as s:
        s.settimeout(5)
        print(address, 'reached' if s.connect_ex(place) == 0 else 'closed')
try: print('names', 'resolved' if socket.getaddrinfo('example.org', 80) else '')
except OSError: print('names unknown')
"""


class Model(ScriptedProvider):
    """Tells the first agent the commands, remembers what it answered, and who asked with which key. It is a hostile
    one too: it says the key aloud."""

    def __init__(self, commands: dict[str, str], state: Path) -> None:
        super().__init__("probe", self.script)
        self.commands, self.state = commands, state
        self.keys: set[str | None] = set()
        self.answers: dict[str, str] = {}
        self.states: list[bytes] = []

    def script(self, messages: Messages) -> Reply:
        self.states += [path.read_bytes() for path in self.state.rglob("*") if path.is_file()]
        if not self.answers and turn_of(messages) == 0:
            calls = (ToolCall(name="execute_bash", arguments={"command": text}) for text in self.commands.values())
            return Reply(calls=tuple(calls))
        if not self.answers:
            said = [str(message["content"]) for message in messages if message.get("role") == "tool"]
            self.answers.update(zip(self.commands, said, strict=True))
        return Reply(text=f"I have seen enough. Was {KEY} a secret?")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.keys.add(request.headers.get("Authorization"))
        return await super()._answer(request)


@frozen
class Look:
    """What was tried and what came of it."""

    model: Model
    bundle: Path
    results: list[CellResult]
    reached: bool
    out: str
    err: str

    def lines(self, name: str) -> list[str]:
        head, *lines = self.model.answers[name].splitlines()
        assert head == "EXIT_CODE: 0", self.model.answers[name]
        return lines


@contextlib.contextmanager
def listening() -> Iterator[tuple[int, str, list[socket.socket]]]:
    """A port of this host on every address, and an abstract unix socket."""
    name = f"nanobench-test-{id(object())}"
    with socket.create_server(("0.0.0.0", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(f"\0{name}")
        unix.listen()
        for server in (tcp, unix):
            server.setblocking(False)
        yield tcp.getsockname()[1], f"@{name}", [tcp, unix]


def hidden(place: Any, locks: Locks, statement: bytes) -> list[bytes]:
    """Lines that only the solution and its tests have, and the names of the tests that must turn green."""
    known = statement + b"".join(
        p.read_bytes() for p in place.image.workspace.rglob("*") if p.is_file() and not p.is_symlink()
    )
    patch = (place.change.golden + place.change.test).splitlines()
    added = {line[1:].strip() for line in patch if line.startswith(b"+") and not line.startswith(b"+++")}
    names = {test.rpartition("::")[2].encode() for test in locks.task.tests.fail_to_pass}
    return sorted(line for line in {x for x in added if len(x) > 30} | names if line not in known)


def put(place: str, lines: list[bytes]) -> str:
    return f"echo {base64.b64encode(b'%b' % chr(10).encode().join(lines)).decode()} | base64 -d > {place}"


def commands(secret: list[bytes], port: int, unix: str) -> dict[str, str]:
    addresses = [a.address for kinds in psutil.net_if_addrs().values() for a in kinds if a.family == socket.AF_INET]
    hosts = " ".join([*dict.fromkeys(["127.0.0.1", *addresses]), unix])
    write = '(: > "$d/probe") 2>/dev/null && echo "$d"'
    return {
        "patterns": "; ".join(
            (put("/dev/shm/s", secret), put("/dev/shm/c", [b"class PatchedFile("]), put("/dev/shm/k", [KEY.encode()]))
        ),
        "control": f"{FILES} /dev/shm/c; {OBJECTS} /dev/shm/c; true",
        "solution": f"{FILES} /dev/shm/s; {OBJECTS} /dev/shm/s; {PROCESSES} /dev/shm/s; true",
        "key": f"{FILES} /dev/shm/k; {PROCESSES} /dev/shm/k; env | grep -cF -f /dev/shm/k; true",
        "own": f"for d in {OWN}; do {write}; done; true",
        "foreign": f"for d in {FOREIGN}; do {write}; done; true",
        "writable": rf"find / {PRUNED} -o \( -path /workspace -o -path /home/agent -o -path /tmp \) -prune"
        r" -o \( -type d -o -type f \) -writable -print 2>/dev/null; true",
        "network": f'python3 -c "$(echo {base64.b64encode(CONNECT.encode()).decode()} | base64 -d)" {port} {hosts}',
    }


@pytest.fixture(scope="module")
def look(
    nanobench: Any,
    repository: Project,
    locks: Locks,
    place: Any,
    demo: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Look:
    out = tmp_path_factory.mktemp("sealed") / "bundle"
    secret = hidden(place, locks, repository.statement(demo))
    assert len(secret) > 20
    with listening() as (port, unix, servers):
        model = Model(commands(secret, port, unix), Path(f"{out}.state"))
        done = probed(model, nanobench, repository, demo, out)
        reached = False
        for server in servers:
            with contextlib.suppress(BlockingIOError):
                server.accept()[0].close()
                reached = True
    assert done.code == 0, done.err
    cells = sorted((out / "cells").rglob("*.json"))
    results = [read_json(path.read_bytes(), CellResult, where=path.name) for path in cells]
    return Look(model, out, results, reached, done.out, done.err)


def probed(model: Model, nanobench: Any, repository: Project, demo: str, out: Path) -> Any:
    with model:
        provider = ("--provider", "probe", "--base-url", model.upstream.base_url, "--model", "m")
        options = ("--key-env", "PROBE_KEY", "--mode", "hinted", "--mode", "navigation", "--jobs", "1", "--json")
        return nanobench(
            *("run", demo, "--offline", *provider, *options, "--out", out, "--project", repository.root),
            env={"PROBE_KEY": KEY},
        )


def test_the_search_would_have_found_something(look: Look) -> None:
    *found, objects = look.lines("control")
    assert "/workspace/unidiff/patch.py" in found
    assert int(objects) > 0


def test_the_agent_finds_the_solution_in_no_file_object_or_process(look: Look) -> None:
    assert look.lines("solution") == ["0", "0"]


def test_the_agent_writes_to_its_workspace_its_home_and_tmp_and_nowhere_else(look: Look) -> None:
    assert look.lines("own") == OWN.split()
    assert look.lines("foreign") == []
    assert look.lines("writable") == []


def test_the_agent_reaches_no_port_of_the_host_and_no_name_server(look: Look) -> None:
    *addresses, names = look.lines("network")
    assert addresses[0] == "127.0.0.1 closed"
    assert all(line.endswith(" closed") for line in addresses)
    assert names == "names unknown"
    assert not look.reached


def test_the_provider_got_the_key_and_the_agent_finds_it_nowhere(look: Look) -> None:
    assert look.model.keys == {f"Bearer {KEY}"}
    assert look.lines("key") == ["0", "0"]


def test_the_key_stands_in_no_file_of_the_bundle_and_was_in_no_state_though_the_model_says_it(look: Look) -> None:
    files = [path for path in look.bundle.rglob("*") if path.is_file()]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert len(look.model.states) > 2
    assert not [data for data in look.model.states if KEY.encode() in data]
    assert KEY not in look.out + look.err
    for result in look.results:
        for exchange in read_transcript(look.bundle / "blobs/sha256" / result.blobs.transcript):
            bodies = [exchange.request.raw(), *(chunk.data.raw() for chunk in exchange.chunks)]
            assert KEY.encode() not in b"".join(bodies)
        report = json.loads((look.bundle / f"blobs/sha256/{result.blobs.report}").read_bytes())
        assert "Was *** a secret?" in report["finalText"]


def test_to_look_around_is_no_change_but_what_was_written_into_the_workspace_is(look: Look) -> None:
    assert sorted(result.files_changed for result in look.results) == [
        (),
        ("probe",),
    ]  # told to the first agent alone
    assert {result.score.value for result in look.results if result.score} == {"0.0"}
