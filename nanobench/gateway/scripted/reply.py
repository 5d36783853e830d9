"""What a scripted model says in one turn, and its bytes on the wire.

Everything is a function of the request: fixed ids, ``created`` 0, token counts from lengths.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen

from nanobench.model.fields import Document

Messages = tuple[Document, ...]
"""The ``messages`` of a request: everything said so far."""

_PART = 2048
"""Characters of text or arguments in one event."""


@frozen(kw_only=True)
class ToolCall:
    """A call of a client's tool; ``arguments`` by name."""

    name: str
    arguments: dict[str, str]


@frozen(kw_only=True)
class Reply:
    """One turn: prose, tool calls, or both. A turn without calls ends the conversation.

    ``cut``: the connection breaks before its end.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    cut: bool = False


@frozen(kw_only=True)
class Failure:
    """The provider answers with an error in place of a turn."""

    status: int
    error: Document


Script = Callable[[Messages], Reply | Failure]
"""A behaviour. It is asked once a request and holds no state, so that a repeated request gets the same reply."""


def turn_of(messages: Messages) -> int:
    """The 0-based number of the turn that is due: how often the assistant has spoken."""
    return sum(message.get("role") == "assistant" for message in messages)


def events(reply: Reply, request: Document, *, turn: int) -> Iterator[bytes]:
    """The server-sent events of ``reply``, ended by ``[DONE]`` unless it is cut; usage only where the request asks
    for it."""
    head = {"id": f"chatcmpl-{turn}", "object": "chat.completion.chunk", "created": 0, "model": request.get("model")}

    def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield event({"role": "assistant", "content": ""})
    for part in _parts(reply.text):
        yield event({"content": part})
    for index, call in enumerate(reply.calls):
        function = {"name": call.name, "arguments": ""}
        start = {"index": index, "id": f"call_{turn}_{index}", "type": "function", "function": function}
        yield event({"tool_calls": [start]})
        for part in _parts(json.dumps(call.arguments)):
            yield event({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    if reply.cut:
        return
    yield event({}, "tool_calls" if reply.calls else "stop")
    if _wants_usage(request):
        yield _event({**head, "choices": [], "usage": _usage(reply, request)})
    yield b"data: [DONE]\n\n"


def _parts(text: str) -> Iterator[str]:
    return (text[at : at + _PART] for at in range(0, len(text), _PART))


def _event(document: Document) -> bytes:
    return b"data: " + json.dumps(document).encode("ascii") + b"\n\n"


def _wants_usage(request: Document) -> bool:
    options = request.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _usage(reply: Reply, request: Document) -> Document:
    """Four characters of JSON are a token; nothing is cached."""
    asked = -(-len(json.dumps(request.get("messages"))) // 4)
    said = -(-(len(reply.text) + sum(len(json.dumps(call.arguments)) for call in reply.calls)) // 4)
    return {
        "prompt_tokens": asked,
        "completion_tokens": said,
        "total_tokens": asked + said,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
