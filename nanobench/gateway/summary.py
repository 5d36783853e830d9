"""A run in figures, folded from its recorded exchanges alone: whoever has the transcript gets the same summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import frozen

from nanobench.gateway.answer import Answer, TokenCount
from nanobench.gateway.exchange import OWN_FAULTS, Exchange
from nanobench.gateway.upstream import Pins
from nanobench.gateway.wire import WireEnd, classify
from nanobench.model.result import Usage


@frozen(kw_only=True)
class Summary:
    """One run as the gateway saw it.

    ``usage.steps`` are answers that came to their end; ``requests`` also counts failed tries. ``had_tools`` and
    ``last_had_tools`` tell whether any request offered tools and whether the last one did. ``end.status`` is the
    provider's last status. ``sampling_pinned``: there are steps, and each was sampled as pinned. ``said`` is all
    text of the steps.
    """

    usage: Usage
    requests: int
    had_tools: bool
    last_had_tools: bool
    end: WireEnd
    sampling_pinned: bool
    said: str = ""


def summarise(exchanges: Iterable[Exchange], pins: Pins) -> Summary:
    """The summary of a run that was to be sampled as ``pins`` say (without a temperature none counts as pinned)."""
    requests, had_tools = 0, False
    last: Exchange | None = None
    steps: list[Answer] = []
    pinned = pins.temperature is not None
    for exchange in _meant_for_provider(exchanges):
        requests, last, had_tools = requests + 1, exchange, had_tools or exchange.tools
        answer = exchange.answer()
        if exchange.fault is None and answer.whole:
            steps.append(answer)
            pinned = pinned and pins.sampling.items() <= exchange.changes.items()
    return Summary(
        usage=_usage(steps, calls_told=had_tools),
        requests=requests,
        had_tools=had_tools,
        last_had_tools=last is not None and last.tools,
        end=classify(last),
        sampling_pinned=pinned and bool(steps),
        said="".join(answer.text for answer in steps),
    )


def _meant_for_provider(exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    return (e for e in exchanges if e.fault not in OWN_FAULTS)


def _usage(steps: list[Answer], *, calls_told: bool) -> Usage:
    """The sums. Where no tools are offered the agent may read calls out of the text: their number is unknown."""
    counts = [answer.usage for answer in steps]
    known: list[TokenCount] = [count for count in counts if count is not None]
    complete = bool(steps) and len(known) == len(counts)
    cached = [count.cached for count in known if count.cached is not None]
    return Usage(
        steps=len(steps),
        tool_calls=sum(answer.tool_calls for answer in steps) if calls_told or not steps else None,
        input_tokens=sum(c.input for c in known) if complete else None,
        output_tokens=sum(c.output for c in known) if complete else None,
        cached_tokens=sum(cached) if complete and len(cached) == len(known) else None,
    )
