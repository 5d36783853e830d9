"""A package index on the loopback, small wheels and source archives, and one real image to install into."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nanobench.archives.entries import Entry
from nanobench.archives.layer import LayerFacts, write_layer
from nanobench.archives.unpack import unpack_layer
from nanobench.ecosystems import debian
from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.online import Online
from nanobench.ecosystems.python import Workshop, bytecode, install, resolve, target_of
from nanobench.ecosystems.registries import Registries
from nanobench.errors import Refused
from nanobench.model.environment import DebianBase, PythonRequest
from nanobench.model.fields import Digest
from nanobench.model.lock import Package
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.interface import Mount
from nanobench.store.store import Store

EPOCH = 1_764_460_800
SUITE = "bookworm"
IMAGE = "0" * 63 + "1"
"""The recipe under which the kept store remembers the tests' Debian image; raise it to make that anew."""


# Small packages ---------------------------------------------------------------------------------------------------


def make_wheel(name: str, version: str, files: dict[str, bytes], *, requires: tuple[str, ...] = ()) -> bytes:
    """A pure wheel with a correct RECORD."""
    info = f"{name}-{version}.dist-info"
    meta = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    members = {
        **files,
        f"{info}/METADATA": (meta + "".join(f"Requires-Dist: {r}\n" for r in requires)).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = []
    for path, data in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    members[f"{info}/RECORD"] = ("".join(lines) + f"{info}/RECORD,,\n").encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in members.items():
            archive.writestr(zipfile.ZipInfo(path), data)
    return out.getvalue()


def make_sdist(name: str, version: str, files: dict[str, bytes]) -> bytes:
    """A source archive whose files lie below ``name-version/``."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for path, data in files.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


@pytest.fixture(scope="session")
def wheel() -> Callable[..., bytes]:
    return make_wheel


@pytest.fixture(scope="session")
def sdist() -> Callable[..., bytes]:
    return make_sdist


class Index:
    """A simple index (JSON) whose files the test gives; it remembers what it was asked for."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[str] = []
        self._files: dict[str, dict[str, tuple[bytes, str]]] = {}

    def add(self, project: str, file: str, data: bytes, *, uploaded: str = "2026-01-01T00:00:00Z") -> None:
        self._files.setdefault(project, {})[file] = (data, uploaded)

    def answer(self, path: str) -> tuple[str, bytes] | None:
        self.asked.append(path)
        kind, project, *file = path.strip("/").split("/")
        found = self._files.get(project)
        if found is None or (file and file[0] not in found):
            return None
        if kind == "files":
            return "application/octet-stream", found[file[0]][0]
        return "application/vnd.pypi.simple.v1+json", json.dumps(self._page(project)).encode()

    def _page(self, project: str) -> dict[str, object]:
        files = [
            {
                "filename": name,
                "url": f"{self.url}/files/{project}/{name}",
                "hashes": {"sha256": hashlib.sha256(data).hexdigest()},
                "size": len(data),
                "upload-time": uploaded,
            }
            for name, (data, uploaded) in self._files[project].items()
        ]
        return {"meta": {"api-version": "1.1"}, "name": project, "versions": [], "files": files}


@pytest.fixture
def index() -> Iterator[Index]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = served.answer(self.path)
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", found[0] if found else "text/plain")
            self.send_header("Content-Length", str(len(found[1]) if found else 0))
            self.end_headers()
            self.wfile.write(found[1] if found else b"")

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served = Index(f"http://127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield served
        server.shutdown()


@pytest.fixture
def online(index: Index, tmp_path: Path) -> Iterator[Online]:
    """May use the network, but is told of no registry other than ``index``."""
    env = {"NANOBENCH_PYPI_INDEX": f"{index.url}/simple"}
    with Online(Registries(env=env, home=tmp_path, etc=tmp_path, project=tmp_path)) as permission:
        yield permission


# The real image ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def engine() -> Bubblewrap:
    return Bubblewrap()


@pytest.fixture(scope="session")
def packages(kept_store: Store, tmp_path_factory: pytest.TempPathFactory) -> tuple[Package, ...]:
    """A real small environment, pinned, its files in the kept store."""
    request = PythonRequest(
        exclude_newer="2026-11-01",
        requirements=("pytest", "pyyaml", "docopt==0.6.2"),
        build_requirements=("setuptools", "poetry-core"),
    )
    with Online() as permission:
        work = tmp_path_factory.mktemp("resolve")
        found = resolve(request, online=permission, work=work, python="3.11", glibc="2.36")
        fetch(found, kept_store, online=permission, say=lambda _: None)
    return found


@pytest.fixture(scope="session")
def image(kept_store: Store, engine: Bubblewrap, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked Debian layer; made once in a store's life."""
    known = kept_store.recall(IMAGE)
    tree = kept_store.tree(known["tree"]) if known else None
    return tree or _make_image(kept_store, engine, tmp_path_factory.mktemp("apt"))


def _make_image(store: Store, engine: Bubblewrap, work: Path) -> Path:
    with Online() as permission, store.scratch("image") as scratch:
        base = DebianBase(debian=SUITE, packages=("python3",))
        pinned = debian.resolve(base, online=permission, work=work / "state").packages
        fetch(pinned, store, online=permission, say=lambda _: None)
        unpacked, layer = scratch / "unpacked", scratch / "layer.tar"
        unpacked.mkdir()
        facts = _pack(debian.assemble(pinned, store, unpacked, epoch=EPOCH).entries, layer)

        def fill(dest: Path) -> None:
            unpack_layer(layer, dest)
            engine.own(dest)

        key = facts.diff_id.partition(":")[2]
        tree = store.make_tree(key, fill)
        store.remember(IMAGE, {"tree": key})
        return tree


def _pack(entries: tuple[Entry, ...], layer: Path) -> LayerFacts:
    with layer.open("wb") as out:
        return write_layer(entries, out, epoch=EPOCH)


@pytest.fixture(scope="session")
def digest_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[tuple[Entry, ...]], Digest]:
    """The diff_id of the layer that some entries make."""
    place = tmp_path_factory.mktemp("layers") / "layer.tar"
    return lambda entries: _pack(entries, place).diff_id


@pytest.fixture(scope="session")
def new_shop(kept_store: Store, engine: Bubblewrap, image: Path) -> Iterator[Callable[..., Workshop]]:
    """Makes a workshop in the image, plus the layer trees given."""
    with ExitStack() as stack:

        def make(*trees: Path) -> Workshop:
            return Workshop(
                engine=engine,
                store=kept_store,
                layers=(image, *trees),
                scratch=stack.enter_context(kept_store.scratch("test")),
                epoch=EPOCH,
                target=target_of(SUITE),
            )

        yield make


@pytest.fixture(scope="session")
def unpacked(new_shop: Callable[..., Workshop]) -> Callable[[tuple[Entry, ...]], Path]:
    """The tree of the layer that some entries make, owned as a sandbox wants it."""

    def make(entries: tuple[Entry, ...]) -> Path:
        shop = new_shop()
        layer, tree = shop.scratch / "layer.tar", shop.directory("tree")
        _pack(entries, layer)
        unpack_layer(layer, tree)
        shop.engine.own(tree)
        return tree

    return make


@pytest.fixture(scope="session")
def wheels(packages: tuple[Package, ...]) -> tuple[Package, ...]:
    """The small environment without what has to be built."""
    return tuple(p for p in packages if p.path.endswith(".whl"))


@pytest.fixture(scope="session")
def installed(wheels: tuple[Package, ...], new_shop: Callable[..., Workshop]) -> tuple[Entry, ...]:
    """The entries of the small environment's python layer."""
    return install(wheels, shop=new_shop())


@pytest.fixture(scope="session")
def python_layer(installed: tuple[Entry, ...], unpacked: Callable[[tuple[Entry, ...]], Path]) -> Path:
    return unpacked(installed)


@pytest.fixture(scope="session")
def compiled(python_layer: Path, new_shop: Callable[..., Workshop]) -> tuple[Entry, ...]:
    """The entries of the small environment's bytecode layer."""
    return bytecode(shop=new_shop(python_layer))


@pytest.fixture(scope="session")
def inside(new_shop: Callable[..., Workshop]) -> Callable[..., str]:
    """Runs a command in the image and returns what it wrote to both streams."""

    def run(*argv: str, trees: tuple[Path, ...] = (), mounts: tuple[Mount, ...] = ()) -> str:
        shop = new_shop(*trees)
        shop.command(*argv, phase="test", refusal=partial(Refused, "TEST", "it failed"), mounts=mounts)
        return next(shop.scratch.glob("*-log/output")).read_text()

    return run
