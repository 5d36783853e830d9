"""Which discounts apply to a customer, and what they come to."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import reduce

from tallybook.money import share
from tallybook.terms import Discount, Terms


def applicable(terms: Terms, customer: str, country: str) -> list[Discount]:
    """The discounts of a customer, the best of each name, by name."""
    groups = [terms.general, terms.countries.get(country, []), terms.customers.get(customer, [])]
    return best_of_each(reduce(operator.iadd, groups))


def best_of_each(discounts: Iterable[Discount]) -> list[Discount]:
    """Of discounts with the same name the one that takes most off."""
    best: dict[str, Discount] = {}
    for discount in discounts:
        known = best.get(discount.name)
        if known is None or discount.per_mille > known.per_mille:
            best[discount.name] = discount
    return sorted(best.values())


def deductions(discounts: Iterable[Discount], cents: int) -> list[tuple[str, int]]:
    """What each discount takes off a sum; those that ask for a larger sum take nothing and are left out."""
    return [(d.name, share(cents, d.per_mille)) for d in discounts if cents >= d.from_cents]
