"""What a real model answered once, through the real gateway and the real Nanocoder again: the same run comes out.

``live/`` holds transcripts of Qwen2.5-Coder-1.5B-Instruct (Q4_K_M, llama.cpp, one thread) with five seeds, and what
each run came to; docs/local-model.md says how they were made. Nanocoder's words in the requests, the system prompt
and what its tools return, are withheld: their sha256 stands there.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.formats.digest import sha256_hex
from nanobench.gateway.exchange import Bytes, Chunk, Exchange
from nanobench.gateway.transcript import read_transcript
from nanobench.project.files import Project

LIVE = Path(__file__).parent / "live"
RESULTS: dict[int, Any] = {each["seed"]: each for each in json.loads((LIVE / "results.json").read_bytes())}
TASK, MODEL = "fixture-create-file", "qwen2.5-coder-1.5b-instruct-q4_k_m"
PROVIDERS = """\
schema = 1
[[provider]]
name = "llamacpp"
base_url = "http://127.0.0.1:{port}/v1"
models = ["{model}"]
[provider.arm]
tools = "xml"
tool_profile = "nano"
temperature = 1
seed = 1
"""
_CALL_ID = re.compile(rb"tool_\d{13}_[0-9a-f]{16}")
_WITHHELD = ("system", "tool")


def recorded(seed: int) -> tuple[Exchange, ...]:
    return tuple(read_transcript(LIVE / f"seed-{seed}.jsonl"))


def withheld(exchange: Exchange) -> Exchange:
    """The exchange as ``live/`` holds it: without Nanocoder's words, and without what differs from run to run."""
    body = json.loads(_CALL_ID.sub(b"tool_0", exchange.request.raw()))
    for message in body["messages"]:
        if message["role"] in _WITHHELD:
            message["content"] = f"sha256:{sha256_hex(message['content'].encode())}"
    return evolve(exchange, request=Bytes.of(json.dumps(body).encode()))


def outcome(result: Any) -> Any:
    """What of a result must be the same again: all that follows from the answers."""
    names = ("seed", "sampling_pinned", "cause", "usage", "files_changed", "reported_files_changed", "score")
    blobs = ("patch", "report")
    return {
        **{name: result[name] for name in names},
        "detail": result["attempts"][-1]["detail"],
        "blobs": {name: result["blobs"][name] for name in blobs},
    }


def essence(exchange: Exchange) -> Exchange:
    """A withheld exchange without times, chunks' borders and the system prompt, which tells date and kernel."""
    body = json.loads(exchange.request.raw())
    whole = b"".join(chunk.data.raw() for chunk in exchange.chunks)
    return evolve(
        exchange,
        start_ms=0,
        end_ms=0,
        request=Bytes.of(json.dumps(body | {"messages": body["messages"][1:]}).encode()),
        chunks=(Chunk(ms=0, data=Bytes.of(whole)),),
    )


class Replaying(BaseHTTPRequestHandler):
    """Answers by seed, in the recorded order and chunks; wants to be asked again at once where the model was busy."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        exchange: Exchange = next(self.server.answers[body["seed"]])  # type: ignore[attr-defined]
        assert exchange.status is not None
        self.send_response(exchange.status)
        self.send_header("Content-Type", str(exchange.content_type))
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        for chunk in exchange.chunks:
            data = chunk.data.raw()
            self.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server on loopback that says what the model said."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Replaying) as server:
        server.answers = {seed: iter(recorded(seed)) for seed in RESULTS}  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def bundle(port: int, nanobench: Any, repository: Project, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The five seeds, run again: folder of the bundle and results by seed."""
    place = tmp_path_factory.mktemp("live")
    (place / "providers.toml").write_text(PROVIDERS.format(port=port, model=MODEL))
    provider = ("--provider", "llamacpp", "--providers", place / "providers.toml")
    where = ("--offline", "--out", place / "bundle", "--project", repository.root, "--json")
    done = nanobench("run", TASK, *provider, "--mode", "navigation", "--repeats", len(RESULTS), *where)
    assert done.code == 0, done.err
    return place / "bundle", {result["seed"]: result for result in done.document["results"]}


@pytest.mark.parametrize("seed", RESULTS)
def test_the_same_answers_come_to_the_same_patch_report_and_score(bundle: Any, seed: int) -> None:
    assert outcome(bundle[1][seed]) == RESULTS[seed]


@pytest.mark.parametrize("seed", RESULTS)
def test_the_same_answers_are_asked_for_in_the_same_words(bundle: Any, seed: int) -> None:
    folder, results = bundle
    found = read_transcript(folder / "blobs/sha256" / results[seed]["blobs"]["transcript"])
    assert [essence(withheld(each)) for each in found] == [essence(each) for each in recorded(seed)]


def test_the_bundle_says_how_its_models_were_asked_and_verifies(bundle: Any, nanobench: Any) -> None:
    folder, _ = bundle
    arm = {"tools": "xml", "tool_profile": "nano", "temperature": 1, "seed": 1}
    assert json.loads((folder / "run.json").read_bytes())["provider"]["arm"] == arm
    verified = nanobench("verify", folder, "--offline")
    assert verified.code == 0, verified.out
