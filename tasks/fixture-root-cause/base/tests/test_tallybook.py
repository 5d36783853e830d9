import pytest

from tallybook import Book, Discount, Item, Terms
from tallybook.money import share, shown


@pytest.fixture
def terms():
    return Terms(
        general=[Discount("early payment", 20), Discount("volume", 30, from_cents=100_000)],
        countries={"NO": [Discount("border", 15)]},
        customers={"lindqvist": [Discount("friend of the house", 50), Discount("early payment", 35)]},
    )


def test_everybody_gets_the_general_discounts(terms):
    invoice = Book(terms).invoice("okafor", [Item("lamp", 2, 4500)])
    assert invoice.deductions == (("early payment", 180),)
    assert invoice.total == 8820


def test_a_discount_may_ask_for_a_sum(terms):
    invoice = Book(terms).invoice("okafor", [Item("desk", 2, 50_000)])
    assert invoice.deductions == (("early payment", 2000), ("volume", 3000))


def test_the_best_of_a_name_counts(terms):
    invoice = Book(terms).invoice("lindqvist", [Item("desk", 1, 42_000)], country="NO")
    assert invoice.deductions == (("border", 630), ("early payment", 1470), ("friend of the house", 2100))


def test_numbers_follow_each_other(terms):
    book = Book(terms, first=7)
    assert [book.invoice("okafor", [Item("lamp", 1, 100)]).number for _ in range(3)] == [7, 8, 9]


@pytest.mark.parametrize(("cents", "per_mille", "expected"), [(50, 10, 0), (150, 10, 2), (101, 500, 50), (103, 500, 52)])
def test_half_a_cent_goes_to_the_even_one(cents, per_mille, expected):
    assert share(cents, per_mille) == expected


def test_an_invoice_is_shown(terms):
    text = Book(terms).invoice("okafor", [Item("lamp", 2, 4500)]).text()
    assert text.splitlines() == ["Invoice 1 for okafor", "  2 x lamp  90.00", "  early payment  -1.80", "  total  88.20"]
    assert shown(-5) == "-0.05"
