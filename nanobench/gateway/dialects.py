"""The wires that the gateway speaks: one class each. A new one is a class and a line in the table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from nanobench.gateway.answer import Answer, Heard
from nanobench.gateway.anthropic import Messages
from nanobench.gateway.openai import ChatCompletions
from nanobench.gateway.upstream import Secret
from nanobench.model.fields import Document
from nanobench.model.provider import Wire


class Dialect(Protocol):
    """How one kind of provider is asked and answers. All take ``model``, ``tools``, ``stream``, ``temperature`` and
    ``max_tokens`` as keys of one JSON object."""

    endpoint: str
    """The one path that is forwarded, below a prefix."""

    headers: tuple[str, ...]
    """Headers of the client that the wire cannot do without."""

    keys: frozenset[str]
    """The keys of a request that are forwarded. Others would have a provider search the web, connect to servers, ask
    other models or answer many times: a way out of the sandbox, with the user's key."""

    tools: tuple[str | None, ...]
    """The types of tools that the client itself carries out."""

    def authorization(self, key: Secret) -> dict[str, str]:
        """The header that holds the key."""

    def additions(self, *, stream: bool) -> Document:
        """Keys without which the provider would keep its usage to itself."""

    def read(self, content_type: str, body: bytes) -> Answer:
        """The facts in an answer's bytes, whatever they are."""

    def heard(self, request: Document) -> Iterator[Heard]:
        """What a request tells the model: every message that is not its own."""

    def closing(self, text: str, *, stream: bool) -> bytes:
        """An answer of the gateway's own that says ``text`` and asks for nothing more."""

    def error(self, message: str, code: str) -> Document:
        """An error of the gateway's own in the shape that clients expect."""


DIALECTS: dict[Wire, Dialect] = {"openai-compatible": ChatCompletions(), "anthropic": Messages()}


def is_asked(dialect: Dialect, method: str, path: str) -> bool:
    """Whether this is the endpoint that is forwarded, below any prefix."""
    return method == "POST" and re.fullmatch(r"(/[A-Za-z0-9._-]+)*" + dialect.endpoint, path) is not None


def dialect_at(path: str) -> Dialect:
    """The dialect of a recorded exchange; where none was spoken, no answer is there to be read."""
    found = (dialect for dialect in DIALECTS.values() if is_asked(dialect, "POST", path))
    return next(found, DIALECTS["openai-compatible"])
