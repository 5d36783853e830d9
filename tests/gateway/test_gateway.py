"""The gateway over real sockets: what it changes, what it keeps to itself, what it survives."""

from __future__ import annotations

import gzip
import json
import os
import socket
import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from nanobench.errors import MachineFailure, Misuse
from nanobench.gateway.exchange import Exchange, Fault
from nanobench.gateway.gateway import Gateway
from nanobench.gateway.transcript import read_transcript
from nanobench.gateway.upstream import Bounds, Pins, Secret, Upstream
from nanobench.model.result import Cause

KEY = "sk-secret-0123456789abcdef"
Open = Callable[..., Gateway]
Connect = Callable[[Gateway], httpx.Client]


def closed(gateway: Gateway) -> list[Exchange]:
    """Close it early and read what it wrote (closing twice is the fixture's business, so it is made harmless)."""
    gateway.close()
    return list(read_transcript(gateway.transcript))


def test_the_key_is_added_and_the_sandbox_s_own_is_stripped(client: httpx.Client, provider: Any, chat: Any) -> None:
    assert "hello" in client.post("chat/completions", json=chat).text
    headers, _ = provider.seen[0]
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert "dummy" not in str(headers)


def test_a_provider_without_a_key_gets_no_authorization(
    open_gateway: Open, connect: Connect, provider: Any, chat: Any
) -> None:
    connect(open_gateway(key=None)).post("chat/completions", json=chat)
    assert "Authorization" not in provider.seen[0][0]


def test_temperature_and_usage_are_pinned_whatever_the_client_sent(
    client: httpx.Client, gateway: Gateway, provider: Any, chat: Any
) -> None:
    client.post("chat/completions", json={**chat, "temperature": 0.7, "stream_options": {"x": 1.5}})
    body = provider.seen[0][1]
    assert (body["temperature"], body["stream_options"]) == (0, {"include_usage": True})
    (exchange,) = closed(gateway)
    assert json.loads(exchange.request.raw())["temperature"] == 0.7
    assert exchange.changes == {"temperature": 0, "stream_options": {"include_usage": True}}
    assert gateway.summary().sampling_pinned


def test_an_unpinned_run_leaves_the_temperature_alone_and_says_so(
    open_gateway: Open, connect: Connect, provider: Any, chat: Any
) -> None:
    gateway = open_gateway(pins=Pins(temperature=None))
    connect(gateway).post("chat/completions", json=chat)
    assert "temperature" not in provider.seen[0][1]
    closed(gateway)
    assert not gateway.summary().sampling_pinned


