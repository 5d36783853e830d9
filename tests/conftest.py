"""What several rooms' tests start from: one valid lock, one valid cell result, and a demo task ready to run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from attrs import evolve, frozen
from hypothesis import settings
from typer.testing import CliRunner

from nanobench.bundle.write import write_bundle
from nanobench.cli.locked import current
from nanobench.cli.main import app
from nanobench.formats.digest import document_sha256, sha256_hex
from nanobench.formats.documents import dump_lock
from nanobench.gateway.serving import ServingThread
from nanobench.grading.locked import LockedArena, locked_arena
from nanobench.harness.session import Seat
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Limits
from nanobench.model.fields import Digest
from nanobench.model.lock import (
    LOCK_REVISION,
    RECIPE,
    EnvironmentLock,
    GateVerdict,
    LockedImage,
    LockedSource,
    LockedTests,
    Reference,
    TaskLock,
)
from nanobench.model.result import Attempt, Blobs, Cause, Cell, CellResult, ProviderFacts, RunManifest, Score, Usage
from nanobench.project.files import Project
from nanobench.project.stale import REVISION_GATES
from nanobench.runner.stage import Stage, bring_agent, set_stage
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sources.clean import clean
from nanobench.sources.interface import Trees
from nanobench.sources.workspace import EPOCH
from nanobench.store.store import Store
from tests.docker_daemon import daemon

pytest_plugins = ("tests.leaky",)

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

ZERO = "0" * 64
ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".cache/test-store"
TASK = "unidiff-1.0.1"
MAIN = "import sys; sys.argv[0] = 'nanobench'; from nanobench.cli.main import main; main()"


def pytest_configure() -> None:
    """Interrupts count, though a shell that starts tests in the background has them ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@frozen
class Done:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """What it said with ``--json``: the only thing on stdout."""
        return json.loads(self.out)


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@pytest.fixture
def serve() -> Iterator[Callable[[Handler], str]]:
    """``serve(handler)`` is the address of a server whose every request the handler answers, up to and with /v1."""
    with ExitStack() as stack:

        def begin(handler: Handler) -> str:
            async def application() -> web.Application:
                made = web.Application(client_max_size=64 << 20)
                made.router.add_route("*", "/{path:.*}", handler)
                return made

            listening = socket.create_server(("127.0.0.1", 0))
            port = listening.getsockname()[1]
            stack.callback(ServingThread(application, listening, name="test-server").close)
            return f"http://127.0.0.1:{port}/v1"

        yield begin


@frozen
class Folder:
    """A source whose base and solution are one folder."""

    path: Path

    def packages(self) -> tuple[()]:
        return ()

    def pinned(self) -> tuple[()]:
        return ()

    def identity(self) -> Any:
        return str(self.path)

    def stage(self, blob: Any, work: Path) -> Trees:
        for side in ("base", "solution"):
            shutil.copytree(self.path, work / side, symlinks=True)
            clean(work / side, where=side, mtime=EPOCH)
        return Trees(base=work / "base", solution=work / "solution", version=None, dropped=())


@pytest.fixture
def folder_source() -> type[Folder]:
    """Makes a source of a folder."""
    return Folder


@pytest.fixture
def task_lock() -> TaskLock:
    """A task lock in which every gate passed."""
    return TaskLock(
        version=1,
        revision=LOCK_REVISION,
        recipe=RECIPE,
        task="x",
        spec_sha256=document_sha256({"id": "x"}),
        environment=Reference(name="env", sha256=ZERO),
        harness=Reference(name="nanocoder-1.30.0", sha256=ZERO),
        source=LockedSource(
            commit="a" * 40,
            tree="b" * 40,
            golden_patch_sha256=ZERO,
            test_patch_sha256=ZERO,
            statement_sha256=ZERO,
            required_files=("src/a.py",),
            test_files=("tests/test_a.py",),
        ),
        image=LockedImage(
            platform="linux/amd64",
            manifest_digest=Digest("sha256:" + ZERO),
            config_digest=Digest("sha256:" + ZERO),
            source_date_epoch=0,
            diff_ids=(Digest("sha256:" + ZERO),),
        ),
        limits=Limits(),
        env={},
        tests=LockedTests(fail_to_pass=("py|t::a",), pass_to_pass=("py|t::b",)),
        gate=tuple(GateVerdict(name=n, verdict="pass", evidence_sha256=ZERO) for n in REVISION_GATES[LOCK_REVISION]),
        original={"id": "x"},
    )


@pytest.fixture
def cell_result() -> CellResult:
    """A resolved cell of the task ``x``."""
    return CellResult(
        schema=1,
        cell=Cell(task="x", harness="nanocoder-1.30.0", provider="p", model="m/1:b", mode="hinted", repeat=0),
        lock_sha256=ZERO,
        image_manifest=Digest("sha256:" + ZERO),
        harness_sha256=ZERO,
        nanocoder="1.30.0",
        engine="bubblewrap",
        cause=Cause.FINISHED,
        attempts=(Attempt(number=1, cause=Cause.FINISHED),),
        usage=Usage(steps=1, tool_calls=0),
        sampling_pinned=True,
        blobs=Blobs(patch=ZERO, transcript=ZERO, stderr=ZERO),
        score=Score(value="1.0", label="Complete Resolution", resolved=True, targets_passed=1, targets=1),
    )


