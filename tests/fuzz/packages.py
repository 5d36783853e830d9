"""Targets: archives, and what package managers and their registries write."""

from __future__ import annotations

import io
import tarfile
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import httpx

from nanobench.archives.bounds import Meter
from nanobench.archives.layer import write_layer
from nanobench.archives.reader import extract
from nanobench.archives.root import Root
from nanobench.archives.unpack import unpack_layer
from nanobench.ecosystems import apt_sources, oci_documents, py_uv
from nanobench.ecosystems.deb_archive import members, unpack
from nanobench.ecosystems.deb_control import stanzas
from nanobench.ecosystems.deb_keys import certificates
from nanobench.ecosystems.deb_scripts import alternatives, unmet
from nanobench.ecosystems.deb_unpack import Installed
from nanobench.ecosystems.devcontainer import read as read_devcontainer
from nanobench.ecosystems.image import members as image_members
from nanobench.ecosystems.locations import Locations
from nanobench.ecosystems.node_lockfile import read_project_lock, with_registry
from nanobench.ecosystems.npm_lockfile import read_package_lock
from nanobench.ecosystems.npm_registry import look_up
from nanobench.ecosystems.oci_token import authorization
from nanobench.ecosystems.online import Gone, Online, Unreachable
from nanobench.ecosystems.pnpm_lockfile import importers_of, read_pnpm_lock
from nanobench.ecosystems.py_sdist import read_sdist
from nanobench.ecosystems.reasons import retry_after
from nanobench.ecosystems.registries import Registries
from nanobench.errors import Refused
from nanobench.formats import json as canonical
from nanobench.formats.digest import from_integrity
from nanobench.leaks.contents import Contents
from nanobench.leaks.copies import Project, newer_copy
from nanobench.leaks.git_objects import links
from nanobench.model.lock import Package
from tests.fuzz.base import SMALL, as_file, place, target

PYPI, NPM = (
    Project(ecosystem="pypi", name="toy", version="1.0"),
    Project(ecosystem="npm", name="toy", version="1.0.0"),
)

# Archives ---------------------------------------------------------------------------------------------------------


@target
def archive(data: bytes) -> object:
    """A tar, a gzipped tar or a zip."""
    with place() as folder:
        return extract(as_file(data, folder), folder / "out", where="archive", bounds=SMALL, strip=1)


@target
def layer(data: bytes) -> object:
    """A layer."""
    with place() as folder:
        (folder / "out").mkdir()
        unpack_layer(as_file(data, folder), folder / "out")
        return sorted((folder / "out").iterdir())


@target
def image_layers(data: bytes) -> object:
    """A layer of a published image, twice over itself, and the canonical layer of what comes out."""
    with place() as folder:
        path = as_file(data, folder)
        root = Root(epoch=0, limit=SMALL.members, where="image")
        for _ in range(2):
            root.apply(image_members(path, Meter(SMALL, len(data), "image"), "image"))
        root.find("etc/passwd")
        return write_layer(root, io.BytesIO(), epoch=0)


@target
def deb(data: bytes) -> object:
    """A .deb and the members of its data."""
    with place() as folder:
        found = unpack(as_file(data, folder), folder / "data", where="deb")
        return found.control, list(members(found.data, where="deb"))


@target
def contents(data: bytes) -> object:
    """A file of an image with all that is packed in it, git objects too, and metadata of packages."""
    found = Contents(bounds=SMALL)
    pieces = list(found.of("file", io.BytesIO(data), len(data)))
    named = [links(piece.git) for piece in pieces if piece.git]
    copies = [newer_copy(name, data, (PYPI, NPM)) for name in ("/x/METADATA", "/x/package.json")]
    return canonical.dump({"unread": found.unread, "named": named, "copies": [copy or "" for copy in copies]})


@target
def sdist(data: bytes) -> object:
    """The metadata of a source archive."""
    with place() as folder:
        path = folder / "a.tar"
        project, _, info = data.partition(b"\0")
        with tarfile.open(path, "w") as out:
            files = {"pyproject.toml": project, "PKG-INFO": info, "a.egg-info/requires.txt": info}
            for name, content in files.items():
                member = tarfile.TarInfo(f"a/{name}")
                member.size = len(content)
                out.addfile(member, io.BytesIO(content))
        return read_sdist(path, folder / "out", where="sdist")


