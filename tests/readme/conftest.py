"""The project's texts, and a copy of the project to run their commands in."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from nanobench.ecosystems.registries import Registries

ROOT = Path(__file__).parents[2]
NEEDED = ("Makefile", "pyproject.toml", "requirements.txt", "benchmarks", "environments", "locks", "schemas", "tasks")


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture(scope="session")
def texts() -> dict[str, str]:
    """Every text by its name below the project."""
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in documents()}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What commands work on, copied, with the environment that runs this test as its ``.venv``."""
    if not Path(sys.prefix, "bin/activate").is_file() or not Path(sys.prefix, "bin/nanobench").is_file():
        pytest.skip("this Python is not of an environment with nanobench in it")
    place = tmp_path / "project"
    place.mkdir()
    for name in NEEDED:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, place / name)
    (place / ".venv").mkdir()
    for name in os.listdir(sys.prefix):
        (place / ".venv" / name).symlink_to(Path(sys.prefix, name))
    (place / ".venv/ready").unlink(missing_ok=True)
    (place / ".venv/ready").touch()
    return place


@pytest.fixture
def environment(warm_store: Path) -> dict[str, str]:
    """The user's own, with the warm store, and the quick ones of the benchmarks; nothing of a make around us.

    Other people's programs are told which certificates the system trusts; ours find them alone.
    """
    trusted = Registries().ca_bundle()
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    own |= {"REQUESTS_CA_BUNDLE": str(trusted)} if trusted else {}
    return {**own, "NANOBENCH_STORE": str(warm_store), "BENCH_ARGS": "sandbox packing --repeats 1"}
