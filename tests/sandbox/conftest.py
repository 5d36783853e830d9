"""Engines and images for the sandbox's tests: bubblewrap as the user who runs them and, for root, as an ordinary one
too, and Docker, whose daemon root starts for these tests alone."""

from __future__ import annotations

import os
import pickle
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from nanobench.errors import MachineFailure
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.diagnose import host_layer
from nanobench.sandbox.docker import Docker
from nanobench.sandbox.interface import SANDBOX_UID, Engine, Finished, Mount, Request, SandboxLimits
from nanobench.store.store import Store

ORDINARY, SOCKET_GROUP = 64123, 64124
DRIVER = """
import pickle, sys
from nanobench.errors import MachineFailure
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.docker import Docker
from nanobench.store.store import Store
daemon, name, arguments = pickle.load(sys.stdin.buffer)
engine = Docker(Store(daemon[0]), address=daemon[1]) if daemon else Bubblewrap()
try: answer = getattr(engine, name)(*arguments)
except MachineFailure as error: answer = error.document()
sys.stdout.buffer.write(pickle.dumps(answer))
"""


PROOF = "import subprocess, sys, nanobench.sandbox.bubblewrap; subprocess.run([sys.executable, '-c', ''], check=True)"


class AsOrdinaryUser:
    """The engine in a process of an ordinary user, whose every call is a new process.

    Args:
        daemon: a store of the user and the socket of a Docker daemon that his group may use; bubblewrap without.
    """

    def __init__(self, uid: int, daemon: tuple[Path, str] | None = None) -> None:
        self.name = "docker" if daemon else "bubblewrap"
        self.uid, self.daemon = uid, daemon
        shed = str(Path(__file__).with_name("ordinary.py"))
        self.command = [sys.executable, shed, str(uid), str(SOCKET_GROUP), sys.executable]

    def run(self, request: Request) -> Finished:
        finished = self._ask("run", request)
        assert isinstance(finished, Finished)
        return finished

    def own(self, path: Path) -> None:
        subprocess.run(["chown", "-R", f"{self.uid}:{self.uid}", path], check=True)

    def stop(self) -> None:
        raise NotImplementedError

    def check(self) -> tuple[str, ...]:
        found: tuple[str, ...] = self._ask("check")
        return found

    def _ask(self, name: str, *arguments: object) -> Any:
        command, asked = [*self.command, "-c", DRIVER], pickle.dumps((self.daemon, name, arguments))
        done = subprocess.run(command, input=asked, env=environment(), capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        answer = pickle.loads(done.stdout)
        if isinstance(answer, dict):
            raise MachineFailure(**answer)
        return answer


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


AS_WE_ARE, AS_AN_ORDINARY_USER, DOCKER, DOCKER_AS_ONE = "as we are", "ordinary", "docker", "docker, ordinary"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "bubblewrap: a property of that engine's own ways")
    config.addinivalue_line("markers", "every_user: worth the time of Docker as an ordinary user, too")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test over every engine that can be here, but for those of one engine's own ways."""
    if "engine" in metafunc.fixturenames:
        found = [AS_WE_ARE, AS_AN_ORDINARY_USER, DOCKER] if os.geteuid() == 0 else [AS_WE_ARE]
        if os.geteuid() == 0 and metafunc.definition.get_closest_marker("every_user"):
            found.append(DOCKER_AS_ONE)
        if metafunc.definition.get_closest_marker("bubblewrap"):
            found = [name for name in found if name != DOCKER]
        if "another" in metafunc.fixturenames:  # not an engine in another process
            found = [name for name in found if name != AS_AN_ORDINARY_USER]
        metafunc.parametrize("engine", found, indirect=True, scope="session")


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> Engine:
    """The engine, for root also as an ordinary user runs it."""
    if request.param == AS_WE_ARE:
        return Bubblewrap()
    if request.param == DOCKER:
        docker: Docker = request.getfixturevalue("docker")
        return docker
    ordinary = request.getfixturevalue("docker_of_a_group") if request.param == DOCKER_AS_ONE else None
    made = ordinary or AsOrdinaryUser(ORDINARY)
    tried = subprocess.run([*made.command, "-c", PROOF], env=environment(), capture_output=True, text=True)
    if tried.returncode != 0:
        assert not os.environ.get("CI"), tried.stderr
        pytest.skip(f"the files of this checkout or its Python are closed to ordinary users: {tried.stderr[-200:]}")
    return made


