"""The real Nanocoder of the committed lock, in the real sandbox, behind the real gateway, on this machine's git."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve, field, frozen

from nanobench.ecosystems.online import Online
from nanobench.formats.documents import read_lock
from nanobench.gateway.gateway import Gateway
from nanobench.gateway.scripted.provider import ScriptedProvider
from nanobench.gateway.scripted.reply import Messages, Reply
from nanobench.gateway.summary import Summary
from nanobench.gateway.upstream import Upstream
from nanobench.harness.closure import build_closure
from nanobench.harness.contract import CONTRACTS, Contract, contract_of
from nanobench.harness.ending import Ending, ending
from nanobench.harness.invocation import Invocation, Places, agent_request, invocation, write_config
from nanobench.harness.realise import fetch_closure
from nanobench.harness.shadow import Steering, unsteered
from nanobench.model.lock import HarnessLock
from nanobench.model.provider import Arm
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.interface import Finished, Mount, Request, SandboxLimits
from nanobench.sources.difference import TakenPatch, take_patch
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.workspace import make_repository
from nanobench.store.store import Store

ROOT = Path(__file__).parents[2]
LOCKS = ROOT / "locks/harness"
KEPT = ROOT / ".cache/test-store"
FOLDERS = ("usr", "proc", "dev", "tmp", "etc", "workspace", "home/agent", "nanobench", "opt/venv")
LIMITS = SandboxLimits(cpus=2, memory_mib=2048, pids=128, disk_mib=512, seconds=300)


class WithHost:
    """The engine, with this machine's programs in every request."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self.inner = Bubblewrap()

    def run(self, request: Request) -> Finished:
        return self.inner.run(evolve(request, mounts=(*request.mounts, Mount(source=Path("/usr"), target="/usr"))))

    def own(self, path: Path) -> None:
        self.inner.own(path)

    def stop(self) -> None:
        self.inner.stop()

    def check(self) -> tuple[str, ...]:
        return self.inner.check()


@frozen
class Run:
    """Everything that one run left."""

    finished: Finished
    stdout: bytes
    stderr: bytes
    summary: Summary
    ending: Ending
    steering: Steering
    patch: TakenPatch


@define
class Talk:
    """A script that answers turn by turn and remembers what it was told."""

    replies: tuple[Reply, ...]
    heard: list[Messages] = field(factory=list[Messages])

    def __call__(self, messages: Messages) -> Reply:
        self.heard.append(messages)
        turn = [message["role"] for message in messages].count("assistant")
        return self.replies[min(turn, len(self.replies) - 1)]

    def tool_results(self) -> list[str]:
        """What the tools answered, as the model saw it at the end."""
        return [str(message["content"]) for message in self.heard[-1] if message["role"] == "tool"]


class Failing(BaseHTTPRequestHandler):
    """Answers everything with the server's status, and wants to be asked again at once."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"error": {"message": "it broke", "type": "server_error"}}'
        self.send_response(500)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="session")
def harness_lock() -> HarnessLock:
    return committed("1.30.0")


def committed(version: str) -> HarnessLock:
    path = LOCKS / f"nanocoder-{version}.lock.toml"
    return read_lock(path.read_bytes(), HarnessLock, where=path.name)


@pytest.fixture(scope="session")
def kept_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The store of real, fetched files; a fresh one for a user who may not write into the checkout."""
    KEPT.parent.mkdir(exist_ok=True) if os.access(ROOT, os.W_OK) else None
    place = KEPT if os.access(KEPT if KEPT.exists() else KEPT.parent, os.W_OK) else tmp_path_factory.mktemp("store")
    return Store(place)


@pytest.fixture(scope="session")
def closure(harness_lock: HarnessLock, kept_store: Store) -> Path:
    """The closure's tree, made from the committed lock alone."""
    return brought(harness_lock, kept_store)


def brought(lock: HarnessLock, store: Store) -> Path:
    with Online() as online:
        fetch_closure(lock, store, online=online, say=lambda _: None)
    return build_closure(lock, store)