def test_a_request_that_does_not_stream_is_not_asked_for_stream_options(
    client: httpx.Client, gateway: Gateway, provider: Any, chat: Any
) -> None:
    answer = {
        "model": "served-m",
        "choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    provider.answer = lambda exchange: exchange.whole(200, json.dumps(answer).encode())
    assert client.post("chat/completions", json={**chat, "stream": False}).json() == answer
    assert "stream_options" not in provider.seen[0][1]
    closed(gateway)
    summary = gateway.summary()
    assert (summary.end.cause, summary.usage.input_tokens, summary.usage.cached_tokens) == (Cause.FINISHED, 3, None)


def test_a_refused_temperature_is_left_out_from_then_on_and_recorded(
    client: httpx.Client, gateway: Gateway, provider: Any, chat: Any
) -> None:
    def answer(exchange: Any) -> None:
        if "temperature" in exchange.body:
            exchange.error(400, "Unsupported value: 'temperature' does not support 0 with this model.")
        else:
            exchange.say("sampled")

    provider.answer = answer
    for _ in range(2):
        assert "sampled" in client.post("chat/completions", json=chat).text
    assert ["temperature" in body for _, body in provider.seen] == [True, False, False]
    faults = [exchange.fault for exchange in closed(gateway)]
    assert faults == [Fault.TEMPERATURE, None, None]
    summary = gateway.summary()
    assert (summary.sampling_pinned, summary.usage.steps, summary.requests) == (False, 2, 3)


def test_any_other_bad_request_reaches_the_client_as_it_is(client: httpx.Client, provider: Any, chat: Any) -> None:
    provider.answer = lambda exchange: exchange.error(400, "tools are not supported by this model")
    answer = client.post("chat/completions", json=chat)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "tools are not supported by this model"
    assert len(provider.seen) == 1


def test_a_chunk_arrives_before_the_provider_has_ended(client: httpx.Client, provider: Any, chat: Any) -> None:
    arrived = threading.Event()

    def answer(exchange: Any) -> None:
        exchange.start()
        exchange.delta(content="first")
        assert arrived.wait(30), "the first chunk was buffered"
        exchange.delta("stop", content="second")
        exchange.done()

    provider.answer = answer
    with client.stream("POST", "chat/completions", json=chat) as response:
        parts = response.iter_raw()
        seen = next(parts)
        assert b"first" in seen and b"second" not in seen
        arrived.set()
        assert b"second" in b"".join(parts)


def test_the_key_is_in_no_answer_and_in_no_transcript_though_the_provider_echoes_it(
    client: httpx.Client, gateway: Gateway, provider: Any, chat: Any
) -> None:
    def answer(exchange: Any) -> None:
        if exchange.turn:
            exchange.whole(401, f'{{"error": {{"message": "bad {KEY}"}}}}'.encode(), Retry_After=KEY)
            return
        exchange.start()
        for part in (f"a{KEY[:9]}".encode(), KEY[9:20].encode(), f"{KEY[20:]}z {KEY} {KEY[:5]}".encode()):
            exchange.send(part)
        exchange.done(usage=False)

    provider.answer = answer
    answers = [client.post("chat/completions", json=chat) for _ in range(2)]
    assert answers[0].text.startswith("a***z *** sk-se")
    assert "bad ***" in answers[1].text and answers[1].headers["Retry-After"] == "***"
    gateway.close()
    assert KEY not in gateway.transcript.read_text() + str(answers[1].headers) + repr(gateway.upstream)
    assert "dummy-of-the-sandbox" not in gateway.transcript.read_text()


def test_only_chat_completions_is_forwarded(client: httpx.Client, gateway: Gateway, provider: Any) -> None:
    answers = [
        client.get("models"),
        client.get("chat/completions"),
        client.post("embeddings", json={}),
        client.post("http://gateway/v1/../admin?x=chat/completions", json={}),
    ]
    assert [answer.status_code for answer in answers] == [404] * 4
    assert provider.seen == []
    assert {exchange.fault for exchange in closed(gateway)} == {Fault.ENDPOINT}
    assert gateway.summary().requests == 0


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff", b'{"temperature": NaN}', b'{"x": 1e999}', b"[" * 100_000, b'{"a":' * 100_000]
)
def test_a_malformed_request_is_answered_here_and_recorded(
    body: bytes, client: httpx.Client, gateway: Gateway, provider: Any
) -> None:
    assert client.post("chat/completions", content=body).status_code == 400
    assert provider.seen == []
    (exchange,) = closed(gateway)
    assert exchange.fault is Fault.MALFORMED
    assert body.startswith(exchange.request.raw())
    assert gateway.summary().end.cause is None


def test_a_request_beyond_the_bound_is_refused_and_not_kept(
    open_gateway: Open, connect: Connect, provider: Any, chat: Any
) -> None:
    gateway = open_gateway(bounds=Bounds(request_bytes=1000))
    client = connect(gateway)
    assert client.post("chat/completions", json={**chat, "x": "y" * 2000}).status_code == 413
    bomb = gzip.compress(json.dumps({**chat, "x": "y" * 2000}).encode())
    assert client.post("chat/completions", content=bomb, headers={"Content-Encoding": "gzip"}).status_code == 413
    assert provider.seen == []
    assert {e.fault for e in closed(gateway)} == {Fault.REQUEST_TOO_LARGE}
    assert gateway.transcript.stat().st_size < 2000


def test_a_body_that_belies_its_encoding_is_refused(client: httpx.Client, gateway: Gateway) -> None:
    answer = client.post("chat/completions", content=b"no gzip", headers={"Content-Encoding": "gzip"})
    assert answer.status_code == 400
    gateway.close()


def test_an_endless_answer_is_cut(open_gateway: Open, connect: Connect, provider: Any, chat: Any) -> None:
    def answer(exchange: Any) -> None:
        exchange.start()
        while True:
            exchange.delta(content="x" * 1000)

    provider.answer = answer
    gateway = open_gateway(bounds=Bounds(answer_bytes=20_000))
    with pytest.raises(httpx.RemoteProtocolError):
        connect(gateway).post("chat/completions", json=chat)
    assert provider.hung_up.wait(30)
    (exchange,) = closed(gateway)
    assert exchange.fault is Fault.ANSWER_TOO_LARGE
    assert gateway.summary().end.cause is Cause.PROVIDER_FAILED


def test_a_run_has_a_bounded_number_of_exchanges(
    open_gateway: Open, connect: Connect, provider: Any, chat: Any
) -> None:
    gateway = open_gateway(bounds=Bounds(exchanges=2))
    client = connect(gateway)
    answers = [client.post("chat/completions", json=chat) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 400, 400, 400]
    assert len(provider.seen) == 2
    assert [exchange.fault for exchange in closed(gateway)] == [None, None, Fault.LIMIT]
    assert gateway.summary().end.cause is Cause.TOKEN_BUDGET


def test_a_client_that_hangs_up_cancels_the_request_and_is_recorded(
    client: httpx.Client, gateway: Gateway, provider: Any, chat: Any
) -> None:
    def answer(exchange: Any) -> None:
        exchange.start()
        while True:
            exchange.delta(content="x" * 100_000)

    provider.answer = answer
    with client.stream("POST", "chat/completions", json=chat) as response:
        next(response.iter_raw())
    assert provider.hung_up.wait(30)
    (exchange,) = closed(gateway)
    assert exchange.fault is Fault.ABANDONED
    assert gateway.summary().end.cause is None


def test_closing_ends_what_still_runs_and_leaves_no_thread_and_no_socket(
    gateway: Gateway, provider: Any, chat: Any, connect: Connect
) -> None:
    started = threading.Event()

    def answer(exchange: Any) -> None:
        started.set()
        exchange.rfile.read(1)

    provider.answer = answer
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(connect(gateway).post, "chat/completions", json=chat)
        assert started.wait(30)
        (exchange,) = closed(gateway)
        assert exchange.fault is Fault.ABANDONED
        with pytest.raises(httpx.TransportError):
            asked.result()
    assert not gateway.socket.exists()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("nanobench")]


