"""The provider table: how providers misbehave, and what the gateway makes of it.

Each row is played over TCP by a server of our own. What follows from a cause stands in AFTER; whole runs of the real
agent, one a cause, are in tests/runner/test_ends.py.
"""

from __future__ import annotations

import gzip
import json
import socket
import zlib
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from attrs import frozen

from nanobench.gateway.dialects import DIALECTS
from nanobench.gateway.gateway import Gateway
from nanobench.gateway.upstream import Bounds
from nanobench.model.provider import Wire
from nanobench.model.result import Cause
from nanobench.scoring.causes import policy

KEY = "sk-secret-0123456789abcdef"
Answer = Callable[[Any], None]

AFTER: dict[Cause | None, tuple[int, bool, str]] = {
    # cause: further attempts, scored, counted as
    Cause.FINISHED: (0, True, "valid"),
    Cause.CONTEXT: (0, True, "valid"),
    Cause.RATE_LIMIT: (3, True, "rate_limited"),
    Cause.PROVIDER_REFUSED: (1, False, "provider"),
    Cause.PROVIDER_FAILED: (3, False, "provider"),
    Cause.WIRE: (3, False, "provider"),
}

OPENAI_LONG = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
ROUTER_LONG = "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens"
VLLM_LONG = "The decoder prompt (length 9000) is longer than the maximum model length of 8192."
GEMINI_LONG = "The input token count (9000) exceeds the maximum number of tokens allowed (8192)."
CLAUDE_LONG = "prompt is too long: 210000 tokens > 200000 maximum"
OPENAI = {"error": {"message": OPENAI_LONG, "type": "invalid_request_error", "code": "context_length_exceeded"}}
VLLM = {"object": "error", "message": OPENAI_LONG, "type": "BadRequestError", "param": None, "code": 400}
LLAMA_WORDS = "the request exceeds the available context size. try increasing it"
LLAMA = {"error": {"code": 400, "message": LLAMA_WORDS, "type": "exceed_context_size_error", "n_ctx": 8192}}
RATE = {"error": {"message": "Rate limit reached", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}
QUOTA = {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota"}}
STREAM = b'data: {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


def whole(status: int, document: Any, kind: str = "application/json", **headers: str) -> Answer:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return lambda exchange: exchange.whole(status, body, kind, **headers)


def says(status: int, message: str, **facts: Any) -> Answer:
    return whole(status, {"error": {"message": message, **facts}})


def packed(how: str, body: bytes) -> Answer:
    return whole(200, body, "text/event-stream", Content_Encoding=how)


def streams(*events: Any, end: bool = True) -> Answer:
    """A stream that begins well."""

    def answer(exchange: Any) -> None:
        exchange.start()
        exchange.delta(content="so far so good")
        for event in events:
            exchange.send(event)
        if end:
            exchange.done(usage=False)
        exchange.wfile.write(b"" if end else b"0\r\n\r\n")

    return answer


def finishes_without_done(exchange: Any) -> None:
    exchange.start()
    exchange.delta("stop", content="all")
    exchange.wfile.write(b"0\r\n\r\n")


def drops_in_stream(exchange: Any) -> None:
    exchange.start()
    exchange.delta(content="partial")
    exchange.drop()


def stalls(exchange: Any) -> None:
    exchange.rfile.read(1)


def stalls_in_stream(exchange: Any) -> None:
    exchange.start()
    exchange.delta(content="partial")
    exchange.rfile.read(1)


def goes_on(piece: bytes) -> Answer:
    def answer(exchange: Any) -> None:
        exchange.start()
        while True:
            exchange.send(piece)

    return answer


def calls(**call: Any) -> Answer:
    """A stream with one tool call, as a provider wrote it."""

    def answer(exchange: Any) -> None:
        exchange.start()
        exchange.delta(tool_calls=[{"index": 0, "type": "function", **call}])
        exchange.delta("tool_calls")
        exchange.done()

    return answer


def raw(data: bytes) -> Answer:
    def answer(exchange: Any) -> None:
        exchange.wfile.write(data)
        exchange.drop()

    return answer


def claude(kind: str, words: str, status: int = 0) -> Answer:
    """An error of Anthropic's, in the stream when there is no status."""
    error = {"type": "error", "error": {"type": kind, "message": words}}
    return whole(status, error) if status else streams(b"event: error\ndata: " + json.dumps(error).encode() + b"\n\n")


def unreachable(_: Any) -> str:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        return f"http://127.0.0.1:{reserved.getsockname()[1]}/v1"


def spoken_to_in_tls(provider: Any) -> str:
    return str(provider.base_url.replace("http:", "https:"))


def at_no_address(_: Any) -> str:
    return "http://model.invalid/v1"


@frozen
class Row:
    """What the provider does, the cause, and the status that the record names."""

    name: str
    answer: Answer | None
    cause: Cause | None
    status: int | None = 200
    wire: Wire = "openai-compatible"
    bounds: Bounds = Bounds()
    address: Callable[[Any], str] = lambda provider: provider.base_url


SHORT = Bounds(answer_bytes=200_000)
QUICK = Bounds(idle_seconds=0.05)
BRIEF = Bounds(total_seconds=0.2)
REFUSED, FAILED = Cause.PROVIDER_REFUSED, Cause.PROVIDER_FAILED

ROWS = (
    Row("streams", lambda exchange: exchange.say("done"), Cause.FINISHED),
    Row("streams-without-done", finishes_without_done, Cause.FINISHED),
    Row("asks-for-tools", lambda exchange: exchange.call("t"), None),
    Row("asks-for-an-unknown-tool", calls(id="c", function={"name": "no_such", "arguments": "{}"}), None),
    Row("asks-with-broken-arguments", calls(id="c", function={"name": "t", "arguments": '{"a'}), None),
    Row("asks-without-an-id", calls(function={"name": "t", "arguments": "{}"}), FAILED),
    Row("asks-without-a-name", calls(id="c", function={"arguments": "{}"}), FAILED),
    # The context is full.
    Row("context-openai", whole(400, OPENAI), Cause.CONTEXT, 400),
    Row("context-openrouter", says(400, ROUTER_LONG, code=400), Cause.CONTEXT, 400),
    Row("context-vllm", whole(400, VLLM), Cause.CONTEXT, 400),
    Row("context-vllm-decoder", says(400, VLLM_LONG, type="BadRequestError"), Cause.CONTEXT, 400),
    Row("context-llama.cpp", whole(400, LLAMA), Cause.CONTEXT, 400),
    Row("context-ollama", says(400, "input length exceeds the context length", type="api_error"), Cause.CONTEXT, 400),
    Row("context-gemini", whole(400, [{"error": {"code": 400, "message": GEMINI_LONG}}]), Cause.CONTEXT, 400),
    Row("context-500", whole(500, LLAMA), Cause.CONTEXT, 500),
    Row("context-413", whole(413, b"<html>Request Entity Too Large</html>", "text/html"), Cause.CONTEXT, 413),
    Row("context-in-stream", streams(OPENAI), Cause.CONTEXT),
    Row("context-in-stream-llama.cpp", streams(LLAMA), Cause.CONTEXT, 400),
    Row(
        "context-error-line", streams(b"error: " + json.dumps(LLAMA["error"]).encode() + b"\n\n"), Cause.CONTEXT, 400
    ),
    # Too many requests.
    Row("rate", whole(429, RATE), Cause.RATE_LIMIT, 429),
    Row("rate-retry-after", whole(429, RATE, Retry_After="45"), Cause.RATE_LIMIT, 429),
    Row("rate-html", whole(429, b"<html>slow down</html>", "text/html"), Cause.RATE_LIMIT, 429),
    Row("rate-of-tokens", says(429, "tokens per minute, context length", code="x"), Cause.RATE_LIMIT, 429),
    Row("rate-of-tokens-413", whole(413, RATE), Cause.RATE_LIMIT, 413),
    Row("rate-gemini", whole(429, [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}]), Cause.RATE_LIMIT, 429),
    Row("rate-in-stream", streams(RATE), Cause.RATE_LIMIT),
    Row("rate-in-stream-number", streams({"error": {"message": "slow", "code": 429}}), Cause.RATE_LIMIT, 429),
    # Refused.
    Row("key", says(401, f"Incorrect API key {KEY}", code="invalid_api_key"), REFUSED, 401),
    Row("key-gemini", whole(400, [{"error": {"code": 400, "message": "API key not valid."}}]), REFUSED, 400),
    Row("money", says(402, "Insufficient credits"), REFUSED, 402),
    Row("money-429", whole(429, QUOTA), REFUSED, 429),
    Row("forbidden", whole(403, b""), REFUSED, 403),
    Row("no-model", whole(404, {"error": "model not found"}), REFUSED, 404),
    Row("no-tools", says(400, "tools are not supported"), REFUSED, 400),
    Row("redirect", whole(307, b"", Location="http://127.0.0.1:1/stolen"), REFUSED, 307),
    # The provider fails.
    Row("500", says(500, "oops"), FAILED, 500),
    Row("503", whole(503, b"upstream connect error", "text/plain"), FAILED, 503),
    Row("529", says(529, "Overloaded", type="overloaded_error"), FAILED, 529),
    Row("408", whole(408, b""), FAILED, 408),
    Row("html", whole(200, b"<html>hello</html>", "text/html"), FAILED),
    Row("error-with-200", says(200, "boom"), FAILED),
    Row("error-in-stream", streams({"error": {"message": "boom"}}), FAILED),
    Row("502-in-stream", streams({"error": {"message": "boom", "code": "502"}}), FAILED, 502),
    Row("floods", goes_on(b'data: {"choices": [{"delta": {"content": "x"}}]}\n\n'), FAILED, bounds=SHORT),
    Row("floods-in-one-chunk", streams(b"data: " + b"x" * 3_000_000), FAILED, bounds=SHORT),
    Row("bomb", packed("gzip", gzip.compress(bytes(64 << 20))), FAILED, bounds=SHORT),
    Row("bomb-deflate", packed("deflate", zlib.compress(bytes(64 << 20))), FAILED, bounds=SHORT),
    # Between the two.
    Row("packs-gzip", packed("gzip", gzip.compress(STREAM)), Cause.FINISHED),
    Row("packs-deflate", packed("deflate", zlib.compress(STREAM)), Cause.FINISHED),
    Row("packs-brotli-unasked", packed("br", b"?"), Cause.WIRE, None),
    Row("packs-zstd-unasked", packed("zstd", b"?"), Cause.WIRE, None),
    Row("packs-nothing-sound", packed("gzip", b"no gzip"), Cause.WIRE),
    Row("refuses-tcp", None, Cause.WIRE, None, address=unreachable),
    Row("has-no-address", None, Cause.WIRE, None, address=at_no_address),
    Row("speaks-no-tls", None, Cause.WIRE, None, address=spoken_to_in_tls),
    Row("closes-at-once", lambda exchange: exchange.drop(), Cause.WIRE, None),
    Row("speaks-no-http", raw(b"SSH-2.0-x\r\n\r\n"), Cause.WIRE, None),
    Row("giant-header", raw(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 1_000_000 + b"\r\n\r\n"), Cause.WIRE, None),
    Row("giant-head", raw(b"HTTP/1.1 200 OK\r\n" + b"X: x\r\n" * 200_000), Cause.WIRE, None),
    Row("drops-in-stream", drops_in_stream, Cause.WIRE),
    Row("stops-in-stream", streams(end=False), Cause.WIRE),
    Row("stalls", stalls, Cause.WIRE, None, bounds=QUICK),
    Row("stalls-in-stream", stalls_in_stream, Cause.WIRE, bounds=QUICK),
    Row("never-ends", goes_on(b": still thinking\n\n"), Cause.WIRE, bounds=BRIEF),
    # Anthropic's own wire.
    Row(
        "claude-context",
        claude("invalid_request_error", "prompt is too long: 9 > 8", 400),
        Cause.CONTEXT,
        400,
        "anthropic",
    ),
    Row(
        "claude-too-large",
        claude("request_too_large", "Request exceeds the size", 413),
        Cause.CONTEXT,
        413,
        "anthropic",
    ),
    Row("claude-rate", claude("rate_limit_error", "slow down", 429), Cause.RATE_LIMIT, 429, "anthropic"),
    Row("claude-key", claude("authentication_error", f"invalid key {KEY}", 401), REFUSED, 401, "anthropic"),
    Row("claude-money", claude("invalid_request_error", "credit balance is too low", 400), REFUSED, 400, "anthropic"),
    Row("claude-overloaded", claude("overloaded_error", "Overloaded", 529), FAILED, 529, "anthropic"),
    Row("claude-overloaded-in-stream", claude("overloaded_error", "Overloaded"), FAILED, wire="anthropic"),
    Row("claude-rate-in-stream", claude("rate_limit_error", "slow"), Cause.RATE_LIMIT, wire="anthropic"),
    Row("claude-drops", drops_in_stream, Cause.WIRE, wire="anthropic"),
)


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_a_providers_misbehaviour_has_one_cause(
    row: Row,
    provider: Any,
    open_gateway: Callable[..., Gateway],
    connect: Callable[[Gateway], httpx.Client],
    chat: dict[str, Any],
) -> None:
    provider.handle_error = lambda *_: None
    provider.answer = row.answer
    gateway = open_gateway(kind=row.wire, base_url=row.address(provider), bounds=row.bounds)
    asked = chat if row.wire == "openai-compatible" else {**chat, "tools": [{"name": "t"}]}
    try:
        connect(gateway).post(DIALECTS[row.wire].endpoint.lstrip("/"), json=asked)
    except httpx.RemoteProtocolError:
        assert row.cause in (Cause.WIRE, Cause.PROVIDER_FAILED)  # broken off here as it was there
    gateway.close()
    end = gateway.summary().end
    assert (end.cause, end.status) == (row.cause, row.status), end
    assert KEY.encode() not in gateway.transcript.read_bytes()
    assert all(KEY in str(headers) for headers, _ in provider.seen)  # it was asked with it
    kept = sum(len(chunk.data.raw()) for exchange in gateway.exchanges() for chunk in exchange.chunks)
    assert kept <= row.bounds.answer_bytes + (1 << 20)


def test_the_table_knows_every_cause_that_a_provider_can_give() -> None:
    assert {row.cause for row in ROWS} - {None} == set(AFTER)


@pytest.mark.parametrize("cause", AFTER)
def test_what_follows_from_each(cause: Cause) -> None:
    rule = policy(cause)
    assert (rule.retries, rule.scored, rule.denominator.value) == AFTER[cause]
