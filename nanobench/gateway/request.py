"""What a request may be, and how it is changed before it goes on: pure rules that hold in every dialect."""

from __future__ import annotations

import json

from attrs import frozen

from nanobench.formats.json import foreign
from nanobench.gateway.answer import ApiError, object_in, objects_in, text_in, texts_in
from nanobench.gateway.exchange import Fault
from nanobench.gateway.upstream import Pins
from nanobench.model.fields import Document

_SHORT = 4096
"""Tokens that every provider takes as ``max_tokens``."""


@frozen(kw_only=True)
class ChatRequest:
    """A request's JSON object, and the two facts of it that the record names."""

    body: Document
    stream: bool
    tools: bool

    @property
    def offered(self) -> tuple[str, ...]:
        """The names of the tools, in either wire's form."""
        tools = objects_in(self.body.get("tools"))
        found = (text_in((object_in(tool.get("function")) or tool).get("name")) for tool in tools)
        return tuple(name for name in found if name)

    @property
    def system(self) -> str:
        """The prompt before the conversation, in either wire's form."""
        messages = objects_in(self.body.get("messages"))
        parts = (self.body.get("system"), *(m.get("content") for m in messages if m.get("role") == "system"))
        return "\n".join(map(texts_in, parts))


def read_request(data: bytes) -> ChatRequest | None:
    """The request in ``data``; None when it is not a JSON object that can be sent on."""
    try:
        body = foreign(data)
        json.dumps(body, allow_nan=False)  # 1e999 reads as an infinity
    except ValueError:
        return None
    if not isinstance(body, dict):
        return None
    return ChatRequest(body=body, stream=body.get("stream") is True, tools=bool(body.get("tools")))


def not_forwarded(request: ChatRequest, keys: frozenset[str], tools: tuple[str | None, ...]) -> tuple[str, ...]:
    """What a request asks for beyond these keys and types of tools, sorted."""
    asked = request.body.get("tools") or ()
    known = isinstance(asked, list | tuple) and all(isinstance(t, dict) and t.get("type") in tools for t in asked)
    return (*sorted(ascii(key) for key in request.body.keys() - keys), *(() if known else ("tools of this type",)))


def changes(request: ChatRequest, pins: Pins, additions: Document, *, left: int | None) -> Document:
    """The keys to set: what the dialect adds, the pinned sampling, and what is ``left`` of a budget."""
    return {**additions, **pins.sampling, **_cap(request, left)}


def _cap(request: ChatRequest, left: int | None) -> Document:
    """A smaller ``max_tokens`` than the client's. Where it names none, one is set only when little is left: servers
    refuse more than their models can answer."""
    asked = request.body.get("max_tokens")
    most = asked if type(asked) is int else _SHORT
    return {"max_tokens": left} if left is not None and left < most else {}


def sent(request: ChatRequest, wanted: Document) -> bytes:
    """The bytes that go to the provider."""
    return json.dumps(request.body | wanted, separators=(",", ":")).encode("ascii")


def refused(error: ApiError | None, request: Document, changes: Document) -> Fault | None:
    """Which of our changes a provider's bad request may come from: it says that this model's sampling is forced, or
    had to take a cap that the client did not set."""
    if "temperature" in changes and error is not None and "temperature" in error.message.lower():
        return Fault.TEMPERATURE
    return Fault.MAX_TOKENS if "max_tokens" in changes and "max_tokens" not in request else None
