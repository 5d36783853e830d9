"""A run in figures, folded from its recorded exchanges alone: whoever has the transcript gets the same summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attrs import frozen

from nanobench.gateway.answer import Answer, TokenCount
from nanobench.gateway.exchange import OWN_FAULTS, Exchange
from nanobench.gateway.upstream import Pins
from nanobench.gateway.wire import WireEnd, classify
from nanobench.model.profile import TOOL_NAME
from nanobench.model.result import Served, Usage

_MOST = 100
"""Names of tools, and of models, that are told apart: a provider may make up any number of them."""

OTHER = "(other)"
"""What stands for every further one, and for a tool whose name is no name."""


@frozen(kw_only=True)
class Summary:
    """One run as the gateway saw it.

    ``usage.steps`` are answers that came to their end; ``requests`` also counts failed tries. ``had_tools`` and
    ``last_had_tools`` tell whether any request offered tools and whether the last one did. ``end.status`` is the
    provider's last status. ``sampling_pinned``: there are steps, and each was sampled as pinned. ``said`` is all
    text of the steps. ``served``: who gave them. ``counts``: what each told of its tokens; None when one did not, or
    there is none. ``metered``: any of them told a token that a model made.
    """

    usage: Usage
    requests: int
    had_tools: bool
    last_had_tools: bool
    end: WireEnd
    sampling_pinned: bool
    said: str = ""
    served: tuple[Served, ...] = ()
    counts: tuple[TokenCount, ...] | None = None
    metered: bool = False


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
    counts = _counts(steps)
    return Summary(
        usage=_usage(steps, counts, calls_told=had_tools),
        requests=requests,
        had_tools=had_tools,
        last_had_tools=last is not None and last.tools,
        end=classify(last),
        sampling_pinned=pinned and bool(steps),
        said="".join(answer.text for answer in steps),
        served=_served(steps),
        counts=counts,
        metered=any(answer.usage is not None and answer.usage.output > 0 for answer in steps),
    )


def _meant_for_provider(exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    return (e for e in exchanges if e.fault not in OWN_FAULTS)


def _counts(steps: list[Answer]) -> tuple[TokenCount, ...] | None:
    """What each told of its tokens, if there are any and all did."""
    told = tuple(answer.usage for answer in steps if answer.usage is not None)
    return told if steps and len(told) == len(steps) else None


def _usage(steps: list[Answer], counts: tuple[TokenCount, ...] | None, *, calls_told: bool) -> Usage:
    """The sums. Where no tools are offered the agent may read calls out of the text: their number is unknown."""
    known = counts or ()

    def total(tokens: Iterable[int | None]) -> int | None:
        told = [number for number in tokens if number is not None]
        return sum(told) if known and len(told) == len(known) else None

    calls = calls_told or not steps
    return Usage(
        steps=len(steps),
        tool_calls=sum(answer.tool_calls for answer in steps) if calls else None,
        input_tokens=total(count.input for count in known),
        output_tokens=total(count.output for count in known),
        cached_tokens=total(count.cached for count in known),
        cache_written_tokens=total(count.written for count in known),
        by_tool=_by_tool(steps) if calls else None,
    )


def _by_tool(steps: Iterable[Answer]) -> dict[str, int]:
    """How often each tool was called."""
    found: dict[str, int] = {}
    for name in (name for answer in steps for name in answer.tools):
        known = name in found or (len(found) < _MOST and re.fullmatch(TOOL_NAME, name))
        key = name if known else OTHER
        found[key] = found.get(key, 0) + 1
    return found


def _served(steps: Iterable[Answer]) -> tuple[Served, ...]:
    """Who gave the steps, in the order of their first."""
    found: dict[tuple[str | None, str | None], int] = {}
    for answer in steps:
        key = _short(answer.model), _short(answer.fingerprint)
        key = key if key in found or len(found) < _MOST else (OTHER, None)
        found[key] = found.get(key, 0) + 1
    return tuple(Served(model=who, fingerprint=mark, steps=count) for (who, mark), count in found.items())


def _short(text: str | None) -> str | None:
    return None if text is None else text[:200]
