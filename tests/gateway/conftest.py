"""A provider that does what it is told, over real TCP, and a client that speaks through the gateway's socket."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from nanobench.gateway.gateway import Gateway
from nanobench.gateway.upstream import Secret, Upstream
from nanobench.model.provider import Wire

KEY = "sk-secret-0123456789abcdef"


class Exchange(BaseHTTPRequestHandler):
    """What a test's answer function gets: the request, and ways to answer it."""

    protocol_version = "HTTP/1.1"
    server: Provider

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        self.body = json.loads(raw)
        with self.server.lock:
            self.server.seen.append((dict(self.headers.items()), self.body))
            self.turn = len(self.server.seen) - 1
        try:
            self.server.answer(self)
        except ConnectionError:
            self.server.hung_up.set()
            self.close_connection = True

    def whole(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        """A complete answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def error(self, status: int, message: str, code: str = "", kind: str = "invalid_request_error") -> None:
        """An error in OpenAI's shape."""
        self.whole(status, json.dumps({"error": {"message": message, "type": kind, "code": code}}).encode())

    def start(self) -> None:
        """The head of a stream."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send(self, event: Any) -> None:
        """One event, in a chunk of its own."""
        text = event if isinstance(event, bytes) else b"data: " + json.dumps(event).encode() + b"\n\n"
        self.wfile.write(b"%x\r\n" % len(text) + text + b"\r\n")
        self.wfile.flush()

    def delta(self, finish: str | None = None, **delta: Any) -> None:
        """One event of a choice."""
        self.send({"model": "served-m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def done(self, *, usage: bool = True) -> None:
        """Usage as asked for, ``[DONE]`` and the proper end of the stream."""
        if usage and self.body.get("stream_options", {}).get("include_usage"):
            counts = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4}}
            self.send({"model": "served-m", "system_fingerprint": "fp_1", "choices": [], "usage": counts})
        self.send(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def say(self, text: str) -> None:
        """A whole stream of prose."""
        self.start()
        self.delta(role="assistant", content=text)
        self.delta("stop")
        self.done()

    def call(self, *names: str) -> None:
        """A whole stream with tool calls, each in two parts."""
        self.start()
        for index, name in enumerate(names):
            function = {"name": name, "arguments": ""}
            self.delta(tool_calls=[{"index": index, "id": f"c{index}", "type": "function", "function": function}])
            self.delta(tool_calls=[{"index": index, "function": {"arguments": "{}"}}])
        self.delta("tool_calls")
        self.done()

    def drop(self) -> None:
        """Break the connection off."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


class Provider(ThreadingHTTPServer):
    """The provider's double: ``answer`` is called for every request, ``seen`` keeps headers and bodies."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.lock = threading.Lock()
        self.hung_up = threading.Event()
        self.seen: list[tuple[dict[str, str], Any]] = []
        self.answer: Callable[[Exchange], None] = lambda exchange: exchange.say("hello")

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def open_gateway(provider: Provider, tmp_path: Path) -> Iterator[Callable[..., Gateway]]:
    """``open_gateway(**options)`` is an open gateway to the provider, closed at the end of the test."""
    with ExitStack() as stack:

        def opened(
            *, base_url: str = "", kind: Wire = "openai-compatible", key: str | None = KEY, **options: Any
        ) -> Gateway:
            secret = None if key is None else Secret(key)
            upstream = Upstream(name="double", kind=kind, base_url=base_url or provider.base_url, key=secret)
            directory = tmp_path / "gw"
            gateway = Gateway(upstream, directory=directory, transcript=tmp_path / "transcript.jsonl", **options)
            return stack.enter_context(gateway)

        yield opened


@pytest.fixture
def gateway(open_gateway: Callable[..., Gateway]) -> Gateway:
    """An open gateway with everything at its default."""
    return open_gateway()


@pytest.fixture
def client(gateway: Gateway) -> Iterator[httpx.Client]:
    """A client in the sandbox's place, with the dummy key that a sandbox has."""
    with httpx.Client(**_options(gateway)) as session:
        yield session


@pytest.fixture
def connect() -> Iterator[Callable[[Gateway], httpx.Client]]:
    """Further clients, closed at the end of the test."""
    with ExitStack() as stack:
        yield lambda gateway: stack.enter_context(httpx.Client(**_options(gateway)))


def _options(gateway: Gateway) -> dict[str, Any]:
    return {
        "transport": httpx.HTTPTransport(uds=str(gateway.socket)),
        "base_url": "http://gateway/v1",
        "headers": {"Authorization": "Bearer dummy-of-the-sandbox"},
        "timeout": 60,
    }


@pytest.fixture
def chat() -> dict[str, Any]:
    """A request as a streaming client sends it."""
    return {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "t"}}],
        "stream": True,
    }
