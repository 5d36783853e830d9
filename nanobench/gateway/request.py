"""What a request may be, and how it is changed before it goes on: pure rules that hold in every dialect."""

from __future__ import annotations

import json
from typing import Any

from attrs import frozen

from nanobench.gateway.answer import ApiError
from nanobench.gateway.upstream import Pins
from nanobench.model.fields import Document


@frozen(kw_only=True)
class ChatRequest:
    """A request's JSON object, and the two facts of it that the record names."""

    body: Document
    stream: bool
    tools: bool


def read_request(data: bytes) -> ChatRequest | None:
    """The request in ``data``; None when it is not a JSON object that can be sent on."""
    try:
        body = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
        json.dumps(body, allow_nan=False)  # 1e999 reads as an infinity, and deep nesting may read but not write
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict):
        return None
    return ChatRequest(body=body, stream=body.get("stream") is True, tools=bool(body.get("tools")))


def changes(request: ChatRequest, pins: Pins, additions: Document) -> Document:
    """The keys to set: what the dialect adds, and the pinned temperature."""
    return additions if pins.temperature is None else {**additions, "temperature": pins.temperature}


def sent(request: ChatRequest, wanted: Document) -> bytes:
    """The bytes that go to the provider."""
    return json.dumps(request.body | wanted, separators=(",", ":")).encode("ascii")


def refuses_temperature(error: ApiError | None) -> bool:
    """Whether a provider says that this model's sampling is forced."""
    return error is not None and "temperature" in error.message.lower()


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
