"""What will a plan use at most? Said before anything starts; what is not known is said to be unknown. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from attrs import frozen

from nanobench.model.environment import Limits
from nanobench.model.provider import ModelPrice
from nanobench.model.result import ProviderFacts, RunManifest

_MILLION = 1_000_000


@frozen(kw_only=True)
class Forecast:
    """The most that every cell's first attempt uses together: seconds of agents at work, tokens, US dollars. None is
    unknown; ``cost`` is decimal text. What is tried again after a provider's failure comes on top, but never over the
    run's own ``max_cost``."""

    cells: int
    seconds: int
    tokens: int | None
    cost: str | None
    reason: str = ""

    def text(self) -> str:
        """The forecast in a line each."""
        tokens = "unknown (bound it with --max-tokens)" if self.tokens is None else f"at most {self.tokens}"
        cost = f"unknown ({self.reason})" if self.cost is None else f"at most {self.cost} USD"
        time = f"at most {self.seconds} s of agents' work"
        cells = f"{self.cells} cell{'s' if self.cells > 1 else ''}"
        return f"plan: {cells}\n  time: {time}\n  tokens: {tokens}\n  cost: {cost}"


def forecast(manifest: RunManifest, limits: Mapping[str, Limits]) -> Forecast:
    """What the plan uses at most.

    Args:
        limits: each task's, of its lock.
    """
    budgets, cells = manifest.budgets, manifest.cells
    each = budgets.max_seconds
    seconds = sum(min(limits[cell.task].agent_seconds, each or limits[cell.task].agent_seconds) for cell in cells)
    tokens = None if budgets.max_tokens is None else budgets.max_tokens * len(cells)
    cost, reason = _cost(manifest)
    return Forecast(cells=len(cells), seconds=seconds, tokens=tokens, cost=cost, reason=reason)


def unpriced(facts: ProviderFacts) -> tuple[str, ...]:
    """The models of a run whose price is not known."""
    priced = {price.model for price in facts.price}
    return tuple(model for model in facts.models if model not in priced)


def _cost(manifest: RunManifest) -> tuple[str | None, str]:
    """The most that the plan costs, or why that is not known."""
    facts, budgets = manifest.provider, manifest.budgets
    if facts.kind == "scripted":
        return "0", ""
    if missing := unpriced(facts):
        return None, f"no price of {', '.join(missing)}"
    if budgets.max_tokens is None:
        return budgets.max_cost, "" if budgets.max_cost else "bound it with --max-cost, or with --max-tokens"
    dearest = {price.model: _dearest(price) for price in facts.price}
    most = sum((budgets.max_tokens * dearest[cell.model] for cell in manifest.cells), Decimal(0)) / _MILLION
    return format(most if budgets.max_cost is None else min(most, Decimal(budgets.max_cost)), "f"), ""


def _dearest(price: ModelPrice) -> Decimal:
    return max(Decimal(amount) for amount in (price.input, price.output, price.cached or "0"))
