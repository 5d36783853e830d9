"""A real sandbox with this machine's git and this interpreter's pytest: empty directories and read-only mounts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from nanobench.grading.suites import Grader, Grading
from nanobench.model.environment import Limits
from nanobench.model.task import Suite
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.interface import Finished, Mount, Request
from nanobench.sources.gitbox import Gitbox

FOLDERS = ("usr", "proc", "dev", "tmp", "etc", "workspace", "home/agent", "nanobench", "opt/venv")
SITE = Path(pytest.__file__).parents[1]
HOST = {Path("/usr"), Path(sys.base_prefix), SITE}
"""Mounted where they are on this machine."""

PYTHON = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")

Files = dict[str, str]
Grow = Callable[[Files], Path]
Grade = Callable[..., Grading]


class WithHost:
    """The engine, with this machine's programs in every request."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self.inner = Bubblewrap()

    def run(self, request: Request) -> Finished:
        own = tuple(Mount(source=path, target=str(path)) for path in sorted(HOST))
        return self.inner.run(evolve(request, mounts=(*request.mounts, *own)))

    def own(self, path: Path) -> None:
        self.inner.own(path)

    def stop(self) -> None:
        self.inner.stop()

    def check(self) -> tuple[str, ...]:
        return self.inner.check()


@pytest.fixture(scope="module")
def engine() -> WithHost:
    return WithHost()


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("grading")


@pytest.fixture(scope="module")
def layer(ground: Path) -> Path:
    root = ground / "layer"
    for folder in (*FOLDERS, *(str(path)[1:] for path in HOST)):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for link in ("bin", "sbin", "lib", "lib64"):
        (root / link).symlink_to(f"usr/{link}")
    return root


@pytest.fixture(scope="module")
def scratch(ground: Path) -> Path:
    (ground / "scratch").mkdir()
    return ground / "scratch"


@pytest.fixture(scope="module")
def gitbox(engine: WithHost, layer: Path, scratch: Path) -> Gitbox:
    return Gitbox(engine=engine, layers=(layer,), scratch=scratch)


@pytest.fixture(scope="module")
def grow(ground: Path) -> Grow:
    """Make a tree of these files."""

    def make(files: Files) -> Path:
        root = ground / f"tree-{len(list(ground.glob('tree-*')))}"
        root.mkdir()
        for path, content in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        return root

    return make


@pytest.fixture(scope="module")
def grade(engine: WithHost, layer: Path, scratch: Path, grow: Grow) -> Grade:
    """Grade a tree of these files with ``python -P -m pytest`` and more arguments, as the suite ``py``."""

    def run(
        files: Files,
        *arguments: str,
        command: tuple[str, ...] = (PYTHON, "-P", "-m", "pytest"),
        env: dict[str, str] | None = None,
        seconds: int = 120,
        engine: WithHost = engine,
    ) -> Grading:
        workspace = grow(files)
        engine.own(workspace)
        path = ":".join([*((env or {}).get("PYTHONPATH", "").split(":")), str(SITE)]).strip(":")
        variables = {**(env or {}), "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        limits = Limits(memory_mib=1024, disk_mib=256)
        grader = Grader(engine=engine, layers=(layer,), limits=limits, env=variables, scratch=scratch)
        full = (*command, *arguments)
        grading = grader.grade(
            workspace, Suite(name="py", language="python", format="pytest", command=full, seconds=seconds)
        )
        assert {str(p.relative_to(workspace)) for p in workspace.rglob("*") if p.is_file()} == files.keys()
        return grading

    return run
