"""What will a plan use at most? Said before anything starts; what is not known is said to be unknown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from attrs import frozen

from nanobench.gateway.price import dearest, plain
from nanobench.model.environment import Limits
from nanobench.model.result import ProviderFacts, RunManifest
from nanobench.scoring.efficiency import REPEATS

_MILLION = 1_000_000


@frozen(kw_only=True)
class Forecast:
    """The most that every cell's first attempt uses together: seconds of agents at work, tokens, US dollars. None is
    unknown; ``cost`` is decimal text. What is tried again after a provider's failure comes on top, but never over the
    run's own ``max_cost``.

    ``missing_repeats``: how many more figures of efficiency need; those of success are another matter.
    """

    cells: int
    order_seed: int | None
    missing_repeats: int
    seconds: int
    tokens: int | None
    cost: str | None
    reason: str = ""

    def text(self) -> str:
        """The forecast in a line each."""
        tokens = "unknown (bound it with --max-tokens)" if self.tokens is None else f"at most {self.tokens}"
        cost = f"unknown ({self.reason})" if self.cost is None else f"at most {self.cost} USD"
        time = f"at most {self.seconds} s of agents' work"
        cells = f"{self.cells} cell{'s' if self.cells > 1 else ''}, in the order of seed {self.order_seed}"
        lines = [f"plan: {cells}", f"  time: {time}", f"  tokens: {tokens}", f"  cost: {cost}"]
        if self.missing_repeats:
            need = (
                f"figures need {REPEATS} repeats of a cell, {self.missing_repeats} are missing (--repeats {REPEATS})"
            )
            lines.append(f"  efficiency: {need}")
        return "\n".join(lines)


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
    repeats = 1 + max(cell.repeat for cell in cells)
    return Forecast(
        cells=len(cells),
        order_seed=manifest.order_seed,
        missing_repeats=max(0, REPEATS - repeats),
        seconds=seconds,
        tokens=tokens,
        cost=cost,
        reason=reason,
    )


def unpriced(providers: Iterable[ProviderFacts]) -> tuple[str, ...]:
    """The models of a run whose price is not known. A script takes nothing."""
    asked = (facts for facts in providers if facts.kind != "scripted")
    return tuple(
        model for facts in asked for model in facts.models if model not in {price.model for price in facts.price}
    )


def _cost(manifest: RunManifest) -> tuple[str | None, str]:
    """The most that the plan costs, or why that is not known."""
    budgets = manifest.budgets
    if missing := unpriced(manifest.providers):
        return None, f"no price of {', '.join(missing)}"
    prices = [price for cell in manifest.cells if (price := manifest.provider_of(cell).price_of(cell.model))]
    if not prices:
        return "0", ""
    if budgets.max_tokens is None:
        return budgets.max_cost, "" if budgets.max_cost else "bound it with --max-cost, or with --max-tokens"
    most = sum((budgets.max_tokens * dearest(price) for price in prices), Decimal(0)) / _MILLION
    return plain(most if budgets.max_cost is None else min(most, Decimal(budgets.max_cost))), ""
