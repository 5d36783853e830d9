"""The real runners in the real sandbox: Node and its packages, pinned, installed and unpacked once a session."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nanobench.archives.layer import write_layer
from nanobench.archives.unpack import unpack_layer
from nanobench.ecosystems import node
from nanobench.ecosystems.online import Online
from nanobench.ecosystems.python import target_of
from nanobench.ecosystems.workshop import Workshop
from nanobench.formats.converter import structure, unstructure
from nanobench.grading.canary import NONE, place
from nanobench.grading.suites import FORMATS, Grader, Grading
from nanobench.grading.variations import SHUFFLED
from nanobench.image.realise import Locks, realise_environment
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Limits, NodeRequest
from nanobench.model.lock import Package
from nanobench.model.task import PathRules, Suite

EPOCH = 1_700_000_000
REQUEST = NodeRequest(
    node="22.23.3",
    manager="npm@11.21.1",
    packages=("vitest@4.1.5", "typescript@5.9.3", "mocha@11.7.5", "jest@30.2.0"),
    before="2026-11-01",
)
Run = Callable[..., Grading]


@pytest.fixture(scope="session")
def packages(bench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> tuple[Package, ...]:
    """Everything, pinned and in the store; resolved once in a store's life."""
    recipe = hashlib.sha256(f"test javascript {REQUEST}".encode()).hexdigest()
    known = bench.store.recall(recipe)
    if known is None:
        with Online() as online:
            work = tmp_path_factory.mktemp("resolve")
            found = node.resolve(REQUEST, tree=None, store=bench.store, online=online, work=work, say=print)
        known = {"packages": [unstructure(p) for p in found.packages]}
        bench.store.remember(recipe, known)
    return tuple(structure(p, Package, where="test") for p in known["packages"])


@pytest.fixture(scope="session")
def layers(
    bench: Workbench, locks: Locks, packages: tuple[Package, ...], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, ...]:
    """Debian with Node, as an environment has it."""
    ground = tmp_path_factory.mktemp("node")
    (ground / "tree").mkdir()
    with (ground / "layer.tar").open("wb") as out:
        write_layer(node.assemble(packages, bench.store, ground / "unpacked", epoch=EPOCH), out, epoch=EPOCH)
    unpack_layer(ground / "layer.tar", ground / "tree")
    bench.engine.own(ground / "tree")
    return realise_environment(locks.environment, online=None, bench=bench).trees[0], ground / "tree"


@pytest.fixture(scope="session")
def modules(
    bench: Workbench,
    layers: tuple[Path, ...],
    packages: tuple[Package, ...],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The installed ``node_modules``, unpacked as a task layer is."""
    ground = tmp_path_factory.mktemp("modules")
    for name in ("base", "tree"):
        (ground / name).mkdir()
    with bench.store.scratch("test") as scratch:
        shop = Workshop(
            engine=bench.engine,
            store=bench.store,
            layers=layers,
            scratch=scratch,
            epoch=EPOCH,
            target=target_of("bookworm"),
        )
        made = node.install(ground / "base", packages, REQUEST, shop=shop)
        with (ground / "layer.tar").open("wb") as out:
            write_layer(made.entries, out, epoch=EPOCH)
    unpack_layer(ground / "layer.tar", ground / "tree")
    return ground / "tree/workspace/node_modules"


@pytest.fixture(scope="session")
def run(
    bench: Workbench, layers: tuple[Path, ...], modules: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Run]:
    """Grade a tree of these files by a command in this format, as the suite ``js``; with canaries where asked for."""
    workspace = tmp_path_factory.mktemp("workspace")
    shutil.copytree(modules, workspace / "node_modules", symlinks=True)

    def grade(
        format: str,
        files: dict[str, str],
        *command: str,
        env: dict[str, str] | None = None,
        canaried: bool = False,
        shuffled: bool = False,
    ) -> Grading:
        for path in workspace.iterdir():
            if path.name != "node_modules":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path_, content in files.items():
            file = workspace / path_
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        suite = Suite(name="js", language="typescript", format=format, command=command, seconds=200)  # type: ignore[arg-type]
        canaries = place(workspace, suite, PathRules()) if canaried else NONE
        bench.engine.own(workspace)
        grader = Grader(
            engine=bench.engine,
            layers=layers,
            limits=Limits(memory_mib=3072, disk_mib=1024),
            env=env or {},
            formats={**FORMATS, **SHUFFLED} if shuffled else FORMATS,
            scratch=tmp_path_factory.mktemp("scratch"),
        )
        return grader.grade(workspace, suite, canaries)

    yield grade