@pytest.fixture(scope="session")
def docker_of_a_group(docker_socket: Path) -> Iterator[AsOrdinaryUser]:
    """User 1000, who is no root but may use the daemon's socket as a member of its group."""
    os.chown(docker_socket, 0, SOCKET_GROUP)
    docker_socket.chmod(0o660)
    docker_socket.parent.chmod(0o711)
    place = Path(tempfile.mkdtemp(prefix="nanobench-test-"))
    user = AsOrdinaryUser(SANDBOX_UID, (place / "store", str(docker_socket)))
    user.own(place)
    yield user
    shutil.rmtree(place)


@pytest.fixture(scope="session")
def docker(new_docker: Callable[[], Docker]) -> Docker:
    """The engine of the daemon that was started for these tests."""
    return new_docker()


@pytest.fixture(scope="session")
def new_docker(docker_socket: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Docker]:
    """Make such an engine."""
    store = Store(tmp_path_factory.mktemp("store"))
    return lambda: Docker(store, address=str(docker_socket))


@pytest.fixture(scope="session")
def containerd_socket(docker_daemon: Any) -> Iterator[Path]:
    """Where one listens that keeps its images in containerd's store."""
    with docker_daemon(containerd=True) as address:
        yield address


@pytest.fixture
def another(engine: Engine, request: pytest.FixtureRequest) -> Engine:
    """One more engine of the same kind, in this process."""
    made: Engine = Bubblewrap() if isinstance(engine, Bubblewrap) else request.getfixturevalue("new_docker")()
    return made


@pytest.fixture
def place(engine: Engine) -> Iterator[Path]:
    """A work directory of the engine's user, closed to all others, outside pytest's own (which is closed to him)."""
    made = Path(tempfile.mkdtemp(prefix="nanobench-test-"))
    if isinstance(engine, AsOrdinaryUser):
        engine.own(made)
    yield made
    shutil.rmtree(made)


@attrs.frozen
class Bench:
    """Runs a command in an image of the host's programs with an empty workspace; ``run("id").out``."""

    engine: Engine
    place: Path
    layer: Path
    mounts: tuple[Mount, ...]
    workspace: Path

    def request(self, *argv: str, **changes: Any) -> Request:
        limits = {"cpus": 1, "memory_mib": 512, "pids": 64, "disk_mib": 128, "seconds": 60}
        limits |= {name: changes.pop(name) for name in list(changes) if name in limits}
        mounts = (
            *self.mounts,
            *changes.pop("mounts", ()),
            Mount(source=self.workspace, target="/workspace", writable=True),
        )
        defaults: dict[str, Any] = {
            "layers": (self.layer,),
            "stdout": self.place / "out",
            "stderr": self.place / "err",
        }
        return Request(argv=argv, limits=SandboxLimits(**limits), mounts=mounts, **(defaults | changes))

    def run(self, *argv: str, **changes: Any) -> Ran:
        request = self.request(*argv, **changes)
        finished = self.engine.run(request)
        return Ran(finished, request.stdout.read_text(), request.stderr.read_text())

    def python(self, program: str, **changes: Any) -> Ran:
        return self.run("python3", "-c", program, **changes)


@attrs.frozen
class Ran:
    finished: Finished
    out: str
    err: str


@pytest.fixture
def bench(engine: Engine, place: Path) -> Bench:
    layer, mounts = host_layer(place / "layer")
    workspace = place / "workspace"
    workspace.mkdir()
    for path in (layer, workspace):
        engine.own(path)
    return Bench(engine, place, layer, mounts, workspace)


@attrs.frozen
class Signals:
    """Two pipes between a test and a command: the command says when it is there, and waits to be let go."""

    there: Path
    go: Path

    @property
    def mounts(self) -> tuple[Mount, ...]:
        return tuple(
            Mount(source=path, target=f"/nanobench/{path.name}", writable=True) for path in (self.there, self.go)
        )

    def await_command(self) -> None:
        """Until the command has written to ``there``; an error when it does not."""
        reader = os.open(self.there, os.O_RDONLY | os.O_NONBLOCK)
        try:
            assert select.select([reader], [], [], 60)[0], "the command did not come so far"
        finally:
            os.close(reader)

    def let_go(self) -> None:
        self.go.write_text("")


@pytest.fixture
def signals(engine: Engine, place: Path) -> Signals:
    made = Signals(place / "there", place / "go")
    for path in (made.there, made.go):
        os.mkfifo(path)
        engine.own(path)
    return made


@pytest.fixture
def start(engine: Engine) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start Python code that uses NanoBench in a process of the engine's user; ended with the test."""
    begun: list[subprocess.Popen[str]] = []
    python = engine.command if isinstance(engine, AsOrdinaryUser) else [sys.executable]

    def begin(program: str, *arguments: str, wrapper: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        command = [*python[:-1], *wrapper, python[-1], "-c", program, *arguments]
        begun.append(subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True))
        return begun[-1]

    yield begin
    for process in begun:
        with process:
            process.kill()
