"""What a registry may answer, and what of it is believed. The server is simulated: real ones do not lie on demand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.oci_documents import EARLIEST, choose, read_config, read_manifest
from nanobench.ecosystems.oci_reference import parse
from nanobench.ecosystems.oci_registry import resolve
from nanobench.ecosystems.online import Online
from nanobench.ecosystems.registries import Registries
from nanobench.errors import CannotTell, NanobenchError, Refused
from nanobench.formats.digest import sha256
from nanobench.store.store import Store

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
CONFIG = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
HOST = "registry.test"


class Server:
    """A registry in memory: files by their path below ``/v2/``, everything asked with its headers."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[bytes, str]] = {}
        self.asked: list[httpx.Request] = []
        self.challenge: str | None = None
        self.redirect: str | None = None

    def add(
        self, document: Any, kind: str = "blobs", media_type: str = "", name: str | None = None
    ) -> dict[str, Any]:
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        for each in (sha256(data), name or sha256(data)):
            self.files[f"team/tool/{kind}/{each}"] = (data, media_type)
        return {"mediaType": media_type, "digest": sha256(data), "size": len(data)}

    def image(self, tag: str | None = "1", *, config: Any = None, manifest: Any = None) -> dict[str, Any]:
        """Put an image there, with these changes to its configuration and its manifest."""
        rootfs = {"type": "layers", "diff_ids": [sha256(b"layer")]}
        facts = {"os": "linux", "architecture": "amd64", "created": "2024-01-01T00:00:00Z", "rootfs": rootfs}
        document = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": self.add({**facts, **(config or {})}, media_type=CONFIG),
            "layers": [self.add(b"layer", media_type=LAYER)],
        }
        return self.add(document | (manifest or {}), "manifests", MANIFEST, tag)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        if request.url.host == "auth.test":
            return httpx.Response(200, json={"token": "anybody"})
        shown = request.headers.get("Authorization") == "Bearer anybody"
        if self.challenge and request.url.host == HOST and not shown:
            return httpx.Response(401, headers={"WWW-Authenticate": self.challenge})
        path = request.url.path.removeprefix("/v2/")
        if self.redirect and "/blobs/" in path and request.url.host == HOST:
            return httpx.Response(307, headers={"Location": f"{self.redirect}{request.url.path}"})
        if path and path not in self.files:
            return httpx.Response(404)
        data, media_type = self.files.get(path, (b"", ""))
        return httpx.Response(200, stream=httpx.ByteStream(data), headers={"Content-Type": media_type})


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def ask(server: Server, store: Store, tmp_path: Path) -> Callable[..., Any]:
    def resolved(name: str = f"{HOST}/team/tool:1", *, files: bool = False, env: Any = None) -> Any:
        registries = Registries(env=env or {}, home=tmp_path, etc=tmp_path, project=tmp_path)
        transport = httpx.MockTransport(server)
        with Online(registries, transport=transport, sleep=lambda _: None) as online:
            found = resolve(name, store=store, online=online, where="base.image")
            if files:
                fetch(found.packages, store, online=online, say=lambda _: None)
        return found

    return resolved


def test_manifest_configuration_and_layers_are_pinned(ask: Any, server: Server) -> None:
    manifest = server.image()
    found = ask(files=True)
    assert [p.path.split("/")[2] for p in found.packages] == ["manifests", "blobs", "blobs"]
    assert found.packages[0].digest == manifest["digest"]
    assert {p.role for p in found.packages} == {"image"}
    assert found.packages[2].purl == f"pkg:oci/tool@{sha256(b'layer')}" + (f"?repository_url={HOST}/team/tool")
    assert found.source_date_epoch == 1_704_067_200
    assert {request.url.scheme for request in server.asked} == {"https"}


def test_the_image_of_our_platform_is_taken_from_an_index(ask: Any, server: Server) -> None:
    ours, other = server.image(None), server.image(None, config={"architecture": "arm64"})
    entries = [
        {**other, "platform": {"os": "linux", "architecture": "arm64"}},
        {**ours, "platform": {"os": "linux", "architecture": "amd64"}},
    ]
    index = server.add({"schemaVersion": 2, "mediaType": LIST, "manifests": entries}, "manifests", LIST, "1")
    assert ask().packages[0].digest == ours["digest"]
    assert ask(f"{HOST}/team/tool@{index['digest']}").packages[0].digest == ours["digest"]


def test_an_index_without_our_platform_is_refused_by_name(ask: Any, server: Server) -> None:
    other = server.image(None, config={"architecture": "arm64"})
    entry = {**other, "platform": {"os": "linux", "architecture": "arm64"}}
    server.add({"schemaVersion": 2, "mediaType": LIST, "manifests": [entry, {}, 7]}, "manifests", LIST, "1")
    with pytest.raises(Refused, match=r"NB_IMAGE_PLATFORM: .*linux/arm64"):
        ask()
    with pytest.raises(Refused, match=r"NB_IMAGE_PLATFORM: .*linux/arm64"):
        ask(f"{HOST}/team/tool@{other['digest']}")


@pytest.mark.parametrize("kind", ["manifests", "blobs"])
def test_other_bytes_than_asked_for_are_refused(ask: Any, server: Server, kind: str) -> None:
    manifest = server.image()
    for path in [p for p in server.files if f"/{kind}/sha256" in p]:
        server.files[path] = (server.files[path][0] + b" ", server.files[path][1])
    with pytest.raises(Refused, match="NB_DIGEST"):
        ask(f"{HOST}/team/tool@{manifest['digest']}")


