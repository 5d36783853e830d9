from copy import deepcopy
from pathlib import Path

import pytest

from tallybook import Book, Discount, Item, Terms, read_terms

ROOT = Path(__file__).parents[1]
LAMP = [Item("lamp", 10, 1000)]


@pytest.fixture
def terms():
    return Terms(
        general=[Discount("early payment", 20)],
        countries={"NO": [Discount("border", 15)], "CH": [Discount("border", 10)]},
        customers={"lindqvist": [Discount("friend of the house", 50)], "keller": [Discount("early payment", 60)]},
    )


def names(invoice):
    return [name for name, _ in invoice.deductions]


def test_what_one_customer_gets_is_not_the_next_ones(terms):
    book = Book(terms)
    book.invoice("lindqvist", LAMP)
    assert names(book.invoice("okafor", LAMP)) == ["early payment"]


def test_what_a_country_gets_is_not_the_next_ones(terms):
    book = Book(terms)
    assert names(book.invoice("hansen", LAMP, country="NO")) == ["border", "early payment"]
    assert names(book.invoice("okafor", LAMP)) == ["early payment"]
    assert book.invoice("gerber", LAMP, country="CH").deductions == (("border", 100), ("early payment", 200))


def test_a_better_rate_of_one_is_not_everybodys(terms):
    book = Book(terms)
    assert book.invoice("keller", LAMP).deductions == (("early payment", 600),)
    assert book.invoice("okafor", LAMP).deductions == (("early payment", 200),)


def test_another_book_under_the_same_terms_starts_afresh(terms):
    Book(terms).invoice("lindqvist", LAMP)
    assert names(Book(terms).invoice("okafor", LAMP)) == ["early payment"]


def test_the_order_of_the_customers_does_not_matter(terms):
    customers = ["okafor", "lindqvist", "keller", "hansen"]

    def run(order):
        book = Book(deepcopy(terms))
        return {who: book.invoice(who, LAMP, "NO" if who == "hansen" else None).deductions for who in order}

    assert run(customers) == run(customers[::-1])


def test_terms_are_as_they_were_read():
    before = deepcopy(read_terms(ROOT / "terms.toml"))
    Book(read_terms(ROOT / "terms.toml")).invoice("lindqvist", LAMP, country="NO")
    assert read_terms(ROOT / "terms.toml") == before
