"""What ended a run, as seen on the wire: pure functions of a recorded exchange.

A client that retries leaves several exchanges; the last one tells how the run ended. What the wire cannot know
(time limits, turn caps, memory) is the runner's to add.
"""

from __future__ import annotations

import re

from attrs import evolve, frozen

from nanobench.gateway.answer import Answer, ApiError
from nanobench.gateway.exchange import Exchange, Fault
from nanobench.model.result import Cause


@frozen(kw_only=True)
class WireEnd:
    """How it ended. ``cause`` None: no end in sight (no request, an answer that asks for tools, or a client gone)."""

    cause: Cause | None
    status: int | None = None
    detail: str = ""


_FAULTS = {
    Fault.LIMIT: Cause.TOKEN_BUDGET,
    Fault.TOKEN_BUDGET: Cause.TOKEN_BUDGET,
    Fault.COST_BUDGET: Cause.COST_BUDGET,
    Fault.TIME_BUDGET: Cause.TIME_LIMIT,
    Fault.CONTEXT: Cause.CONTEXT,
    Fault.CONNECT: Cause.WIRE,
    Fault.TLS: Cause.WIRE,
    Fault.DROPPED: Cause.WIRE,
    Fault.TIMEOUT: Cause.WIRE,
    Fault.ANSWER_TOO_LARGE: Cause.PROVIDER_FAILED,
}

_MONEY_NAMES = re.compile(r"insufficient_quota|billing")
_RATE_NAMES = re.compile(r"rate_?limit|too_many_requests|quota_exceeded|resource_exhausted")
_CONTEXT_NAMES = re.compile(r"context_length|context_size|context_window|string_above_max_length")
_CONTEXT_WORDS = re.compile(
    r"context (length|size|window|limit)|maximum model length|exceeds? the maximum number of tokens"
    r"|prompt is too long|input is too long|maximum (prompt|input) length",
    re.IGNORECASE,
)
_RATE_WORDS = re.compile(r"rate limit|too many requests", re.IGNORECASE)


def classify(last: Exchange | None) -> WireEnd:
    """What ended the run, by the last exchange that was meant for the provider, if there was any."""
    return WireEnd(cause=None, detail="no request reached the gateway") if last is None else _end(last)


def _end(last: Exchange) -> WireEnd:
    answer = last.answer()
    error = _refusal(last, answer)
    if last.fault is Fault.ABANDONED:
        return WireEnd(cause=None, status=last.status, detail=last.detail)
    if error is not None:
        return WireEnd(cause=cause_of(error), status=error.status, detail=_said(error))
    if last.fault is not None:
        return WireEnd(cause=_FAULTS.get(last.fault), status=last.status, detail=last.detail)
    if answer.form == "other":
        detail = f"neither a stream nor JSON but {last.content_type or 'no content type'}"
        return WireEnd(cause=Cause.PROVIDER_FAILED, status=last.status, detail=detail)
    if not answer.whole:
        return WireEnd(cause=Cause.WIRE, status=last.status, detail="the answer stops before its end")
    if answer.unsound:
        detail = "the last answer calls a tool without an id or a name"
        return WireEnd(cause=Cause.PROVIDER_FAILED, status=last.status, detail=detail)
    if answer.tool_calls:
        return WireEnd(cause=None, status=last.status, detail="the last answer asked for tools")
    return WireEnd(cause=Cause.FINISHED, status=last.status, detail=answer.finish or "")


def _refusal(last: Exchange, answer: Answer) -> ApiError | None:
    """The provider's error, from the HTTP status and body or from inside a stream that began well."""
    if last.status is not None and not 200 <= last.status < 300:
        return evolve(answer.error or ApiError(), status=last.status)
    if answer.error is None:
        return None
    return evolve(answer.error, status=answer.error.status or last.status)


def cause_of(error: ApiError) -> Cause:
    """Whose doing an error is.

    An account without money is refused, though some say so with the status of a rate limit. A rate limit that
    mentions tokens is still a rate limit. A request too large for the server is one that the conversation grew.
    """
    names = f"{error.type} {error.code}"
    status = error.status or 0
    if _MONEY_NAMES.search(names):
        return Cause.PROVIDER_REFUSED
    if status == 429 or _RATE_NAMES.search(names):
        return Cause.RATE_LIMIT
    if status == 413 or _CONTEXT_NAMES.search(names) or _CONTEXT_WORDS.search(error.message):
        return Cause.CONTEXT
    if _RATE_WORDS.search(error.message) and status < 400:
        return Cause.RATE_LIMIT
    if 300 <= status < 500 and status != 408:
        return Cause.PROVIDER_REFUSED
    return Cause.PROVIDER_FAILED


def _said(error: ApiError) -> str:
    return ": ".join(part for part in (error.code or error.type, error.message) if part)
