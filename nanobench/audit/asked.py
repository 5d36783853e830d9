"""How was the provider asked? What a transcript says of it, beside what the run published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import Factory, define, field

from nanobench.gateway.budget import ENDED, Budget, Meter
from nanobench.gateway.dialects import DIALECTS, is_asked
from nanobench.gateway.exchange import OWN_FAULTS, Exchange, Fault
from nanobench.gateway.request import ChatRequest, read_request
from nanobench.gateway.scripted.behaviours import BEHAVIOURS, part_of
from nanobench.harness.tools import unlike
from nanobench.model.profile import Profile
from nanobench.model.result import Cell, ProviderFacts, RunManifest

_UNSENT = OWN_FAULTS | {Fault.LIMIT, Fault.TOKEN_BUDGET, Fault.COST_BUDGET, Fault.TIME_BUDGET, Fault.CONTEXT}
"""Answered by the gateway: the provider was not asked."""


@define
class Asked:
    """Notes a cell's exchanges as they pass. ``first`` is the first request, the one that is surely the agent's:
    what it runs can send others. ``overspent`` are the words for a budget after whose end the provider was asked once
    more, ``ended`` those with which a bound ended the run."""

    run: RunManifest
    cell: Cell
    models: set[str] = Factory(set)
    other_kind: bool = False
    first: ChatRequest | None = None
    overspent: str = ""
    ended: dict[Fault, str] = Factory(dict)
    _facts: ProviderFacts = field(init=False)
    _profile: Profile = field(init=False)
    _meter: Meter = field(init=False)

    def __attrs_post_init__(self) -> None:
        budgets = self.run.budgets
        self._facts = self.run.provider_of(self.cell)
        self._profile = self.run.profile_of(self.cell) or Profile(name="none")
        context = self._profile.context_limit
        self._meter = Meter(Budget(tokens=budgets.max_tokens, seconds=budgets.max_seconds, context=context))

    def passing(self, exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
        """The same exchanges."""
        for exchange in exchanges:
            if exchange.fault not in _UNSENT and (exchange.request.raw() or exchange.status is not None):
                self._note(exchange)
            if exchange.fault in ENDED:
                self.ended[exchange.fault] = exchange.detail
            yield exchange

    def problems(self) -> Iterator[str]:
        """Where the exchanges that passed are not of the run and of its cell."""
        provider, model = self._facts, self.cell.model
        for other in sorted(self.models - {model}):
            yield f"model: the cell is of {model}, its transcript asks for {other:.200}"
        if provider.kind == "scripted" and (part := part_of(provider.name, model)) not in BEHAVIOURS:
            yield f"provider.kind: published scripted, and no script is called {part}"
        if self.other_kind:
            yield f"provider.kind: published {provider.kind}, the transcript speaks to another"
        yield from self._other_tools()
        if self.overspent:
            yield f"budgets: {self.overspent}, and the transcript goes on"
        yield from self._other_limits()

    def _other_limits(self) -> Iterator[str]:
        budgets = self.run.budgets
        published = {
            Fault.TOKEN_BUDGET: ("budgets.max_tokens", budgets.max_tokens),
            Fault.TIME_BUDGET: ("budgets.max_seconds", budgets.max_seconds),
            Fault.COST_BUDGET: ("budgets.max_cost", budgets.max_cost),
            Fault.CONTEXT: ("context_limit", self._profile.context_limit),
        }
        for fault, said in self.ended.items():
            key, limit = published[fault]
            if ENDED[fault].rpartition("{used}")[2].format(limit=limit) not in said:
                yield f"{key}: published {limit}, the transcript says: {said:.200}"

    def _other_tools(self) -> Iterator[str]:
        """What the first request says of how Nanocoder was set up. Tools that are told in the prompt alone say
        nothing of their number."""
        if self.first is None:
            return
        arm = self._facts.arm
        if self.first.tools is not (arm.tools == "native"):
            yield f"provider.arm.tools: published {arm.tools}, the transcript says otherwise"
        if self.first.tools:
            yield from unlike(
                self.first.offered,
                harness=self.cell.harness,
                profile=self._profile.tool_profile or arm.tool_profile,
                disabled=self._profile.disabled_tools,
            )

    def _note(self, exchange: Exchange) -> None:
        request = read_request(exchange.request.raw())
        self.models.add(str(request.body.get("model")) if request else "nothing")
        wire = DIALECTS[self._facts.wire]
        self.other_kind = self.other_kind or not is_asked(wire, exchange.method, exchange.path)
        self.first = self.first or request
        if spent := self._meter.spent(exchange.start_ms):
            self.overspent = self.overspent or spent[1]
        self._meter.count(exchange)