@pytest.fixture
def failing_provider() -> Iterator[Upstream]:
    """A provider that answers 500."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Failing) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield Upstream(name="double", base_url=f"http://127.0.0.1:{server.server_address[1]}/v1")
        server.shutdown()
        thread.join()


@frozen
class Bench:
    """A place where the agent works on a small repository."""

    place: Path
    closure: Path | None = None
    contract: Contract = CONTRACTS[-1]
    engine: WithHost = field(factory=WithHost)

    def repository(self, files: dict[str, str]) -> Gitbox:
        """Make the image: this machine's programs, and a base commit of ``files`` in the workspace."""
        layer, task = self.place / "layer", self.place / "task"
        for folder in FOLDERS:
            (layer / folder).mkdir(parents=True, mode=0o755)
        for link in ("bin", "sbin", "lib", "lib64"):
            (layer / link).symlink_to(f"usr/{link}")
        # Nanocoder asks `which` before it starts a server; Debian keeps it behind a link of /etc.
        (layer / "etc/alternatives").mkdir(mode=0o755)
        (layer / "etc/alternatives/which").symlink_to("/usr/bin/which.debianutils")
        tree = task / "workspace"
        tree.mkdir(parents=True)
        for path, content in files.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(content)
        scratch = self.place / "scratch"
        scratch.mkdir()
        gitbox = Gitbox(engine=self.engine, layers=(layer,), scratch=scratch)
        make_repository(gitbox, tree)
        return evolve(gitbox, layers=(layer, task))

    def run(
        self,
        upstream: Upstream,
        *,
        files: dict[str, str] | None = None,
        prompt: str = "Do it.",
        arm: Arm | None = None,
        max_turns: int = 20,
        limits: SandboxLimits = LIMITS,
        steered: bool = False,
        change: Callable[[Invocation], Invocation] = lambda call: call,
    ) -> Run:
        """Run the agent. ``steered`` leaves the repository's steering files where they are."""
        gitbox = self.repository(files or {"calc.py": "def add(a, b):\n    return a - b\n"})
        workspace, aside = self.place / "workspace", self.place / "aside"
        shutil.copytree(self.place / "task/workspace", workspace, symlinks=True)
        self.engine.own(workspace)
        call = change(
            invocation(prompt, provider="double", model="m", wire=upstream.kind, arm=arm, max_turns=max_turns)
        )
        write_config(self.place / "config", call.config)
        gateway = Gateway(upstream, directory=self.place / "gateway", transcript=self.place / "transcript")
        assert self.closure is not None
        places = Places(
            layers=gitbox.layers,
            workspace=workspace,
            closure=self.closure,
            gateway=gateway.directory,
            config=self.place / "config",
            stdout=self.place / "stdout",
            stderr=self.place / "stderr",
        )
        request = agent_request(call, places, limits=limits, env={})
        with gateway:
            if steered:
                found, finished = Steering(), self.engine.run(request)
            else:
                with unsteered(workspace, gitbox=gitbox, aside=aside) as found:
                    finished = self.engine.run(request)
        stdout, stderr, summary = places.stdout.read_bytes(), places.stderr.read_bytes(), gateway.summary()
        end = ending(finished, contract=self.contract, stdout=stdout, stderr=stderr, summary=summary)
        return Run(finished, stdout, stderr, summary, end, found, take_patch(gitbox, workspace))

    def talk(self, *replies: Reply, **options: Any) -> tuple[Run, Talk]:
        """Run the agent against a model that says ``replies`` in turn."""
        script = Talk(replies)
        with ScriptedProvider("double", script) as provider:
            return self.run(provider.upstream, **options), script


@pytest.fixture
def agent(tmp_path: Path, closure: Path) -> Bench:
    return Bench(tmp_path, closure)


@pytest.fixture(params=["1.29.0", "1.30.0"])
def each_agent(request: pytest.FixtureRequest, tmp_path: Path, kept_store: Store) -> Bench:
    """Every Nanocoder that a lock is committed of."""
    lock = committed(request.param)
    return Bench(tmp_path, brought(lock, kept_store), contract_of(lock))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """The place without the agent."""
    return Bench(tmp_path)
