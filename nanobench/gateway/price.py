"""What tokens cost, in US dollars, each kind at its own rate. Money is decimal throughout, and unknown is None."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from nanobench.gateway.answer import TokenCount
from nanobench.model.provider import ModelPrice

_MILLION = Decimal(1_000_000)


def cost(count: TokenCount, price: ModelPrice) -> Decimal | None:
    """What these tokens cost. What is not known to be read from or written to a cache costs as other input; None when
    some was written and the price does not say what that costs."""
    if count.written and price.cache_write is None:
        return None
    return _sum(count, price, write=Decimal(price.cache_write or 0))


def cost_at_most(count: TokenCount, price: ModelPrice) -> Decimal:
    """The same for a budget, which must hold: what has no known rate costs as the dearest kind."""
    return _sum(count, price, write=Decimal(price.cache_write) if price.cache_write else dearest(price))


def dearest(price: ModelPrice) -> Decimal:
    """The highest rate of all kinds of tokens."""
    rates = price.input, price.output, price.cached, price.cache_write
    return max(Decimal(rate) for rate in rates if rate is not None)


def cost_of(counts: Iterable[TokenCount] | None, price: ModelPrice | None) -> str | None:
    """What a cell's answers cost, as decimal text; None without a price, or where tokens are not known.

    Each is paid for by itself: one that tells nothing of the cache does not hide what the others tell of it.
    """
    if price is None or counts is None:
        return None
    total = Decimal(0)
    for count in counts:
        amount = cost(count, price)
        if amount is None:
            return None
        total += amount
    return plain(total)


def plain(amount: Decimal) -> str:
    """The one spelling of an amount: no exponent, no final zeros."""
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _sum(count: TokenCount, price: ModelPrice, *, write: Decimal) -> Decimal:
    """A provider that tells more of the cache than of the whole is not paid for more than the whole."""
    read = min(count.cached or 0, count.input)
    written = min(count.written or 0, count.input - read)
    fresh = count.input - read - written
    return (
        fresh * Decimal(price.input)
        + read * Decimal(price.cached or price.input)
        + written * write
        + count.output * Decimal(price.output)
    ) / _MILLION
