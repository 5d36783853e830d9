"""The demo task's Debian with a real Node, npm and pnpm over it, and small packages of our own."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from nanobench.archives.entries import Entry
from nanobench.archives.layer import LayerFacts, write_layer
from nanobench.archives.unpack import unpack_layer
from nanobench.ecosystems import node
from nanobench.ecosystems.npm import NODE, package_of
from nanobench.ecosystems.npm_lockfile import purl_of, tarball_path
from nanobench.ecosystems.npm_registry import look_up, obtain
from nanobench.ecosystems.online import Online
from nanobench.ecosystems.python import target_of
from nanobench.ecosystems.workshop import Workshop
from nanobench.formats.converter import structure, unstructure
from nanobench.image.realise import Locks, realise_environment
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Digest
from nanobench.model.lock import Package

NODE_VERSION, NPM, PNPM = "22.23.3", "npm@11.21.1", "pnpm@10.12.1"
Shop = Callable[[str], Workshop]


def pack(files: dict[str, Any]) -> bytes:
    """A gzipped tar of name → bytes, or a TarInfo."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path, content in files.items():
            member = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(path)
            data = b"" if isinstance(content, tarfile.TarInfo) else content
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


@pytest.fixture(scope="session")
def integrity() -> Callable[[bytes], str]:
    return lambda data: "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


@pytest.fixture(scope="session")
def tarball() -> Callable[..., bytes]:
    """A package's tarball: ``tarball("a", "1.0.0", {"index.js": b""}, bin="cli.js")``."""

    def make(name: str, version: str = "1.0.0", files: dict[str, Any] | None = None, **manifest: Any) -> bytes:
        own = json.dumps({"name": name, "version": version, **manifest}).encode()
        inner = {f"package/{path}": data for path, data in (files or {"index.js": b""}).items()}
        return pack({"package/package.json": own, **inner})

    return make


@pytest.fixture(scope="session")
def raw_tarball() -> Callable[[dict[str, Any]], bytes]:
    return pack


@pytest.fixture(scope="session")
def pinned(bench: Workbench) -> Callable[..., Package]:
    """Put a tarball into the store and pin it."""

    def pin(name: str, data: bytes, version: str = "1.0.0") -> Package:
        digest = Digest(f"sha512:{hashlib.sha512(data).hexdigest()}")
        if not bench.store.has(digest):
            with bench.store.incoming(digest, len(data)) as incoming:
                incoming.write(data)
        path = tarball_path(name, version)
        return Package(purl=purl_of(name, version), role="npm", path=path, digest=digest, size=len(data))

    return pin


@pytest.fixture(scope="session")
def tools(bench: Workbench) -> Callable[[str], tuple[Package, ...]]:
    """Real Node and a package manager, pinned; asked for once in a store's life."""

    def get(manager: str) -> tuple[Package, ...]:
        recipe = hashlib.sha256(f"test tools {NODE_VERSION} {manager}".encode()).hexdigest()
        known = bench.store.recall(recipe)
        if known is None:
            with Online() as online:
                name, version = manager.split("@")
                placed = [look_up(NODE, NODE_VERSION, online=online), look_up(name, version, online=online)]
                sizes = obtain(placed, bench.store, online=online)
            known = {"packages": [unstructure(package_of(p, "node", sizes)) for p in placed]}
            bench.store.remember(recipe, known)
        return tuple(structure(p, Package, where="test") for p in known["packages"])

    return get


@pytest.fixture(scope="session")
def layer_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[tuple[Entry, ...]], LayerFacts]:
    """The layer that some entries make."""
    place = tmp_path_factory.mktemp("layers") / "layer.tar"

    def write(entries: tuple[Entry, ...]) -> LayerFacts:
        with place.open("wb") as out:
            return write_layer(entries, out, epoch=1_700_000_000)

    return write


@pytest.fixture(scope="session")
def shop_of(
    bench: Workbench,
    locks: Locks,
    tools: Callable[[str], tuple[Package, ...]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Shop]:
    """Makes a workshop in Debian with Node and that package manager."""
    debian = realise_environment(locks.environment, online=None, bench=bench).trees[0]
    trees: dict[str, Path] = {}
    with ExitStack() as stack:

        def make(manager: str) -> Workshop:
            if manager not in trees:
                place = tmp_path_factory.mktemp("node")
                (place / "unpacked").mkdir()
                entries = node.assemble(tools(manager), bench.store, place / "unpacked", epoch=1_700_000_000)
                with (place / "layer.tar").open("wb") as out:
                    write_layer(entries, out, epoch=1_700_000_000)
                (place / "tree").mkdir()
                unpack_layer(place / "layer.tar", place / "tree")
                bench.engine.own(place / "tree")
                trees[manager] = place / "tree"
            return Workshop(
                engine=bench.engine,
                store=bench.store,
                layers=(debian, trees[manager]),
                scratch=stack.enter_context(bench.store.scratch("test")),
                epoch=1_700_000_000,
                target=target_of("bookworm"),
            )

        yield make


@pytest.fixture
def tree(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    """A base tree: path → bytes, text, or anything that becomes JSON."""

    def grow(files: dict[str, Any]) -> Path:
        root = tmp_path / "base"
        root.mkdir()
        for path, content in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            data = content if isinstance(content, bytes | str) else json.dumps(content)
            file.write_bytes(data if isinstance(data, bytes) else data.encode())
        return root

    return grow