def test_many_requests_at_once_are_each_recorded_once(
    gateway: Gateway, provider: Any, chat: Any, client: httpx.Client
) -> None:
    provider.answer = lambda exchange: exchange.say(exchange.body["model"])
    names = [f"m{number}" for number in range(24)]
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda n: client.post("chat/completions", json={**chat, "model": n}).text, names))
    assert all(f'"{name}"' in answer for name, answer in zip(names, answers, strict=True))
    exchanges = closed(gateway)
    assert sorted(exchange.n for exchange in exchanges) == list(range(1, 25))
    assert sorted(json.loads(e.request.raw())["model"] for e in exchanges) == sorted(names)
    assert gateway.summary().usage.steps == 24


def test_a_compressed_answer_arrives_plain(client: httpx.Client, provider: Any, chat: Any) -> None:
    body = b'data: {"choices": []}\n\ndata: [DONE]\n\n'
    provider.answer = lambda e: e.whole(200, gzip.compress(body), "text/event-stream", Content_Encoding="gzip")
    answer = client.post("chat/completions", json=chat)
    assert (answer.content, answer.headers.get("Content-Encoding")) == (body, None)
    assert provider.seen[0][0]["Accept-Encoding"] == "identity"


def test_a_redirect_is_passed_on_without_its_target_and_not_followed(
    client: httpx.Client, gateway: Gateway, provider: Any, chat: Any
) -> None:
    provider.answer = lambda exchange: exchange.whole(307, b"", Location=f"{provider.base_url}/stolen")
    answer = client.post("chat/completions", json=chat)
    assert (answer.status_code, "Location" in answer.headers, len(provider.seen)) == (307, False, 1)
    gateway.close()
    assert gateway.summary().end.cause is Cause.PROVIDER_REFUSED


