"""Keeps one exchange while it happens and writes it down when it is over, whatever ended it."""

from __future__ import annotations

import time
from collections.abc import Callable

from aiohttp import web
from attrs import define, field

from nanobench.gateway.budget import Meter
from nanobench.gateway.exchange import Bytes, Chunk, Exchange, Fault
from nanobench.gateway.redact import Redactor
from nanobench.gateway.transcript import Transcript
from nanobench.gateway.upstream import Bounds
from nanobench.model.fields import Document

_KEPT_HEADERS = ("Content-Type", "User-Agent")
_CHUNK_COST = 64
"""What a chunk costs in a line beside its bytes; a provider may send them one byte each."""


@define
class Draft:
    """An exchange that is still going on."""

    n: int
    now: Callable[[], int]
    redactor: Redactor
    method: str = ""
    path: str = ""
    headers: dict[str, str] = field(factory=dict)
    request: bytes = b""
    stream: bool = False
    tools: bool = False
    changes: Document = field(factory=dict)
    status: int | None = None
    content_type: str | None = None
    chunks: list[Chunk] = field(factory=list)
    size: int = 0
    fault: Fault | None = None
    detail: str = ""
    start_ms: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.start_ms = self.now()

    def received(self, request: web.Request) -> None:
        """Note what matters of a request's head; never its authorization."""
        self.method, self.path = self.redactor.text(request.method), self.redactor.text(request.path)
        found = {name: request.headers.get(name) for name in _KEPT_HEADERS}
        self.headers = {name: self.redactor.text(value) for name, value in found.items() if value}

    def chunk(self, data: bytes) -> None:
        """Note bytes of the answer."""
        self.chunks.append(Chunk(ms=self.now(), data=Bytes.of(data)))
        self.size += len(data) + _CHUNK_COST

    def fail(self, fault: Fault, detail: str = "") -> None:
        """Note what went wrong; the first fault stands."""
        if self.fault is None:
            self.fault, self.detail = fault, detail

    def finished(self) -> Exchange:
        """The exchange as it goes into the transcript."""
        exchange = Exchange(
            n=self.n,
            start_ms=self.start_ms,
            end_ms=self.now(),
            method=self.method,
            path=self.path,
            headers=self.headers,
            request=Bytes.of(self.request),
            stream=self.stream,
            tools=self.tools,
            changes=self.changes,
            status=self.status,
            content_type=self.content_type,
            chunks=tuple(self.chunks),
            fault=self.fault,
            detail=self.detail,
        )
        return exchange.with_usage()


class Recorder:
    """Numbers the exchanges of one run, bounds them, and appends each to the transcript when it is over."""

    def __init__(self, transcript: Transcript, bounds: Bounds, meter: Meter) -> None:
        self._transcript, self._bounds, self.meter = transcript, bounds, meter
        self._count, self._refused, self._zero = 0, False, time.monotonic()

    def begin(self, redactor: Redactor) -> Draft:
        """A new exchange, numbered in the order of arrival."""
        self._count += 1
        return Draft(n=self._count, now=self._now, redactor=redactor)

    def exhausted(self) -> str | None:
        """What keeps this run from another exchange: a bound that is reached, or a disk that took no line."""
        if self._transcript.failure is not None:
            return "the transcript cannot be written"
        if self._transcript.size >= self._bounds.transcript_bytes or self._count > self._bounds.exchanges:
            return "this run has reached the bounds of its transcript"
        return None

    def spent(self) -> tuple[Fault, str] | None:
        """Which budget is used up by now, and the words for it."""
        return self.meter.spent(self._now())

    def end(self, draft: Draft) -> None:
        """Write it down. Beyond the bounds only the first refusal is written, so that a loop fills no disk."""
        if draft.fault is Fault.LIMIT and self._refused:
            return
        self._refused = draft.fault is Fault.LIMIT
        exchange = draft.finished()
        self._transcript.append(exchange)
        self.meter.count(exchange)

    def _now(self) -> int:
        return int((time.monotonic() - self._zero) * 1000)
