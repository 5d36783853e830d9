"""Terms of trade: which discounts there are, and for whom."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True, order=True)
class Discount:
    """So many thousandths off; from a sum in cents on."""

    name: str
    per_mille: int
    from_cents: int = 0


@dataclass(frozen=True)
class Terms:
    """Discounts for all, by country, and by customer."""

    general: list[Discount]
    countries: dict[str, list[Discount]]
    customers: dict[str, list[Discount]]


@lru_cache(maxsize=8)
def read_terms(file: Path) -> Terms:
    """The terms in a file; a file is read once."""
    document = tomllib.loads(file.read_text("utf-8"))
    return Terms(
        general=_discounts(document.get("general", [])),
        countries={name: _discounts(found) for name, found in document.get("country", {}).items()},
        customers={name: _discounts(found) for name, found in document.get("customer", {}).items()},
    )


def _discounts(tables: list[dict[str, object]]) -> list[Discount]:
    return [Discount(**table) for table in tables]  # type: ignore[arg-type]