def test_a_proxy_of_the_environment_is_never_asked_for_the_loopback(
    monkeypatch: pytest.MonkeyPatch, client: httpx.Client, chat: Any
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert client.post("chat/completions", json=chat).status_code == 200


def test_a_proxy_of_the_environment_is_used_for_other_hosts(
    monkeypatch: pytest.MonkeyPatch, open_gateway: Open, connect: Connect, provider: Any, chat: Any
) -> None:
    monkeypatch.setenv("http_proxy", provider.base_url.removesuffix("/v1"))
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    gateway = open_gateway(base_url="http://model.invalid/v1")
    assert "hello" in connect(gateway).post("chat/completions", json=chat).text
    assert provider.seen[0][0]["Host"] == "model.invalid"


def test_the_sandbox_s_uid_can_connect_whatever_the_umask(open_gateway: Open) -> None:
    old = os.umask(0o077)
    try:
        gateway = open_gateway()
    finally:
        os.umask(old)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (gateway.directory, gateway.socket)]
    assert modes == [0o755, 0o666]
    assert stat.S_IMODE((gateway.directory / "forward.cjs").stat().st_mode) == 0o644


def test_a_directory_name_too_long_for_a_socket_address_works(tmp_path: Path, provider: Any) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.parent.mkdir()
    upstream = Upstream(name="u", base_url=provider.base_url)
    with Gateway(upstream, directory=deep, transcript=tmp_path / "t.jsonl"):
        near = os.open(deep, os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(f"/proc/self/fd/{near}/model.sock")
        os.close(near)


def test_a_directory_that_cannot_be_made_is_the_machine_s_failure_and_leaves_nothing_open(tmp_path: Path) -> None:
    upstream = Upstream(name="u", base_url="http://127.0.0.1:1/v1")
    gateway = Gateway(upstream, directory=tmp_path / "no" / "such", transcript=tmp_path / "t.jsonl")
    with pytest.raises(MachineFailure, match="NB_GATEWAY"), gateway:
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_stops_the_run_and_is_told(
    client: httpx.Client, gateway: Gateway, chat: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int, __: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nanobench.gateway.transcript.os.write", full)
    assert client.post("chat/completions", json=chat).status_code == 200
    assert client.post("chat/completions", json=chat).status_code == 400
    with pytest.raises(MachineFailure, match="No space left"):
        gateway.close()
    assert gateway.transcript.read_bytes() == b""


@pytest.mark.parametrize(
    "url", ["", "ftp://h/v1", "http:///v1", "http://u:p@h/v1", "https://h/v1?k=1", "https://h/v1#x", "h/v1"]
)
def test_a_base_url_that_could_leak_or_mislead_is_refused(url: str) -> None:
    with pytest.raises(Misuse, match="NB_BASE_URL"):
        Upstream(name="u", base_url=url)


@pytest.mark.parametrize("key", ["", "a\nb", "ключ"])
def test_a_key_that_cannot_be_a_header_is_refused_unseen(key: str) -> None:
    with pytest.raises(Misuse, match="NB_KEY") as caught:
        Secret(key)
    assert not key or key not in str(caught.value)


def test_no_other_model_is_asked_with_the_users_key(
    open_gateway: Open, connect: Connect, provider: Any, chat: Any
) -> None:
    gateway = open_gateway(pins=Pins(model="another"))
    answer = connect(gateway).post("chat/completions", json=chat)
    assert (answer.status_code, provider.seen) == (400, [])
    (exchange,) = closed(gateway)
    assert exchange.fault is not None
    summary = gateway.summary()
    assert (summary.requests, summary.end.cause) == (0, None)
