"""Bases beyond Debian from spec to lock and back: a real registry, a real Docker, a small but working root."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.curate.environment import lock_environment
from nanobench.ecosystems.online import Online
from nanobench.formats.converter import structure
from nanobench.formats.documents import dump_lock, read_lock
from nanobench.image.realise import Locks, realise_environment
from nanobench.image.sources import bring
from nanobench.image.task import build_task
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.model.lock import EnvironmentLock
from nanobench.project.files import Spec
from nanobench.sources.workspace import Repository
from nanobench.store.store import Store

PROGRAMS = ("cat", "chmod", "cmp", "comm", "cp", "dash", "env", "git", "mkdir", "rm", "sed", "sh", "sort", "xargs")
LIBRARIES = ("ld-linux", "libacl", "libattr", "libc.so", "libm.so", "libpcre2-8", "libselinux", "libz.so")
PYTHON = ("libcrypto", "libdl", "libexpat", "libffi", "libgcc_s", "libpthread", "librt", "libutil")


@pytest.fixture(scope="session")
def root(bench: Workbench, locks: Locks) -> Callable[..., bytes]:
    """A part of the demo's Debian as a layer: our steps' programs, and Python when it is asked for."""
    tree = bench.store.tree(locks.environment.layer[0].diff_id[7:])
    assert tree is not None

    def wanted(path: str, python: bool) -> bool:
        folder, _, name = path.rpartition("/")
        if folder == "usr/bin":
            return name in PROGRAMS or (python and name.startswith("python3"))
        if folder in ("usr/lib/x86_64-linux-gnu", "usr/lib64"):
            return name.startswith((*LIBRARIES, *(PYTHON if python else ())))
        return python and folder.startswith("usr/lib/python3") and not name.endswith(".a")

    def make(*, python: bool = False) -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for name in ("bin", "lib", "lib64"):
                archive.add(tree / name, name)
            for file in sorted(tree.glob("usr/**/*")):
                path = file.relative_to(tree).as_posix()
                if wanted(path, python) and not (file.is_dir() and not file.is_symlink()):
                    archive.add(file, path, recursive=False)
        return out.getvalue()

    return make


@pytest.fixture
def online() -> Iterator[Online]:
    with Online() as made:
        yield made


@pytest.fixture
def spec_of(tmp_path: Path) -> Callable[..., Spec[Environment]]:
    def make(**document: Any) -> Spec[Environment]:
        whole = {"schema": 1, "name": "other", **document}
        path = tmp_path / "environments/other.toml"
        return Spec(path=path, document=whole, value=structure(whole, Environment, where="other"))

    return make


@pytest.fixture
def empty(bench: Workbench, tmp_path: Path) -> Callable[[str], Workbench]:
    return lambda name: evolve(bench, store=Store(tmp_path / name))


def test_an_image_is_locked_by_its_tag_and_built_again_from_the_lock_alone(
    image_registry: Any, root: Any, spec_of: Any, empty: Any, online: Online, locks: Locks
) -> None:
    image_registry.push("tools", gzip.compress(root(), 1))
    spec = spec_of(base={"image": f"{image_registry.host}/tools:1"})
    here, there = empty("here"), empty("there")
    lock, _ = lock_environment(spec, None, upgrade=(), online=online, bench=here)
    assert [layer.role for layer in lock.layer] == ["image"]
    again = realise_environment(read_lock(dump_lock(lock), EnvironmentLock, where=""), online=online, bench=there)
    assert again.layers == lock.layer
    bring(locks.source, there.store, online=online, say=lambda _: None)
    task = build_task(locks.source, again, bench=there)
    assert task.repository == Repository(commit=locks.task.source.commit, tree=locks.task.source.tree)
    assert task.locked().captured is None

    image_registry.push("tools", gzip.compress(root(), 1), created="2025-01-01T00:00:00Z")
    kept, _ = lock_environment(spec, lock, upgrade=(), online=online, bench=here)
    assert dump_lock(kept) == dump_lock(lock)
    moved, _ = lock_environment(spec, lock, upgrade=("base",), online=online, bench=here)
    assert moved.package != lock.package
    assert moved.source_date_epoch > lock.source_date_epoch


@pytest.mark.network
def test_python_packages_fit_the_interpreter_of_the_image(
    image_registry: Any, root: Any, spec_of: Any, empty: Any, online: Online
) -> None:
    image_registry.push("python", gzip.compress(root(python=True), 1))
    request = {"exclude_newer": "2026-10-01", "requirements": ["iniconfig"]}
    spec = spec_of(base={"image": f"{image_registry.host}/python:1"}, python=request)
    here, there = empty("here"), empty("there")
    lock, built = lock_environment(spec, None, upgrade=(), online=online, bench=here)
    assert [layer.role for layer in lock.layer] == ["image", "python", "bytecode"]
    assert (built.trees[1] / "opt/venv/lib/python3.11/site-packages/iniconfig").is_dir()
    assert realise_environment(lock, online=online, bench=there).layers == lock.layer
