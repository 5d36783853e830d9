"""What the agent and the model said to each other, step by step, read from the exchanges of a transcript.

A request holds the whole conversation so far: of each only what is new is kept. A tool's result stands in a later
request than its call and is put beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import evolve, frozen

from nanobench.formats import json
from nanobench.gateway.answer import Call, Heard, TokenCount, object_in
from nanobench.gateway.dialects import dialect_at
from nanobench.gateway.exchange import Exchange, Fault


@frozen(kw_only=True)
class ToolUse:
    """A tool call and its result; None where no later request tells one."""

    call: Call
    result: str | None = None


@frozen(kw_only=True)
class Step:
    """One exchange: what the model was newly told beside the results of its calls, what it said, its tool uses."""

    n: int
    start_ms: int
    end_ms: int
    told: tuple[Heard, ...]
    said: str
    uses: tuple[ToolUse, ...]
    usage: TokenCount | None
    fault: Fault | None
    detail: str
    status: int | None


def trajectory(exchanges: Iterable[Exchange]) -> Iterator[Step]:
    """Every exchange as a step, in order; two are in memory."""
    seen: set[Heard] = set()
    waiting: Step | None = None
    for exchange in exchanges:
        new = [heard for heard in _heard(exchange) if heard not in seen]
        seen.update(new)
        if waiting is not None:
            yield _with_results(waiting, {heard.call: heard.text for heard in new if heard.call})
        called = {use.call.id for use in waiting.uses} if waiting else set()
        waiting = _step(exchange, tuple(heard for heard in new if heard.call not in called))
    if waiting is not None:
        yield waiting


def _heard(exchange: Exchange) -> Iterator[Heard]:
    try:
        document = object_in(json.foreign(exchange.request.raw()))
    except ValueError:  # a client's mistake, which the gateway answered
        return
    yield from dialect_at(exchange.path).heard(document)


def _step(exchange: Exchange, told: tuple[Heard, ...]) -> Step:
    answer = exchange.answer()
    return Step(
        n=exchange.n,
        start_ms=exchange.start_ms,
        end_ms=exchange.end_ms,
        told=told,
        said=answer.text,
        uses=tuple(ToolUse(call=call) for call in answer.calls),
        usage=answer.usage,
        fault=exchange.fault,
        detail=exchange.detail,
        status=exchange.status,
    )


def _with_results(step: Step, results: Mapping[str, str]) -> Step:
    return evolve(step, uses=tuple(evolve(use, result=results.get(use.call.id)) for use in step.uses))
