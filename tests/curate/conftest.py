from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import select
import shutil
import socket
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from attrs import frozen

from nanobench.archives.entries import Entry
from nanobench.archives.oci import CONFIG_TYPE, LAYER_TYPE, MANIFEST_TYPE
from nanobench.ecosystems import debian
from nanobench.ecosystems.deb_tree import Tree
from nanobench.ecosystems.deb_unpack import unpack_all
from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.online import Online
from nanobench.formats.digest import sha256
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.environment import DebianBase, Environment
from nanobench.project.files import Project, Spec
from nanobench.store.store import Store

PROGRAMS = ("cat", "chmod", "cmp", "comm", "cp", "dash", "env", "git", "mkdir", "rm", "sed", "sh", "sort", "xargs")
LIBRARIES = ("ld-linux", "libacl", "libattr", "libc.so", "libm.so", "libpcre2-8", "libselinux", "libz.so")
PYTHON = ("libcrypto", "libdl", "libexpat", "libffi", "libgcc_s", "libpthread", "librt", "libutil")


@pytest.fixture
def spec(repository: Project, demo: str) -> Spec[Environment]:
    """The demo task's environment, as the curator wrote it."""
    return repository.environment(repository.task(demo).value.environment)


# A CPython that is newer than bookworm's, made of a few of trixie's packages. It brings its own C library; so that it
# may lie at /opt/python, two paths are replaced by others of the same length: its loader, and where that looks.
TRIXIE = "0" * 63 + "2"
"""The recipe under which the warm store remembers it; raise it to make that anew."""
NEEDED = "python3.13-minimal", "libpython3.13-minimal", "libpython3.13-stdlib", "libc6", "libexpat1", "zlib1g"
PLACES = {
    "usr/bin/": "python/bin/",
    "usr/lib/python3.13/": "python/lib/python3.13/",
    "usr/lib/x86_64-linux-gnu/": "python/lib/x8664/",
}
REPLACED = {
    b"/lib64/ld-linux-x86-64.so.2": b"/opt/python/lib/x8664/ld.so",
    b"\0/lib/x86_64-linux-gnu/": b"\0/opt/python/lib/x8664/",
}


@pytest.fixture(scope="session")
def cpython(bench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """CPython 3.13 as a ``.tar.gz`` with one folder."""
    store = bench.store
    known = store.recall(TRIXIE)
    if known is None or not store.has(known["archive"]):
        known = {"archive": store.put(_cpython(store, tmp_path_factory.mktemp("trixie")))}
        store.remember(TRIXIE, known)
    return store.read(known["archive"])


def _cpython(store: Store, work: Path) -> bytes:
    with Online() as online:
        base = DebianBase(debian="trixie", packages=("python3",))
        found = debian.resolve(base, online=online, work=work / "apt").packages
        pinned = [p for p in found if p.path.rpartition("/")[2].partition("_")[0] in NEEDED]
        fetch(pinned, store, online=online, say=lambda _: None)
    tree, out = Tree(0), io.BytesIO()
    unpack_all(pinned, store, work, tree)
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for entry in tree:
            for place, moved in PLACES.items():
                if entry.path.startswith(place) and not entry.link.startswith("/"):
                    _add(archive, moved + entry.path.removeprefix(place), entry)
        for path, link in (("bin/python3", "python3.13"), ("lib/x8664/ld.so", "ld-linux-x86-64.so.2")):
            _add(archive, f"python/{path}", Entry(path=path, kind="symlink", mode=0o777, mtime=0, link=link))
    return out.getvalue()


def _add(archive: tarfile.TarFile, path: str, entry: Entry) -> None:
    member = tarfile.TarInfo(path)
    member.mode = entry.mode
    if entry.kind == "symlink":
        member.type, member.linkname = tarfile.SYMTYPE, entry.link
        archive.addfile(member)
    elif entry.content is not None:
        with entry.content() as file:
            data = file.read()
        for old, new in REPLACED.items():
            data = data.replace(old, new)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))


@frozen
class ImageRegistry:
    """Debian's ``docker-registry`` on loopback, with nothing in it but what tests push."""

    host: str

    def push(self, name: str, layer: bytes, **config: Any) -> None:
        """Put an image of this layer there, packed, as ``name:1``."""
        document = {
            "architecture": "amd64",
            "created": "2024-05-06T07:08:09.123456789Z",
            "os": "linux",
            "rootfs": {"type": "layers", "diff_ids": [sha256(layer)]},
            **config,
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": self._blob(name, json.dumps(document).encode(), CONFIG_TYPE),
            "layers": [self._blob(name, gzip.compress(layer, 1), f"{LAYER_TYPE}+gzip")],
        }
        url, headers = f"http://{self.host}/v2/{name}/manifests/1", {"Content-Type": MANIFEST_TYPE}
        httpx.put(url, content=json.dumps(manifest).encode(), headers=headers).raise_for_status()

    def _blob(self, name: str, data: bytes, media_type: str) -> Any:
        begun = httpx.post(f"http://{self.host}/v2/{name}/blobs/uploads/").raise_for_status()
        place = httpx.URL(begun.headers["Location"]).copy_merge_params({"digest": sha256(data)})
        httpx.put(place, content=data, timeout=60).raise_for_status()
        return {"mediaType": media_type, "digest": sha256(data), "size": len(data)}


@pytest.fixture(scope="session")
def image_registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageRegistry]:
    """A registry of images of our own."""
    if shutil.which("docker-registry") is None:
        assert not os.environ.get("CI") or os.geteuid() != 0, "continuous integration must install docker-registry"
        pytest.skip("docker-registry is not installed")
    place = tmp_path_factory.mktemp("images")
    with socket.create_server(("127.0.0.1", 0)) as free:
        host = f"127.0.0.1:{free.getsockname()[1]}"
    settings = {"version": "0.1", "http": {"addr": host}, "storage": {"filesystem": {"rootdirectory": str(place)}}}
    (place / "config.yml").write_text(json.dumps(settings))
    with (
        (place / "log").open("wb") as log,
        subprocess.Popen(["docker-registry", "serve", place / "config.yml"], stdout=log, stderr=log) as process,
    ):
        try:
            while process.poll() is None:
                with contextlib.suppress(httpx.TransportError):
                    assert httpx.get(f"http://{host}/v2/").status_code == 200
                    break
                select.select([], [], [], 0.05)
            yield ImageRegistry(host)
        finally:
            process.terminate()


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
