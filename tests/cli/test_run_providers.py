"""Providers and machines that fail: the real agent against a server of the test's own, and what the bundle says."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import MachineFailure
from nanobench.gateway.scripted.reply import Reply, events
from nanobench.project.files import Project
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.interface import Finished, Request

KEY = "sk-test-9876543210-secret"


class Refusing(BaseHTTPRequestHandler):
    """Answers with the server's status and words, and wants to be asked again at once."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        status, error = self.server.answer  # type: ignore[attr-defined]
        body = json.dumps({"error": error}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def run(server: ThreadingHTTPServer, nanobench: Any, repository: Project, demo: str, tmp_path: Path) -> Any:
    """Run the demo task through the server that answers so."""

    def ask(status: int, **error: str) -> Any:
        server.answer = (status, error)  # type: ignore[attr-defined]
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        provider = ("--provider", "local", "--base-url", url, "--model", "m", "--key-env", "TEST_KEY")
        where = ("--offline", "--out", tmp_path / "bundle", "--project", repository.root, "--json")
        return nanobench("run", demo, *provider, *where, env={"TEST_KEY": KEY})

    return ask


def only(done: Any, *, unreal: bool = False) -> Any:
    (result,) = done.document["results"]
    assert done.code == (1 if unreal else 0 if "score" in result else 3), done.err
    return result


def test_a_server_that_fails_is_the_providers_doing_tried_four_times_and_not_scored(run: Any, nanobench: Any) -> None:
    done = run(500, message="it broke", type="server_error")
    result = only(done)
    assert [attempt["cause"] for attempt in result["attempts"]] == ["provider_failed"] * 4
    assert all("500" in attempt["detail"] for attempt in result["attempts"])
    assert "score" not in result
    assert "outcomes" not in result["blobs"]
    assert done.err.count("trying again") == 3
    assert "not scored (provider_failed" in done.err
    assert "not scored, and no part of any figure: 1 provider_failed" in done.err
    verified = nanobench("verify", done.document["bundle"], "--offline")
    assert verified.code == 0, verified.out


def test_a_refused_key_is_tried_twice_and_the_providers_words_tell_it_to_nobody_and_move_no_terminal(
    run: Any, tmp_path: Path
) -> None:
    words = f"the key {KEY} is wrong \x1b[2J\x1b]0;owned\x07 \x9b31m \u202e all good"
    done = run(401, message=words, type="authentication_error")
    result = only(done)
    assert [attempt["cause"] for attempt in result["attempts"]] == ["provider_refused"] * 2
    assert "score" not in result
    assert "the key *** is wrong \x1b[2J" in result["attempts"][0]["detail"]
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in kept
    for text in (done.out, done.err):
        assert KEY not in text
        assert not [c for c in text if not c.isprintable() and c != "\n"]
    assert "\\x1b[2J" in done.err


def test_a_rate_limit_that_stays_is_scored_and_can_be_told_apart(run: Any) -> None:
    result = only(run(429, message="slow down", type="rate_limit_error"), unreal=True)
    assert [attempt["cause"] for attempt in result["attempts"]] == ["rate_limit"] * 4
    assert (result["cause"], result["score"]["value"]) == ("rate_limit", "0.0")
    label = ("context_window_exceeded", 1, "rate_limit")
    assert tuple(result["failure"][key] for key in ("label", "rule", "halt")) == label


def test_a_machine_that_fails_is_nobodys_score(
    run: Any, monkeypatch: pytest.MonkeyPatch, server: ThreadingHTTPServer
) -> None:
    def broken(engine: Bubblewrap, request: Request) -> Finished:
        if request.phase == "agent":
            raise MachineFailure("NB_ENGINE", "the sandbox did not start: no space", where="sandbox: agent")
        return start(engine, request)

    start = Bubblewrap.run
    monkeypatch.setattr(Bubblewrap, "run", broken)
    result = only(run(500))
    assert [attempt["cause"] for attempt in result["attempts"]] == ["engine"] * 3
    assert "score" not in result
    assert "no space" in result["attempts"][2]["detail"]


def silent(self: Any) -> None:
    """Answer as a model does that has nothing to say of its tokens."""
    asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
    body = b"".join(events(Reply(text="I am no model."), {**asked, "stream_options": None}, turn=0))
    self.send_response(200)
    self.send_header("Content-Length", str(len(body)))
    self.send_header("Content-Type", "text/event-stream")
    self.end_headers()
    self.wfile.write(body)


def test_a_score_that_no_model_has_earned_is_marked_and_the_run_fails_when_all_of_it_is_kept(
    run: Any, nanobench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Refusing, "do_POST", silent)
    done = run(200)
    result = only(done, unreal=True)
    assert (result["no_model_usage"], result["score"]["value"], result["usage"]["steps"]) == (True, "0.0", 1)
    error = done.document["error"]
    assert (error["code"], len(error["details"])) == ("NB_NO_MODEL_USAGE", 1)
    assert "NB_NO_MODEL_USAGE: 1 of 1 cells were scored, and no answer told a token that a model made" in done.err
    verified = nanobench("verify", done.document["bundle"], "--offline")
    assert "rescore  pass" in verified.out


def test_a_server_that_is_not_there_is_named_at_once_and_nothing_is_begun(
    nanobench: Any, repository: Project, demo: str, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    where = ("--base-url", url, "--model", "m", "--out", tmp_path / "run", "--project", repository.root, "--json")
    done = nanobench("run", demo, *where)
    error = done.document["error"]
    assert (done.code, error["code"], error["where"]) == (3, "NB_UNREACHABLE", url)
    assert error["message"] == "no connection to the provider: Connection refused"
    assert list(tmp_path.iterdir()) == []
