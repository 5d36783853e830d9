"""How was the provider asked? What a transcript says of it, beside what the run published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import Factory, define, field

from nanobench.gateway.budget import Budget, Meter
from nanobench.gateway.dialects import DIALECTS, is_asked
from nanobench.gateway.exchange import OWN_FAULTS, Exchange, Fault
from nanobench.gateway.request import read_request
from nanobench.gateway.scripted.behaviours import BEHAVIOURS
from nanobench.model.result import RunManifest

_UNSENT = OWN_FAULTS | {Fault.LIMIT, Fault.TOKEN_BUDGET, Fault.COST_BUDGET, Fault.TIME_BUDGET}
"""Answered by the gateway: the provider was not asked."""


@define
class Asked:
    """Notes a cell's exchanges as they pass. ``overspent`` are the words for a budget after whose end the provider
    was asked once more."""

    run: RunManifest
    models: set[str] = Factory(set)
    other_kind: bool = False
    tools: bool | None = None
    overspent: str = ""
    _meter: Meter = field(init=False)

    def __attrs_post_init__(self) -> None:
        budgets = self.run.budgets
        self._meter = Meter(Budget(tokens=budgets.max_tokens, seconds=budgets.max_seconds))

    def passing(self, exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
        """The same exchanges."""
        for exchange in exchanges:
            if exchange.fault not in _UNSENT and (exchange.request.raw() or exchange.status is not None):
                self._note(exchange)
            yield exchange

    def problems(self, model: str) -> Iterator[str]:
        """Where the exchanges that passed are not of the run and of ``model``."""
        provider = self.run.provider
        for other in sorted(self.models - {model}):
            yield f"model: the cell is of {model}, its transcript asks for {other:.200}"
        if provider.kind == "scripted" and provider.name not in BEHAVIOURS:
            yield f"provider.kind: published scripted, and no script is called {provider.name}"
        if self.other_kind:
            yield f"provider.kind: published {provider.kind}, the transcript speaks to another"
        if self.tools is not None and self.tools is not (provider.arm.tools == "native"):
            yield f"provider.arm.tools: published {provider.arm.tools}, the transcript says otherwise"
        if self.overspent:
            yield f"budgets: {self.overspent}, and the transcript goes on"

    def _note(self, exchange: Exchange) -> None:
        request = read_request(exchange.request.raw())
        self.models.add(str(request.body.get("model")) if request else "nothing")
        wire = DIALECTS[self.run.provider.wire]
        self.other_kind = self.other_kind or not is_asked(wire, exchange.method, exchange.path)
        if self.tools is None:  # only the first request is surely the agent's: what it runs can send others
            self.tools = exchange.tools
        if spent := self._meter.spent(exchange.start_ms):
            self.overspent = self.overspent or spent[1]
        self._meter.count(exchange)