# Package managers -------------------------------------------------------------------------------------------------


@target
def control(data: bytes) -> object:
    """Debian's stanzas and apt's sources."""
    text = data.decode("utf-8", "replace")
    with place() as etc:
        (etc / "sources.list.d").mkdir()
        (etc / "sources.list").write_bytes(data)
        (etc / "sources.list.d/a.sources").write_bytes(data)
        return list(stanzas(text.split("\n"))), apt_sources.archive_uris(etc, "bookworm")


@target
def maintainer_script(data: bytes) -> object:
    """What a maintainer script would do."""
    package = Installed(name="a", fields={}, control={"postinst": data, "preinst": data}, paths=())
    return alternatives([package]), unmet([package])


@target
def keyring(data: bytes) -> object:
    """An OpenPGP keyring."""
    try:
        return list(certificates(data))
    except ValueError as error:  # as its docstring says
        return error


@target
def npm_lock(data: bytes) -> object:
    """A package-lock: of npm's own making, and a project's."""
    for read in (read_package_lock, read_project_lock):
        try:
            found = read(data, where="lock")
        except Refused:
            continue
        assert all(package_of(placed) for placed in found)
        with_registry(data, "http://localhost", where="lock")
    return None


@target
def pnpm_lock(data: bytes) -> object:
    """A pnpm-lock.yaml."""
    names = {folder: "a" for folder in importers_of(data, where="lock")}
    return [package_of(placed) for placed in read_pnpm_lock(data, names=names, filters=(), where="lock")]


def package_of(placed: Any) -> Package:
    """What a lock of ours would hold."""
    return Package(purl=placed.purl, role="npm", path=placed.path, digest=placed.digest, size=1)


@target
def integrity(data: bytes) -> object:
    """An npm integrity."""
    return from_integrity(data.decode("utf-8", "replace"), where="integrity")


@target
def pylock(data: bytes) -> object:
    """What uv wrote for a hostile index."""
    return py_uv._read(data, "pylock")


@target
def registry(data: bytes) -> object:
    """What a registry answers: npm's metadata, a page of the simple index, headers."""
    kind, _, body = data.partition(b"\n")
    headers = {"Content-Type": kind.decode("latin-1")} if kind.isascii() and kind.decode().isprintable() else {}
    wire = httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, content=body))
    env = {"NANOBENCH_NPM_REGISTRY": "http://npm.test", "NANOBENCH_PYPI_INDEX": "http://pypi.test/simple"}
    registries = Registries(
        env=env, home=Path("/nonexistent"), etc=Path("/nonexistent"), project=Path("/nonexistent")
    )
    retry_after(kind.decode("utf-8", "replace"))
    with Online(registries, transport=wire, sleep=lambda _: None) as online:
        with suppress(Gone, Unreachable):
            Locations(online)._read_page("a")
        return package_of(look_up("a", "1.0.0", online=online))


@target
def login(data: bytes) -> object:
    """What a registry of images asks for before it lets anybody pull, and the token that it gives."""
    asked, _, body = data.partition(b"\n")
    headers = [(b"WWW-Authenticate", asked)]
    answers = iter([httpx.Response(401, headers=headers), *[httpx.Response(200, content=body)] * 9])
    with Online(transport=httpx.MockTransport(lambda _: next(answers)), sleep=lambda _: None) as online:
        try:
            return authorization("http://images.test/v2", "a/b", online=online)
        except (Gone, Unreachable) as error:  # as its docstring says
            return error


@target
def image_documents(data: bytes) -> object:
    """Index, manifest and configuration of a published image."""
    for read in (oci_documents.choose, oci_documents.read_manifest, oci_documents.read_config):
        with suppress(Refused):
            read(data, where="image")
    return oci_documents.media_type(data, "", where="image")


@target
def devcontainer(data: bytes) -> object:
    """A devcontainer.json."""
    return read_devcontainer(data, PurePosixPath("e/devcontainer.json"), where="devcontainer.json")
