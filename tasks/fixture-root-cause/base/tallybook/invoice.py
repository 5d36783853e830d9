"""One invoice."""

from __future__ import annotations

from dataclasses import dataclass

from tallybook.money import shown


@dataclass(frozen=True)
class Item:
    """So many of a thing, at a price a piece in cents."""

    label: str
    count: int
    cents: int

    @property
    def total(self) -> int:
        return self.count * self.cents


@dataclass(frozen=True)
class Invoice:
    """Items and what is taken off their sum."""

    number: int
    customer: str
    items: tuple[Item, ...]
    deductions: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        return sum(item.total for item in self.items) - sum(cents for _, cents in self.deductions)

    def text(self) -> str:
        """The invoice for people."""
        lines = [f"Invoice {self.number} for {self.customer}"]
        lines += [f"  {item.count} x {item.label}  {shown(item.total)}" for item in self.items]
        lines += [f"  {name}  {shown(-cents)}" for name, cents in self.deductions]
        return "\n".join([*lines, f"  total  {shown(self.total)}"])