@pytest.fixture
def bundle(tmp_path: Path, cell_result: CellResult, task_lock: TaskLock) -> Path:
    """A small bundle that has no problem: five files."""
    blob = tmp_path / "blob"
    blob.write_bytes(b"patch")
    digest = sha256_hex(b"patch")
    result = evolve(cell_result, blobs=Blobs(patch=digest, transcript=digest, stderr=digest))
    lock = dump_lock(task_lock)
    run = RunManifest(
        schema=1,
        nanobench="0",
        provider=ProviderFacts(name="p", kind="scripted", models=("m/1:b",)),
        locks={"x": sha256_hex(lock)},
        harnesses={result.cell.harness: "0" * 64},
        cells=(result.cell,),
    )
    building = tmp_path / "building"
    return write_bundle(tmp_path / "bundle", run, [result], {"x.lock.toml": lock}, {digest: blob}, building=building)


@pytest.fixture(scope="session")
def demo() -> str:
    """The demo task's id."""
    return TASK


@pytest.fixture(scope="session")
def warm_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with all that the demo task and its gates need; kept between runs. Tests that damage things use
    another one."""
    if os.access(ROOT, os.W_OK):
        KEPT.mkdir(parents=True, exist_ok=True)
    place = KEPT
    if not os.access(KEPT, os.W_OK):
        place = tmp_path_factory.mktemp("store")
        for room in ("blobs", "recipes"):  # of another user: what was fetched and built, to be unpacked anew
            if (KEPT / room).is_dir():
                shutil.copytree(KEPT / room, place / room)
    for verb in ("fetch", "build"):
        done = _called(verb, TASK, "--store", place, "--project", ROOT)
        assert done.code == 0, done.err
    return place


@pytest.fixture(scope="session")
def nanobench(warm_store: Path) -> Callable[..., Done]:
    """The command line, in this process, with the warm store."""

    def call(*arguments: object, env: dict[str, str] | None = None) -> Done:
        return _called(*arguments, env={"NANOBENCH_STORE": str(warm_store), **(env or {})})

    return call


@pytest.fixture
def start(warm_store: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """The command line in a process of its own, with the warm store; ended with the test.

    ``first`` is Python that runs in that process before; ``wrapper`` a command that starts it.
    """
    begun: list[subprocess.Popen[str]] = []

    def begin(
        *arguments: object, first: str = "", env: dict[str, str] | None = None, wrapper: tuple[str, ...] = ()
    ) -> subprocess.Popen[str]:
        command = [*wrapper, sys.executable, "-c", f"{first}\n{MAIN}", *map(str, arguments)]
        environment = {**os.environ, "NANOBENCH_STORE": str(warm_store), **(env or {})}
        pipe = subprocess.PIPE
        begun.append(subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True))
        return begun[-1]

    yield begin
    for process in begun:
        with process:
            process.kill()


@pytest.fixture(scope="session")
def bench(warm_store: Path) -> Workbench:
    """The warm store and the real engine, silent."""
    return Workbench(store=Store(warm_store), engine=Bubblewrap(), say=lambda _: None)


@pytest.fixture(scope="session")
def locks(repository: Project) -> Locks:
    """The demo task's committed locks."""
    task = repository.lock(TaskLock, TASK).value
    return Locks(task=task, environment=repository.lock(EnvironmentLock, task.environment.name).value)


@pytest.fixture(scope="session")
def place(locks: Locks, bench: Workbench) -> LockedArena:
    """The demo task's image, solution and arena."""
    return locked_arena(locks, online=None, bench=bench)


@pytest.fixture(scope="session")
def repository() -> Project:
    """The project of this checkout; never written to."""
    return Project(ROOT)


@pytest.fixture
def copied(tmp_path: Path) -> Project:
    """A copy of the project, with the demo task alone, to be changed at will."""
    place = tmp_path / "project"
    for folder in (f"tasks/{TASK}", "environments", "locks/environments", "locks/harness"):
        shutil.copytree(ROOT / folder, place / folder)
    shutil.copy(ROOT / f"locks/{TASK}.lock.toml", place / "locks")
    return Project(place)


@pytest.fixture(scope="session")
def oracle_bundle(nanobench: Callable[..., Done], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the real ``run`` publishes for the scripted solution, in both modes. Never written to."""
    return _bundle("oracle", nanobench, tmp_path_factory)


@pytest.fixture(scope="session")
def nop_bundle(nanobench: Callable[..., Done], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the real ``run`` publishes for an agent that does nothing, in both modes. Never written to."""
    return _bundle("nop", nanobench, tmp_path_factory)


def _bundle(provider: str, nanobench: Callable[..., Done], places: pytest.TempPathFactory) -> Path:
    out = places.mktemp("runs") / provider
    modes = ("--mode", "hinted", "--mode", "navigation")
    done = nanobench("run", "--frozen", TASK, "--provider", provider, *modes, "--out", out, "--project", ROOT)
    assert done.code == 0, done.err
    return out


def _called(*arguments: object, env: dict[str, str] | None = None) -> Done:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env=env)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


@pytest.fixture(scope="session")
def stage(repository: Project, bench: Workbench, demo: str) -> Stage:
    """The demo task, ready to run."""
    locked = current(repository, demo)
    agent = bring_agent(locked.harness, online=None, bench=bench)
    return set_stage(locked, [agent], online=None, bench=bench)


@pytest.fixture(scope="session")
def seat(stage: Stage) -> Seat:
    """Where the demo task's own agent sits."""
    return stage.seat(stage.locked.harness.value.name)


@pytest.fixture(scope="session")
def docker_daemon() -> Any:
    """Starts a daemon of our own for the block: ``docker_daemon(containerd=False)`` gives its address."""
    return daemon


@pytest.fixture(scope="session")
def docker_socket(docker_daemon: Any) -> Iterator[Path]:
    """Where one listens, with its classic store of images."""
    with docker_daemon(containerd=False) as address:
        yield address
