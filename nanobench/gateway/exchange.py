"""One exchange between the sandbox and a provider, as one line of a transcript.

Bodies stand as the text they were (base64 where they are not UTF-8), so a line holds no float and every line is
canonical JSON. Times are offsets in milliseconds since the gateway started; there is no clock, host or key in it.
"""

from __future__ import annotations

import base64
import re
from enum import StrEnum

from attrs import evolve, field, frozen

from nanobench.gateway.answer import Answer, TokenCount
from nanobench.gateway.dialects import dialect_at
from nanobench.model.fields import Document


class Fault(StrEnum):
    """What kept an exchange from being whole."""

    ENDPOINT = "endpoint"
    MALFORMED = "malformed"
    REQUEST_TOO_LARGE = "request_too_large"
    MODEL = "model"
    FEATURE = "feature"
    LIMIT = "limit"
    TOKEN_BUDGET = "token_budget"  # noqa: S105
    COST_BUDGET = "cost_budget"
    TIME_BUDGET = "time_budget"
    CONTEXT = "context"
    TEMPERATURE = "temperature"
    MAX_TOKENS = "max_tokens"
    CONNECT = "connect"
    TLS = "tls"
    DROPPED = "dropped"
    TIMEOUT = "timeout"
    ANSWER_TOO_LARGE = "answer_too_large"
    ABANDONED = "abandoned"


OWN_FAULTS = frozenset({Fault.ENDPOINT, Fault.MALFORMED, Fault.REQUEST_TOO_LARGE, Fault.MODEL, Fault.FEATURE})
"""The client's own mistakes: answered by the gateway, never sent on, and no end of a run."""


_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


@frozen(kw_only=True)
class Bytes:
    """Bytes as text where they are printable UTF-8, else as base64. Exactly one of the two is there."""

    text: str | None = None
    base64: str | None = None

    def __attrs_post_init__(self) -> None:
        if (self.text is None) == (self.base64 is None):
            raise ValueError("exactly one of text and base64 must be there")
        self.raw()

    @classmethod
    def of(cls, data: bytes) -> Bytes:
        """``data`` in the readable form where there is one; control characters would grow sixfold in JSON."""
        try:
            if not _CONTROL.search(data):
                return cls(text=data.decode("utf-8"))
        except UnicodeDecodeError:
            pass
        return cls(base64=base64.b64encode(data).decode("ascii"))

    def raw(self) -> bytes:
        """The bytes again."""
        return base64.b64decode(self.base64, validate=True) if self.base64 is not None else (self.text or "").encode()


@frozen(kw_only=True)
class Chunk:
    """Bytes of an answer as they arrived, ``ms`` after the gateway's start."""

    ms: int
    data: Bytes


@frozen(kw_only=True)
class Exchange:
    """One request and what became of it.

    ``request`` is the body as received and ``changes`` the keys that were set in it before it was sent (empty when it
    was not sent). ``status``, ``content_type`` and ``chunks`` are the provider's, absent when the gateway answered.
    """

    n: int
    start_ms: int
    end_ms: int
    method: str
    path: str
    headers: dict[str, str] = field(factory=dict)
    request: Bytes
    stream: bool = False
    tools: bool = False
    changes: Document = field(factory=dict)
    status: int | None = None
    content_type: str | None = None
    chunks: tuple[Chunk, ...] = ()
    usage: TokenCount | None = None
    fault: Fault | None = None
    detail: str = ""

    def answer(self) -> Answer:
        """What the provider's bytes say."""
        return dialect_at(self.path).read(self.content_type or "", b"".join(c.data.raw() for c in self.chunks))

    def with_usage(self) -> Exchange:
        """The same, naming the usage that its own bytes show."""
        return evolve(self, usage=self.answer().usage)
