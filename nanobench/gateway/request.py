"""What a request may be, and how it is changed before it goes on: pure rules of the chat-completions wire."""

from __future__ import annotations

import json
import re
from typing import Any

from attrs import frozen

from nanobench.gateway.answer import ApiError
from nanobench.gateway.upstream import Pins
from nanobench.model.fields import Document

_ENDPOINT = re.compile(r"(/[A-Za-z0-9._-]+)*/chat/completions")


def is_chat(method: str, path: str) -> bool:
    """Whether this is the one endpoint that is forwarded, below any prefix."""
    return method == "POST" and _ENDPOINT.fullmatch(path) is not None


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


def changes(request: ChatRequest, pins: Pins) -> Document:
    """The keys to set: the pinned temperature, and a stream's usage, which strict providers report only if asked."""
    wanted: Document = {}
    if pins.temperature is not None:
        wanted["temperature"] = pins.temperature
    if request.stream:
        wanted["stream_options"] = {"include_usage": True}
    return wanted


def sent(request: ChatRequest, wanted: Document) -> bytes:
    """The bytes that go to the provider."""
    return json.dumps(request.body | wanted, separators=(",", ":")).encode("ascii")


def refuses_temperature(error: ApiError | None) -> bool:
    """Whether a provider says that this model's sampling is forced."""
    return error is not None and "temperature" in error.message.lower()


def error_body(message: str, code: str) -> dict[str, Any]:
    """An answer of the gateway's own in the shape clients expect."""
    return {"error": {"message": f"gateway: {message}", "type": "gateway_error", "code": code}}


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
