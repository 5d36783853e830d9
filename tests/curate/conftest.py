from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from nanobench.archives.entries import Entry
from nanobench.ecosystems import debian
from nanobench.ecosystems.deb_tree import Tree
from nanobench.ecosystems.deb_unpack import unpack_all
from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.online import Online
from nanobench.image.workbench import Workbench
from nanobench.model.environment import DebianBase, Environment
from nanobench.project.files import Project, Spec
from nanobench.store.store import Store


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
