"""A run of invoices with consecutive numbers."""

from __future__ import annotations

from collections.abc import Iterable

from tallybook.discounts import applicable, deductions
from tallybook.invoice import Invoice, Item
from tallybook.terms import Terms


class Book:
    """Makes invoices under the same terms."""

    def __init__(self, terms: Terms, first: int = 1) -> None:
        self._terms = terms
        self._next = first
        self._known: dict[str, str] = {}

    def invoice(self, customer: str, items: Iterable[Item], country: str | None = None) -> Invoice:
        """The next invoice. A customer whose country was said once keeps it."""
        if country is not None:
            self._known[customer] = country
        bought = tuple(items)
        discounts = applicable(self._terms, customer, self._known.get(customer, ""))
        taken = deductions(discounts, sum(item.total for item in bought))
        invoice = Invoice(number=self._next, customer=customer, items=bought, deductions=tuple(taken))
        self._next += 1
        return invoice
