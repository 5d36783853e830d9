from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from attrs import evolve

from nanobench.ecosystems.npm_registry import look_up, obtain
from nanobench.ecosystems.online import Online
from nanobench.ecosystems.registries import Registries
from nanobench.errors import CannotTell, Refused
from nanobench.store.store import Store

TARBALL = b"a tarball" * 100
INTEGRITY = "sha512-" + base64.b64encode(hashlib.sha512(TARBALL).digest()).decode()


def online(answer: Callable[[httpx.Request], httpx.Response], tmp_path: Path) -> Online:
    registries = Registries(env={"NANOBENCH_NPM_REGISTRY": "http://r.invalid/npm/"}, home=tmp_path, etc=tmp_path)
    return Online(registries, transport=httpx.MockTransport(answer), sleep=lambda _: None)


def serving(asked: list[str]) -> Callable[[httpx.Request], httpx.Response]:
    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.raw_path.decode())
        if request.url.path.endswith(".tgz"):
            return httpx.Response(200, stream=httpx.ByteStream(TARBALL))
        return httpx.Response(200, json={"dist": {"integrity": INTEGRITY}})

    return answer


def test_a_scoped_version_is_asked_for_by_one_escaped_path(tmp_path: Path) -> None:
    asked: list[str] = []
    found = look_up("@s/n", "1.0.0", online=online(serving(asked), tmp_path))
    assert asked == ["/npm/@s%2Fn/1.0.0"]
    assert found.path == "@s/n/-/n-1.0.0.tgz"


def test_a_tarball_is_fetched_once_checked_and_measured(tmp_path: Path, store: Store) -> None:
    asked: list[str] = []
    client = online(serving(asked), tmp_path)
    placed = look_up("n", "1.0.0", online=client)
    twice = [placed, evolve(placed, target="node_modules/a/node_modules/n")]
    assert obtain(twice, store, online=client) == {placed.digest: len(TARBALL)}
    assert obtain(twice, store, online=client) == {placed.digest: len(TARBALL)}
    assert asked.count("/npm/n/-/n-1.0.0.tgz") == 1


def test_other_bytes_than_the_integrity_says_are_refused_and_not_kept(tmp_path: Path, store: Store) -> None:
    client = online(lambda _: httpx.Response(200, stream=httpx.ByteStream(b"evil")), tmp_path)
    placed = look_up("n", "1.0.0", online=online(serving([]), tmp_path))
    with pytest.raises(Refused, match="NB_DIGEST"):
        obtain([placed], store, online=client)
    assert not store.has(placed.digest)


@pytest.mark.parametrize(
    ("status", "content", "code"),
    [(404, b"", "NB_SOURCE_GONE"), (500, b"", "NB_UNREACHABLE"), (200, b"<html>", "NB_UNREACHABLE")],
)
def test_a_registry_that_does_not_tell_is_named(tmp_path: Path, status: int, content: bytes, code: str) -> None:
    client = online(lambda _: httpx.Response(status, content=content), tmp_path)
    with pytest.raises(CannotTell) as caught:
        look_up("n", "1.0.0", online=client)
    assert caught.value.code == code
    assert "n@1.0.0" in caught.value.where


@pytest.mark.parametrize("answer", [{}, [], {"dist": 1}, {"dist": {"integrity": None}}, {"dist": {"shasum": "00"}}])
def test_a_version_without_a_sha512_cannot_be_pinned(tmp_path: Path, answer: object) -> None:
    client = online(lambda _: httpx.Response(200, json=answer), tmp_path)
    with pytest.raises(Refused) as caught:
        look_up("n", "1.0.0", online=client)
    assert caught.value.code == "NB_INTEGRITY"
