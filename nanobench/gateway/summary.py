"""A run in figures, folded from its recorded exchanges alone: whoever has the transcript gets the same summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import frozen

from nanobench.gateway.answer import Answer, TokenCount
from nanobench.gateway.exchange import OWN_FAULTS, Exchange
from nanobench.gateway.wire import WireEnd, classify
from nanobench.model.result import Usage


@frozen(kw_only=True)
class Summary:
    """One run as the gateway saw it.

    ``usage.steps`` are answers that came to their end; ``requests`` also counts failed tries. ``last_had_tools``
    tells whether the last request offered tools: an agent that stops offering them is at its turn cap.
    ``end.status`` is the provider's last status. ``temperature_pinned``: there are steps, and each was sampled as
    pinned.
    """

    usage: Usage
    requests: int
    last_had_tools: bool | None
    end: WireEnd
    temperature_pinned: bool


def summarise(exchanges: Iterable[Exchange], *, temperature: int | None = 0) -> Summary:
    """The summary of a run; ``temperature`` is the value that counts as pinned (None: nothing was to be pinned)."""
    requests = 0
    last: Exchange | None = None
    steps: list[Answer] = []
    pinned = temperature is not None
    for exchange in _meant_for_provider(exchanges):
        requests, last = requests + 1, exchange
        answer = exchange.answer()
        if exchange.fault is None and answer.whole:
            steps.append(answer)
            pinned = pinned and exchange.changes.get("temperature") == temperature
    return Summary(
        usage=_usage(steps),
        requests=requests,
        last_had_tools=last.tools if last else None,
        end=classify(last),
        temperature_pinned=pinned and bool(steps),
    )


def _meant_for_provider(exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    return (e for e in exchanges if e.fault not in OWN_FAULTS)


def _usage(steps: list[Answer]) -> Usage:
    counts = [answer.usage for answer in steps]
    known: list[TokenCount] = [count for count in counts if count is not None]
    complete = bool(steps) and len(known) == len(counts)
    cached = [count.cached for count in known if count.cached is not None]
    return Usage(
        steps=len(steps),
        tool_calls=sum(answer.tool_calls for answer in steps),
        input_tokens=sum(c.input for c in known) if complete else None,
        output_tokens=sum(c.output for c in known) if complete else None,
        cached_tokens=sum(cached) if complete and len(cached) == len(known) else None,
    )