@pytest.mark.parametrize(
    "change",
    [
        {"mediaType": "application/vnd.docker.distribution.manifest.v1+prettyjws"},
        {"mediaType": LIST},
        {"config": None},
        {"config": {"mediaType": "application/json", "digest": sha256(b""), "size": 0}},
        {"layers": []},
        {"layers": None},
        {"layers": [{"mediaType": "text/html", "digest": sha256(b""), "size": 0}]},
        {"layers": [{"mediaType": LAYER, "digest": "sha256:../../etc/passwd", "size": 0}]},
        {"layers": [{"mediaType": LAYER, "digest": sha256(b""), "size": -1}]},
        {"layers": [{"mediaType": LAYER, "digest": sha256(b""), "size": True}]},
        {"layers": [{"mediaType": LAYER, "digest": sha256(b""), "size": 1 << 50}]},
        {"layers": [{"mediaType": LAYER, "digest": sha256(b""), "size": 1}] * 300},
    ],
)
def test_what_is_no_image_that_we_read_is_refused(ask: Any, server: Server, change: dict[str, Any]) -> None:
    server.image(manifest=change)
    with pytest.raises(Refused, match="NB_IMAGE_MANIFEST"):
        ask()


@pytest.mark.parametrize("rootfs", [None, {}, {"diff_ids": []}, {"diff_ids": 7}, {"diff_ids": ["a", "b"]}])
def test_a_configuration_that_does_not_name_every_layer_is_refused(ask: Any, server: Server, rootfs: Any) -> None:
    server.image(config={"rootfs": rootfs})
    with pytest.raises(Refused, match=r"NB_IMAGE_MANIFEST: .*1 layers, and digests of [02]"):
        ask()


def test_a_public_registry_gives_a_token_which_goes_nowhere_else(ask: Any, server: Server) -> None:
    server.image()
    server.challenge = 'Bearer realm="https://auth.test/token",service="registry.test"'
    server.redirect = "https://files.test"
    ask(files=True)
    token = next(request for request in server.asked if request.url.host == "auth.test")
    assert dict(token.url.params) == {"scope": "repository:team/tool:pull", "service": "registry.test"}
    elsewhere = [request for request in server.asked if request.url.host == "files.test"]
    assert elsewhere
    assert not any("Authorization" in request.headers for request in elsewhere)


@pytest.mark.parametrize(
    "challenge", ['Basic realm="x"', "Bearer", 'Bearer realm="http://auth.test/"', "Digest x", ""]
)
def test_a_registry_that_wants_a_login_cannot_be_used(ask: Any, server: Server, challenge: str) -> None:
    server.image()
    server.challenge = challenge or " "
    with pytest.raises(CannotTell, match="wants a login"):
        ask()


def test_a_name_that_is_not_there_cannot_be_told(ask: Any, server: Server) -> None:
    with pytest.raises(CannotTell, match="NB_SOURCE_GONE"):
        ask()


def test_another_registry_serves_the_same_pins(ask: Any, server: Server) -> None:
    server.image()
    server.files = {f"/base/v2/{path}": file for path, file in server.files.items()} | {"/base/v2/": (b"", "")}
    found = ask(env={"NANOBENCH_IMAGE_REGISTRY": "https://mirror.test/base"}, files=True)
    assert {request.url.host for request in server.asked} == {"mirror.test"}
    assert "mirror" not in "".join(p.purl for p in found.packages)


@pytest.mark.parametrize(
    ("text", "host", "repository", "tag"),
    [
        ("registry.test/a/b:x", "registry.test", "a/b", "x"),
        ("localhost:5000/a", "localhost:5000", "a", "latest"),
        (f"registry.test/a:1@{sha256(b'')}", "registry.test", "a", "1"),
        ("tool:3.12", "docker.io", "library/tool", "3.12"),
        ("team/tool", "docker.io", "team/tool", "latest"),
    ],
)
def test_references_are_read_as_everywhere(text: str, host: str, repository: str, tag: str) -> None:
    found = parse(text, where="")
    assert (found.host, found.repository, found.tag) == (host, repository, tag)


@pytest.mark.parametrize(
    "text",
    ["registry.test/A", "a@sha256:0", "a@md5:0", "x..y/../z", "registry.test/a b", "http://x/y"],
)
def test_what_names_no_image_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="NB_IMAGE_REFERENCE"):
        parse(text, where="base.image")


@pytest.mark.parametrize(
    "created", [None, 7, "", "0001-01-01T00:00:00Z", "2024-13-01T00:00:00Z", "1970-01-01T00:00:00Z"]
)
def test_an_image_without_a_usable_time_is_of_the_first_year_of_zips(created: Any) -> None:
    document = {"os": "linux", "architecture": "amd64", "created": created}
    assert read_config(json.dumps(document).encode(), where="").epoch == EARLIEST


LEAVES = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from([LAYER, CONFIG, sha256(b"")])
)
KEYS = st.sampled_from(["manifests", "layers", "config", "mediaType", "digest", "size", "platform", "os", "rootfs"])
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5))


@given(JSON.map(lambda document: json.dumps(document).encode()) | st.binary(max_size=50))
def test_no_document_at_all_breaks_the_program(data: bytes) -> None:
    for read in (choose, read_manifest, read_config):
        try:
            read(data, where="foreign")
        except NanobenchError as error:
            assert error.exit_code == 1
