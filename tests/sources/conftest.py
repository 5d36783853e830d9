"""A real sandbox with this machine's git in it: one layer of empty directories, and ``/usr`` mounted read-only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.interface import Finished, Mount, Request
from nanobench.sources.gitbox import Gitbox

FOLDERS = ("usr", "proc", "dev", "tmp", "etc", "workspace", "home/agent", "nanobench", "opt/venv")
Grow = Callable[[str, dict[str, str | bytes]], Path]


class WithUsr:
    """The engine, with this machine's ``/usr`` in every request."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self.inner = Bubblewrap()
        self.requests: list[Request] = []

    def run(self, request: Request) -> Finished:
        self.requests.append(request)
        return self.inner.run(evolve(request, mounts=(*request.mounts, Mount(source=Path("/usr"), target="/usr"))))

    def own(self, path: Path) -> None:
        self.inner.own(path)

    def stop(self) -> None:
        self.inner.stop()

    def check(self) -> tuple[str, ...]:
        return self.inner.check()


@pytest.fixture
def engine() -> WithUsr:
    return WithUsr()


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    root = tmp_path / "layer"
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True)
    for link in ("bin", "sbin", "lib", "lib64"):
        (root / link).symlink_to(f"usr/{link}")
    return root


@pytest.fixture
def gitbox(engine: WithUsr, layer: Path, tmp_path: Path) -> Gitbox:
    (tmp_path / "scratch").mkdir()
    return Gitbox(engine=engine, layers=(layer,), scratch=tmp_path / "scratch")


@pytest.fixture
def grow(tmp_path: Path) -> Grow:
    """Make a tree: a name and its files."""

    def make(name: str, files: dict[str, str | bytes]) -> Path:
        root = tmp_path / name
        root.mkdir()
        for path, content in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    return make
