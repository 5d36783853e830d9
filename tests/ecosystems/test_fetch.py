from __future__ import annotations

import hashlib
import http.server
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from nanobench.ecosystems.fetch import Online, fetch
from nanobench.ecosystems.registries import Registries
from nanobench.errors import CannotTell, MachineFailure, Refused
from nanobench.model.fields import Digest
from nanobench.model.lock import Package
from nanobench.store.store import Store


def package(name: str, data: bytes, kind: str = "deb") -> Package:
    purl, path = {
        "deb": (f"pkg:deb/debian/{name}@1?arch=all&distro=bookworm", f"pool/{name}_1_all.deb"),
        "npm": (f"pkg:npm/{name}@1", f"{name}/-/{name}-1.tgz"),
        "pypi": (f"pkg:pypi/{name}@1", f"{name}/{name}-1-py3-none-any.whl"),
        "gem": (f"pkg:gem/{name}@1", f"{name}.gem"),
        "generic": (f"pkg:generic/{name}@1", f"{name}.tgz"),
    }[kind]
    digest = Digest(f"sha256:{hashlib.sha256(data).hexdigest()}")
    return Package(purl=purl, role="debian", path=path, digest=digest, size=len(data))


class Archive:
    """A simulated server behind the real interface: URL → answer, and a record of what was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.serves: dict[str, Callable[[], httpx.Response]] = {}
        self._lock = threading.Lock()

    def put(self, url: str, data: bytes, **headers: str) -> None:
        lengths = {"Content-Length": str(len(data)), **headers}
        self.serves[url] = lambda: httpx.Response(200, content=iter([data]), headers=lengths)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        with self._lock:
            self.asked.append(str(request.url))
        make = self.serves.get(str(request.url))
        return make() if make else httpx.Response(404)


@pytest.fixture
def archive() -> Archive:
    return Archive()


@pytest.fixture
def online(archive: Archive) -> Iterator[Online]:
    env = {
        "NANOBENCH_DEBIAN_MIRROR": "http://one.example/debian http://user:secret@two.example/debian",
        "NANOBENCH_NPM_REGISTRY": "https://npm.example",
        "NANOBENCH_PYPI_INDEX": "https://index.example/simple",
    }
    transport = httpx.MockTransport(archive)
    with Online(Registries(env=env, etc=Path("/nonexistent")), transport=transport, sleep=lambda _: None) as session:
        yield session


def quiet(_: str) -> None:
    pass


def test_a_fetched_file_is_in_the_store_and_is_not_asked_for_again(
    archive: Archive, online: Online, store: Store
) -> None:
    one = package("a", b"data")
    archive.put("http://one.example/debian/pool/a_1_all.deb", b"data")
    said: list[str] = []
    fetch([one, one], store, online=online, say=said.append)
    assert store.read(one.digest) == b"data"
    assert len(archive.asked) == 1
    assert said == ["fetching 1 files, 0.0 MiB", "fetched 1 files"]
    fetch([one], store, online=online, say=said.append)
    assert len(archive.asked) == 1 and len(said) == 2


def test_offline_makes_no_connection_and_names_every_missing_file(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, missing = package("here", b"here"), [package(name, name.encode()) for name in ("b", "a")]
    store.put(b"here")
    for owner, name in ((socket, "socket"), (httpx, "Client"), (socket, "getaddrinfo")):
        monkeypatch.setattr(owner, name, lambda *_, **__: pytest.fail("a connection was made"))
    fetch([here], store, online=None, say=pytest.fail)
    with pytest.raises(CannotTell, match="NB_OFFLINE") as refusal:
        fetch([here, *missing], store, online=None, say=pytest.fail)
    assert refusal.value.details == (missing[1].purl, missing[0].purl)
    assert refusal.value.exit_code == 3


def test_other_bytes_than_locked_are_refused_and_not_kept(archive: Archive, online: Online, store: Store) -> None:
    one = package("a", b"data")
    for host in ("one.example", "two.example"):
        archive.put(f"http://{host}/debian/pool/a_1_all.deb", b"DATA")
    with pytest.raises(Refused, match="NB_DIGEST") as refusal:
        fetch([one], store, online=online, say=quiet)
    assert one.purl in str(refusal.value)
    assert not store.has(one.digest)
    assert store.leftovers() == ()


def test_an_endless_file_is_cut_at_its_declared_size(archive: Archive, online: Online, store: Store) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b"x" * 1024

    archive.serves["https://npm.example/a/-/a-1.tgz"] = lambda: httpx.Response(200, content=endless())
    with pytest.raises(Refused, match="NB_DIGEST"):
        fetch([package("a", b"x" * 4096, "npm")], store, online=online, say=quiet)
    assert sent == 5


def test_a_wrong_declared_length_is_refused_before_the_first_byte(
    archive: Archive, online: Online, store: Store
) -> None:
    archive.put("https://npm.example/a/-/a-1.tgz", b"longer")
    received: list[int] = []
    with pytest.raises(Refused, match="6 bytes instead of 4"):
        fetch([package("a", b"data", "npm")], store, online=online, say=quiet, progress=received.append)
    assert received == []


@pytest.mark.parametrize("first", [None, b"DATA"])
def test_the_next_mirror_is_tried_when_the_first_has_no_or_a_wrong_file(
    archive: Archive, online: Online, store: Store, first: bytes | None
) -> None:
    if first is not None:
        archive.put("http://one.example/debian/pool/a_1_all.deb", first)
    archive.put("http://user:secret@two.example/debian/pool/a_1_all.deb", b"data")
    fetch([package("a", b"data")], store, online=online, say=quiet)
    assert len(archive.asked) == 2


def test_all_failures_are_listed_at_once_and_the_rest_is_fetched(
    archive: Archive, online: Online, store: Store
) -> None:
    packages = [package(name, name.encode(), "npm") for name in ("a", "b", "c")]
    archive.put("https://npm.example/b/-/b-1.tgz", b"b")
    with pytest.raises(CannotTell, match="NB_SOURCE_GONE") as refusal:
        fetch(packages, store, online=online, say=quiet)
    assert [detail.partition(": ")[0] for detail in refusal.value.details] == [packages[0].purl, packages[2].purl]
    assert store.has(packages[1].digest)


def test_gone_from_one_mirror_and_no_answer_from_the_other_is_not_gone(
    archive: Archive, online: Online, store: Store
) -> None:
    archive.serves["http://user:secret@two.example/debian/pool/a_1_all.deb"] = lambda: httpx.Response(500)
    with pytest.raises(CannotTell, match="NB_UNREACHABLE") as refusal:
        fetch([package("a", b"data")], store, online=online, say=quiet)
    assert "http://one.example/debian/pool/a_1_all.deb: 404" in str(refusal.value)
    assert "http://two.example/debian/pool/a_1_all.deb: HTTP status 500" in str(refusal.value)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("form", ["json", "html"])
def test_python_files_are_found_on_the_projects_page_which_is_read_once(
    archive: Archive, online: Online, store: Store, form: str
) -> None:
    wheel, sdist = package("a", b"wheel", "pypi"), package("a", b"sdist", "pypi")
    object.__setattr__(sdist, "path", "a/a-1.tar.gz")
    links = {"a-1-py3-none-any.whl": "../../files/w.whl", "a-1.tar.gz": "https://files.example/s.tar.gz"}
    if form == "json":
        files = [{"filename": name, "url": url, "hashes": {}} for name, url in links.items()]
        page = json.dumps({"meta": {"api-version": "1.0"}, "name": "a", "files": files})
        kind = "application/vnd.pypi.simple.v1+json"
    else:
        page, kind = "".join(f'<a href="{url}">{name}</a>' for name, url in links.items()), "text/html"
    archive.put("https://index.example/simple/a/", page.encode(), **{"Content-Type": kind})
    archive.put("https://index.example/files/w.whl", b"wheel")
    archive.put("https://files.example/s.tar.gz", b"sdist")
    fetch([wheel, sdist], store, online=online, say=quiet)
    assert archive.asked.count("https://index.example/simple/a/") == 1
    assert online.contacted == ("files.example", "index.example")


@pytest.mark.parametrize("url", ["ftp://files.example/a.whl", "file:///etc/passwd"])
def test_a_page_cannot_send_us_to_something_else_than_http(
    archive: Archive, online: Online, store: Store, url: str
) -> None:
    page = f'<a href="{url}">a-1-py3-none-any.whl</a>'.encode()
    archive.put("https://index.example/simple/a/", page, **{"Content-Type": "text/html"})
    with pytest.raises(CannotTell, match="NB_SOURCE_GONE"):
        fetch([package("a", b"wheel", "pypi")], store, online=online, say=quiet)
    assert archive.asked == ["https://index.example/simple/a/"]


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"files": 1}'])
def test_a_page_that_is_none_is_no_answer(archive: Archive, online: Online, store: Store, body: bytes) -> None:
    archive.put("https://index.example/simple/a/", body, **{"Content-Type": "application/vnd.pypi.simple.v1+json"})
    with pytest.raises(CannotTell, match="not a page of a simple index"):
        fetch([package("a", b"wheel", "pypi")], store, online=online, say=quiet)


@pytest.mark.parametrize("kind", ["gem", "generic"])
def test_a_type_without_registry_is_refused(online: Online, store: Store, kind: str) -> None:
    with pytest.raises(Refused, match="NB_PURL"):
        fetch([package("a", b"x", kind)], store, online=online, say=quiet)


def test_a_full_disk_ends_it_at_once(
    archive: Archive, online: Online, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise MachineFailure("NB_DISK_FULL", "the disk is full")

    archive.put("https://npm.example/a/-/a-1.tgz", b"a")
    monkeypatch.setattr(store, "incoming", full)
    with pytest.raises(MachineFailure, match="NB_DISK_FULL"):
        fetch([package("a", b"a", "npm")], store, online=online, say=quiet)


def test_a_registry_that_gives_nothing_is_given_up_after_a_few_files(
    archive: Archive, online: Online, store: Store
) -> None:
    for number in range(400):
        archive.serves[f"https://npm.example/p{number}/-/p{number}-1.tgz"] = lambda: httpx.Response(503)
    packages = [package(f"p{number}", b"%d" % number, "npm") for number in range(400)]
    with pytest.raises(CannotTell, match="NB_UNREACHABLE: 400 files") as refusal:
        fetch(packages, store, online=online, say=quiet)
    assert len(archive.asked) < 100
    assert "not tried (again), for its host had failed" in refusal.value.details[-1]


def test_a_real_connection_that_ends_too_early_is_tried_again(store: Store) -> None:
    data, asked = b"data" * 50_000, []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data if len(asked) > 1 else data[:1000])

        def log_message(self, *_: object) -> None:
            pass

    one = package("a", data, "npm")
    received: list[int] = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        registries = Registries(env={"NANOBENCH_NPM_REGISTRY": f"http://127.0.0.1:{server.server_port}/"})
        with Online(registries, sleep=lambda _: None) as session:
            fetch([one], store, online=session, say=quiet, progress=received.append)
            assert session.contacted == ("127.0.0.1",)
        server.shutdown()
    assert asked == ["/a/-/a-1.tgz"] * 2
    assert store.read(one.digest) == data
    assert sum(received) >= len(data)
