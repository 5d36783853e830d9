"""What a chat-completions answer says, read from its raw bytes: a stream of events or one JSON object.

The bytes are a provider's and may be anything; nothing here raises. Shapes are those of OpenAI, llama.cpp, vLLM
and the routers in front of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

from attrs import Factory, define, frozen


@frozen(kw_only=True)
class TokenCount:
    """Tokens of one answer as the provider counted them; ``cached`` None is unknown."""

    input: int
    output: int
    cached: int | None = None


@frozen(kw_only=True)
class ApiError:
    """An error object of a provider; ``code`` and ``type`` in lower case, ``status`` where the code is a number."""

    message: str = ""
    type: str = ""
    code: str = ""
    status: int | None = None


@frozen(kw_only=True)
class Answer:
    """The facts of one answer. ``form`` is ``other`` when it is neither a stream nor a JSON object."""

    form: Literal["stream", "object", "other"] = "other"
    finish: str | None = None
    done: bool = False
    tool_calls: int = 0
    text: bool = False
    usage: TokenCount | None = None
    error: ApiError | None = None

    @property
    def whole(self) -> bool:
        """Whether the model came to an end: it says why, or the stream was closed properly."""
        return self.error is None and (self.finish is not None or self.done)


def read_answer(content_type: str, body: bytes) -> Answer:
    """The facts in ``body``. The form is told by the bytes; a provider's content type is only a hint."""
    text = body.decode("utf-8", "replace")
    if "event-stream" in content_type.lower():
        return _read(_events(text), form="stream")
    document = _object(text)
    return Answer() if document is None else _read([document], form="object")


def _events(text: str) -> Iterator[dict[str, Any] | None]:
    """Each event's JSON object; ``None`` stands for the closing ``[DONE]``. An unfinished last line is left out."""
    lines = text.replace("\r\n", "\n").split("\n")
    for line in lines[:-1]:
        name, _, value = line.partition(":")
        if name == "data" and value.strip() == "[DONE]":
            yield None
        elif name == "data" and (document := _object(value)) is not None:
            yield document
        elif name == "error" and (document := _object(value)) is not None:
            yield {"error": document}


def _object(text: str) -> dict[str, Any] | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


@define
class _Reading:
    finish: str | None = None
    text: bool = False
    calls: set[tuple[int, int]] = Factory(set)

    def choice(self, choice: dict[str, Any]) -> None:
        self.finish = _text(choice.get("finish_reason")) or self.finish
        message = choice.get("delta") or choice.get("message")
        if isinstance(message, dict):
            self.text = self.text or bool(_text(message.get("content")))
            where = choice.get("index", 0)
            for place, call in enumerate(_objects(message.get("tool_calls"))):
                self.calls.add((_number(where) or 0, _number(call.get("index", place)) or 0))


def _read(events: Any, *, form: Literal["stream", "object"]) -> Answer:
    reading, done = _Reading(), False
    last: dict[str, Any] = {}
    for event in events:
        if event is None:
            done = True
            break
        for choice in _objects(event.get("choices")):
            reading.choice(choice)
        last |= {key: value for key, value in event.items() if value is not None and key != "choices"}
    return Answer(
        form=form,
        finish=reading.finish,
        done=done,
        tool_calls=len(reading.calls),
        text=reading.text,
        usage=_usage(last.get("usage")),
        error=_error(last),
    )


def _error(event: dict[str, Any]) -> ApiError | None:
    """The error in an event: ``{"error": {…}}``, ``{"error": "text"}`` or vLLM's bare ``{"object": "error", …}``."""
    error = event.get("error")
    if error is None and event.get("object") == "error":
        error = event
    if not error:
        return None
    if not isinstance(error, dict):
        return ApiError(message=str(error)[:2000])
    code = error.get("code")
    return ApiError(
        message=(_text(error.get("message")) or "")[:2000],
        type=(_text(error.get("type")) or "").lower()[:200],
        code=(_text(code) or "").lower()[:200],
        status=int(code) if isinstance(code, str) and re.fullmatch(r"[1-5]\d\d", code) else _number(code),
    )


def _usage(usage: Any) -> TokenCount | None:
    if not isinstance(usage, dict):
        return None
    counts = _number(usage.get("prompt_tokens")), _number(usage.get("completion_tokens"))
    if counts[0] is None or counts[1] is None:
        return None
    details = usage.get("prompt_tokens_details")
    cached = _number(details.get("cached_tokens")) if isinstance(details, dict) else None
    return TokenCount(input=counts[0], output=counts[1], cached=cached)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) and value else None


def _number(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**53 else None
