"""What ended a run, as seen on the wire: every row is played by a provider over TCP."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from nanobench.gateway.answer import ApiError
from nanobench.gateway.exchange import Fault
from nanobench.gateway.gateway import Gateway
from nanobench.gateway.upstream import Bounds
from nanobench.gateway.wire import cause_of
from nanobench.model.result import Cause

TOO_LONG = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
OPENAI = {"error": {"message": TOO_LONG, "type": "invalid_request_error", "code": "context_length_exceeded"}}
VLLM = {"object": "error", "message": TOO_LONG, "type": "BadRequestError", "param": None, "code": 400}
LLAMA = {
    "error": {
        "code": 400,
        "message": "the request exceeds the available context size. try increasing it",
        "type": "exceed_context_size_error",
        "n_ctx": 8192,
    }
}
RATE = {"error": {"message": "Rate limit reached", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}


def whole(status: int, document: Any, kind: str = "application/json") -> Callable[[Any], None]:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return lambda exchange: exchange.whole(status, body, kind)


def in_stream(event: Any) -> Callable[[Any], None]:
    def answer(exchange: Any) -> None:
        exchange.start()
        exchange.delta(content="so far so good")
        exchange.send(event)
        exchange.done(usage=False)

    return answer


def cut_stream(exchange: Any) -> None:
    exchange.start()
    exchange.delta(content="partial")
    exchange.drop()


def stream_without_end(exchange: Any) -> None:
    exchange.start()
    exchange.delta(content="partial")
    exchange.wfile.write(b"0\r\n\r\n")


def stream_without_done(exchange: Any) -> None:
    exchange.start()
    exchange.delta("stop", content="all")
    exchange.wfile.write(b"0\r\n\r\n")


ROWS: list[tuple[str, Callable[[Any], None], Cause | None, int | None]] = [
    ("prose", lambda exchange: exchange.say("done"), Cause.FINISHED, 200),
    ("no-done-marker", stream_without_done, Cause.FINISHED, 200),
    ("tool-calls", lambda exchange: exchange.call("t"), None, 200),
    ("context-openai", whole(400, OPENAI), Cause.CONTEXT, 400),
    ("context-llama", whole(400, LLAMA), Cause.CONTEXT, 400),
    ("context-vllm", whole(400, VLLM), Cause.CONTEXT, 400),
    ("context-500", whole(500, LLAMA), Cause.CONTEXT, 500),
    ("context-413", whole(413, OPENAI), Cause.CONTEXT, 413),
    ("context-in-stream", in_stream(OPENAI), Cause.CONTEXT, 200),
    ("context-in-stream-llama", in_stream(LLAMA), Cause.CONTEXT, 400),
    ("context-error-line", in_stream(b"error: " + json.dumps(LLAMA["error"]).encode() + b"\n\n"), Cause.CONTEXT, 400),
    ("rate", whole(429, RATE), Cause.RATE_LIMIT, 429),
    ("rate-html", whole(429, b"<html>slow down</html>", "text/html"), Cause.RATE_LIMIT, 429),
    ("rate-tokens", whole(429, {"error": {"message": "context length", "code": "x"}}), Cause.RATE_LIMIT, 429),
    ("rate-in-stream", in_stream(RATE), Cause.RATE_LIMIT, 200),
    ("rate-in-stream-number", in_stream({"error": {"message": "slow", "code": 429}}), Cause.RATE_LIMIT, 429),
    ("key", whole(401, {"error": {"message": "Incorrect API key", "code": "invalid"}}), Cause.PROVIDER_REFUSED, 401),
    ("money", whole(402, {"error": {"message": "no credit"}}), Cause.PROVIDER_REFUSED, 402),
    ("forbidden", whole(403, b""), Cause.PROVIDER_REFUSED, 403),
    ("no-model", whole(404, {"error": "model not found"}), Cause.PROVIDER_REFUSED, 404),
    ("no-tools", whole(400, {"error": {"message": "tools are not supported"}}), Cause.PROVIDER_REFUSED, 400),
    ("500", whole(500, {"error": {"message": "oops"}}), Cause.PROVIDER_FAILED, 500),
    ("503", whole(503, b"upstream connect error", "text/plain"), Cause.PROVIDER_FAILED, 503),
    ("529", whole(529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}), Cause.PROVIDER_FAILED, 529),
    ("408", whole(408, b""), Cause.PROVIDER_FAILED, 408),
    ("html", whole(200, b"<html>hello</html>", "text/html"), Cause.PROVIDER_FAILED, 200),
    ("error-with-200", whole(200, {"error": {"message": "boom"}}), Cause.PROVIDER_FAILED, 200),
    ("other-in-stream", in_stream({"error": {"message": "boom"}}), Cause.PROVIDER_FAILED, 200),
    ("502-in-stream", in_stream({"error": {"message": "boom", "code": "502"}}), Cause.PROVIDER_FAILED, 502),
    ("dropped-before", lambda exchange: exchange.drop(), Cause.WIRE, None),
    ("dropped-in-stream", cut_stream, Cause.WIRE, 200),
    ("stopped-in-stream", stream_without_end, Cause.WIRE, 200),
    ("no-http", lambda exchange: exchange.wfile.write(b"SSH-2.0-x\r\n\r\n"), Cause.WIRE, None),
]


@pytest.mark.parametrize(("answer", "cause", "status"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_last_exchange_tells_the_cause(
    answer: Callable[[Any], None],
    cause: Cause | None,
    status: int | None,
    provider: Any,
    gateway: Gateway,
    client: httpx.Client,
    chat: Any,
) -> None:
    provider.answer = answer
    try:
        client.post("chat/completions", json=chat)
    except httpx.RemoteProtocolError:
        assert cause is Cause.WIRE
    gateway.close()
    end = gateway.summary().end
    assert (end.cause, end.status) == (cause, status)


def test_a_refused_connection_is_the_wire(
    open_gateway: Callable[..., Gateway], connect: Callable[[Gateway], httpx.Client], chat: Any
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    gateway = open_gateway(base_url=f"http://127.0.0.1:{port}/v1")
    answer = connect(gateway).post("chat/completions", json=chat)
    assert (answer.status_code, str(port) in answer.text) == (502, False)
    gateway.close()
    assert gateway.summary().end.cause is Cause.WIRE
    assert "refused" in gateway.summary().end.detail.lower()


def test_speaking_tls_to_a_plain_port_is_the_wire(
    open_gateway: Callable[..., Gateway], connect: Callable[[Gateway], httpx.Client], chat: Any, provider: Any
) -> None:
    gateway = open_gateway(base_url=provider.base_url.replace("http:", "https:"))
    assert connect(gateway).post("chat/completions", json=chat).status_code == 502
    gateway.close()
    assert gateway.summary().end.cause is Cause.WIRE


def test_a_provider_that_falls_silent_is_the_wire(
    open_gateway: Callable[..., Gateway], connect: Callable[[Gateway], httpx.Client], chat: Any, provider: Any
) -> None:
    provider.answer = lambda exchange: exchange.rfile.read(1)
    gateway = open_gateway(bounds=Bounds(idle_seconds=0.05))
    assert connect(gateway).post("chat/completions", json=chat).status_code == 504
    gateway.close()
    assert gateway.summary().end.cause is Cause.WIRE


def test_a_provider_that_falls_silent_in_a_stream_breaks_it_off(
    open_gateway: Callable[..., Gateway], connect: Callable[[Gateway], httpx.Client], chat: Any, provider: Any
) -> None:
    def answer(exchange: Any) -> None:
        exchange.start()
        exchange.delta(content="partial")
        exchange.rfile.read(1)

    provider.answer = answer
    gateway = open_gateway(bounds=Bounds(idle_seconds=0.05))
    with pytest.raises(httpx.RemoteProtocolError):
        connect(gateway).post("chat/completions", json=chat)
    gateway.close()
    (fault,) = {e.fault for e in gateway.exchanges()}
    assert (fault, gateway.summary().end.cause) == (Fault.TIMEOUT, Cause.WIRE)


def test_a_run_that_recovers_from_a_rate_limit_has_finished(
    gateway: Gateway, client: httpx.Client, chat: Any, provider: Any
) -> None:
    provider.answer = lambda exchange: exchange.say("ok") if exchange.turn else exchange.error(429, "slow down")
    assert [client.post("chat/completions", json=chat).status_code for _ in range(2)] == [429, 200]
    gateway.close()
    summary = gateway.summary()
    assert (summary.end.cause, summary.usage.steps, summary.requests) == (Cause.FINISHED, 1, 2)


def test_how_long_to_wait_reaches_the_client(client: httpx.Client, chat: Any, provider: Any) -> None:
    provider.answer = lambda exchange: exchange.whole(429, b"{}", Retry_After="3", Retry_After_Ms="1", X_Other="no")
    headers = client.post("chat/completions", json=chat).headers
    assert (headers["Retry-After"], headers["Retry-After-Ms"], headers.get("X-Other")) == ("3", "1", None)


def test_the_client_s_own_mistakes_end_no_run(
    gateway: Gateway, client: httpx.Client, chat: Any, provider: Any
) -> None:
    client.post("chat/completions", json=chat)
    client.get("models")
    gateway.close()
    assert gateway.summary().end.cause is Cause.FINISHED


def test_a_run_without_a_request_shows_no_end(gateway: Gateway) -> None:
    gateway.close()
    summary = gateway.summary()
    assert (summary.end.cause, summary.usage.steps, summary.usage.input_tokens) == (None, 0, None)
    assert summary.last_had_tools is None


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ApiError(status=400, message="prompt is too long: 210000 tokens > 200000 maximum"), Cause.CONTEXT),
        (
            ApiError(status=400, message="The input token count (9) exceeds the maximum number of tokens"),
            Cause.CONTEXT,
        ),
        (ApiError(status=200, message="Rate limit reached mid-stream"), Cause.RATE_LIMIT),
        (ApiError(status=403, message="rate limit of your plan"), Cause.PROVIDER_REFUSED),
        (ApiError(status=400, code="insufficient_quota"), Cause.PROVIDER_REFUSED),
        (ApiError(status=300), Cause.PROVIDER_REFUSED),
        (ApiError(status=499), Cause.PROVIDER_REFUSED),
        (ApiError(status=500), Cause.PROVIDER_FAILED),
        (ApiError(), Cause.PROVIDER_FAILED),
    ],
)
def test_the_words_of_other_providers_are_known(error: ApiError, cause: Cause) -> None:
    assert cause_of(error) is cause
