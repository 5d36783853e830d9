"""The facts of a model's answer, and what the wire dialects share in reading them from raw bytes.

The bytes are a provider's and may be anything; nothing here raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

from attrs import frozen

from nanobench.formats import json
from nanobench.model.fields import Document

_MOST = 10**9

Form = Literal["stream", "object", "other"]


@frozen(kw_only=True)
class TokenCount:
    """Tokens of one answer as the provider counted them. ``input`` holds those read from a cache (``cached``) and
    those written to one (``written``) too; None is unknown."""

    input: int
    output: int
    cached: int | None = None
    written: int | None = None


@frozen(kw_only=True)
class ApiError:
    """An error object of a provider; ``code`` and ``type`` in lower case, ``status`` where the code is a number."""

    message: str = ""
    type: str = ""
    code: str = ""
    status: int | None = None


@frozen(kw_only=True)
class Call:
    """A call of a tool, as the answer tells it: its id and its name (empty where not told), its arguments as text."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@frozen
class Heard:
    """A message to the model: whose (``system``, ``user``, ``tool``), its text, and the call whose result it is."""

    role: str
    text: str
    call: str | None = None


@frozen(kw_only=True)
class Answer:
    """The facts of one answer. ``form`` is ``other`` when it is neither a stream nor a JSON object; ``calls`` are the
    tools that it calls, in order. ``model`` and ``fingerprint`` say who answered."""

    form: Form = "other"
    model: str | None = None
    fingerprint: str | None = None
    finish: str | None = None
    done: bool = False
    calls: tuple[Call, ...] = ()
    text: str = ""
    usage: TokenCount | None = None
    error: ApiError | None = None

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools that it calls, in order."""
        return tuple(call.name for call in self.calls)

    @property
    def tool_calls(self) -> int:
        """How many tools it calls."""
        return len(self.calls)

    @property
    def unsound(self) -> bool:
        """Whether a call is without an id or a name, which is the server's part."""
        return not all(call.id and call.name for call in self.calls)

    @property
    def whole(self) -> bool:
        """Whether the model came to an end: it says why, or the stream was closed properly."""
        return self.error is None and (self.finish is not None or self.done)


def parts(content_type: str, body: bytes) -> tuple[Form, tuple[Document, ...], bool]:
    """The form of ``body``, its JSON objects (each event of a stream, or the one), and whether ``[DONE]`` closed it.

    The form is told by the content type; what comes after the closing is not read.
    """
    text = body.decode("utf-8", "replace")
    if "event-stream" not in content_type.lower():
        document = _object(text)
        return ("other", (), False) if document is None else ("object", (document,), False)
    found = list(_events(text))
    done = None in found
    return "stream", tuple(event for event in found if event is not None), done


def _events(text: str) -> Iterator[Document | None]:
    """Each event's JSON object; ``None`` stands for the closing ``[DONE]``. An unfinished last line is left out."""
    for line in text.replace("\r\n", "\n").split("\n")[:-1]:
        name, _, value = line.partition(":")
        if name == "data" and value.strip() == "[DONE]":
            yield None
            return
        if name in ("data", "error") and (document := _object(value)) is not None:
            yield document if name == "data" else {"error": document}


def _object(text: str) -> Document | None:
    """The object in ``text``; Gemini's compatible endpoint puts an error's into a list."""
    try:
        document = json.foreign(text.encode())
    except ValueError:
        return None
    if isinstance(document, list) and len(document) == 1:
        (document,) = document
    return document if isinstance(document, dict) else None


def error_in(event: Document) -> ApiError | None:
    """The error in an event: ``{"error": {…}}``, ``{"error": "text"}`` or vLLM's bare ``{"object": "error", …}``."""
    error = event.get("error")
    if error is None and event.get("object") == "error":
        error = event
    if not error:
        return None
    if not isinstance(error, dict):
        return ApiError(message=(text_in(error) or str(error))[:2000])
    code = error.get("code")
    return ApiError(
        message=(text_in(error.get("message")) or "")[:2000],
        type=(text_in(error.get("type")) or text_in(error.get("status")) or "").lower()[:200],
        code=(text_in(code) or "").lower()[:200],
        status=int(code) if isinstance(code, str) and re.fullmatch(r"[1-5]\d\d", code) else number_in(code),
    )


def objects_in(value: Any) -> list[Document]:
    """The objects of a list; none of anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def object_in(value: Any) -> Document:
    """An object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def text_in(value: Any) -> str | None:
    """A text that is not empty, such that it can be written down."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) and value else None


def texts_in(content: Any) -> str:
    """A text, or the texts of a list of parts, each on lines of its own."""
    if isinstance(content, list):
        return "\n".join(text_in(part.get("text")) or "" for part in objects_in(content) if "text" in part)
    return text_in(content) or ""


def number_in(value: Any) -> int | None:
    """A count; a larger one than any answer's is none: the sum of many could be no number of a document."""
    return value if type(value) is int and 0 <= value <= _MOST else None
