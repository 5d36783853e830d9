"""Where hostile things are done: the demo task's real image, and every engine that this machine has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nanobench.grading.locked import LockedArena
from nanobench.grading.trial import fresh_workspace
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.docker import Docker
from nanobench.sandbox.interface import Engine
from nanobench.sources.gitbox import Gitbox
from nanobench.store.files import remove_tree
from nanobench.store.store import Store


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """Removed by our own hand: pytest's falls over what is left here."""
    yield tmp_path
    remove_tree(tmp_path)
    tmp_path.mkdir()


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Bubblewrap; or Docker where a test asks for it and a daemon can be started."""
    if getattr(request, "param", "bubblewrap") == "bubblewrap":
        return Bubblewrap()
    address = request.getfixturevalue("docker_socket")
    return Docker(Store(tmp_path_factory.mktemp("store")), address=str(address))


@pytest.fixture
def gitbox(engine: Engine, place: LockedArena, tmp_path: Path) -> Gitbox:
    """The demo task's image with its git."""
    (tmp_path / "scratch").mkdir()
    return Gitbox(engine=engine, layers=place.arena.trees, scratch=tmp_path / "scratch")


@pytest.fixture
def workspace(gitbox: Gitbox, place: LockedArena, tmp_path: Path) -> Callable[[], Path]:
    """Makes a fresh workspace of the demo task."""
    made: list[Path] = []

    def make() -> Path:
        made.append(fresh_workspace(place.arena.workspace, tmp_path / f"workspace{len(made)}"))
        return made[-1]

    return make
