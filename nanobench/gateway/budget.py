"""What one run may use up, and what it has used: tokens, seconds, money. Money is decimal throughout.

An answer whose usage is unknown counts with its bytes and those of its request. No tokenizer makes more tokens than
bytes, so it is never taken for less than was seen, and a budget holds with every provider. What a model thinks and
does not show is in no such count.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from threading import Lock

from attrs import define, field, frozen

from nanobench.gateway.answer import TokenCount
from nanobench.gateway.exchange import Exchange, Fault
from nanobench.gateway.price import cost_at_most
from nanobench.model.provider import ModelPrice

ENDED = {
    Fault.TOKEN_BUDGET: "{used} of {limit} tokens are used",
    Fault.TIME_BUDGET: "the {limit} seconds are over",
    Fault.COST_BUDGET: "the run has spent {used} of {limit} USD",
    Fault.CONTEXT: "the conversation has {used} tokens, of {limit} that its context holds",
}
"""How the transcript says that a bound ended a run; auditors read the bound from it."""

_MILLION = Decimal(1_000_000)
_UNANSWERED = frozenset({Fault.DROPPED, Fault.TIMEOUT, Fault.ABANDONED})
"""The provider was asked, and may count it."""


class Purse:
    """The money of a whole run; its gateways pay from it, each in a thread of its own.

    Args:
        limit: US dollars; None has no bound.
        spent: what an earlier part of the run has used.
        keep: is told every payment, so that it outlives this process.
    """

    def __init__(self, limit: Decimal | None, *, spent: Decimal, keep: Callable[[Decimal], None]) -> None:
        self.limit, self.spent = limit, spent
        self._keep, self._lock = keep, Lock()

    @property
    def left(self) -> Decimal | None:
        """What may still be spent, below zero where the last answer cost more; None is any amount."""
        return None if self.limit is None else self.limit - self.spent

    def exhausted(self) -> str | None:
        """Words for an empty purse; None while there is something left."""
        left = self.left
        spent = ENDED[Fault.COST_BUDGET].format(used=self.spent, limit=self.limit)
        return spent if left is not None and left <= 0 else None

    def pay(self, amount: Decimal) -> None:
        """Note what an answer has cost."""
        with self._lock:
            self.spent += amount
            self._keep(amount)


@frozen(kw_only=True)
class Budget:
    """What an attempt may use up; None is unbounded. ``purse`` goes with ``price``.

    ``context`` is the length of a conversation after which nothing is added to it, in tokens as the provider counts
    them: a model with so small a window would refuse the next request.
    """

    tokens: int | None = None
    seconds: int | None = None
    context: int | None = None
    purse: Purse | None = None
    price: ModelPrice | None = None

    @property
    def counts(self) -> bool:
        """Whether answers use it up. Then one is waited for before the next is asked: many at once would each see
        what is left for all."""
        bounded = self.purse is not None and self.purse.limit is not None
        return bounded or self.tokens is not None or self.context is not None


@define
class Meter:
    """What an attempt has used of its budget. ``unknown`` answers were counted by their bytes; ``longest`` is the
    longest conversation whose length was told."""

    budget: Budget
    tokens: int = field(default=0, init=False)
    longest: int = field(default=0, init=False)
    unknown: int = field(default=0, init=False)

    def spent(self, ms: int) -> tuple[Fault, str] | None:
        """Which budget is used up ``ms`` after the start, and the words for it."""
        budget = self.budget
        if budget.context is not None and self.longest >= budget.context:
            return Fault.CONTEXT, ENDED[Fault.CONTEXT].format(used=self.longest, limit=budget.context)
        by_bytes = f"; {self.unknown} answers told no usage and count with their bytes" if self.unknown else ""
        if budget.tokens is not None and self.tokens >= budget.tokens:
            return Fault.TOKEN_BUDGET, ENDED[Fault.TOKEN_BUDGET].format(
                used=self.tokens, limit=budget.tokens
            ) + by_bytes
        if budget.purse is not None and (words := budget.purse.exhausted()):
            return Fault.COST_BUDGET, words + by_bytes
        if budget.seconds is not None and ms >= budget.seconds * 1000:
            return Fault.TIME_BUDGET, ENDED[Fault.TIME_BUDGET].format(limit=budget.seconds)
        return None

    def left(self) -> int | None:
        """How many tokens another answer may have, at least one; None is any number."""
        bounds = [bound for bound in (self._by_tokens(), self._by_money()) if bound is not None]
        return max(1, min(bounds)) if bounds else None

    def _by_tokens(self) -> int | None:
        return None if self.budget.tokens is None else self.budget.tokens - self.tokens

    def _by_money(self) -> int | None:
        purse, price = self.budget.purse, self.budget.price
        if purse is None or price is None or purse.left is None or not Decimal(price.output):
            return None
        return int(purse.left * _MILLION / Decimal(price.output))

    def count(self, exchange: Exchange) -> None:
        """Note what an exchange has used."""
        count = exchange.usage or _at_most(exchange)
        if count is None:
            return
        if exchange.usage is not None:
            self.longest = max(self.longest, count.input + count.output)
        self.unknown += exchange.usage is None
        self.tokens += count.input + count.output
        if self.budget.purse is not None and self.budget.price is not None:
            self.budget.purse.pay(cost_at_most(count, self.budget.price))


def _at_most(exchange: Exchange) -> TokenCount | None:
    """What an exchange of unknown usage can have used; None when the provider did not come to answer."""
    answered = exchange.fault in _UNANSWERED if exchange.status is None else 200 <= exchange.status < 300
    if not answered:
        return None
    return TokenCount(input=len(exchange.request.raw()), output=sum(len(c.data.raw()) for c in exchange.chunks))
