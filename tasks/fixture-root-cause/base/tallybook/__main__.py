"""``python -m tallybook TERMS ORDERS``"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from tallybook.book import Book
from tallybook.invoice import Item
from tallybook.terms import read_terms


def main(terms: Path, orders: Path) -> int:
    book = Book(read_terms(terms))
    for order in tomllib.loads(orders.read_text("utf-8"))["order"]:
        items = [Item(**item) for item in order["item"]]
        print(book.invoice(order["customer"], items, order.get("country")).text())
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
