"""Money: exact, each kind of token at its own rate, and unknown where a rate or a count is."""

from __future__ import annotations

from decimal import Decimal

import pytest
from attrs import evolve

from nanobench.gateway.answer import TokenCount
from nanobench.gateway.price import cost, cost_at_most, cost_of, dearest, plain
from nanobench.model.provider import ModelPrice

PRICE = ModelPrice(model="m", input="0.1", output="0.3", cached="0.01")
WRITES = evolve(PRICE, cache_write="0.2")


def test_money_is_exact() -> None:
    thrice = cost(TokenCount(input=3, output=0, cached=0), PRICE)
    assert thrice == Decimal("0.0000003")  # 3 × 0.1 is 0.30000000000000004 elsewhere
    assert cost(TokenCount(input=10, output=2, cached=4), PRICE) == Decimal("0.00000124")
    assert cost(TokenCount(input=10, output=0), PRICE) == Decimal("0.000001")
    whole = ModelPrice(model="m", input="0.1", output="0.3")
    assert cost(TokenCount(input=10, output=0, cached=10), whole) == Decimal("0.000001")


def test_what_is_read_from_a_cache_and_what_is_written_to_one_have_their_own_rates() -> None:
    count = TokenCount(input=1000, output=100, cached=300, written=200)
    # 500 × 0.1 + 300 × 0.01 + 200 × 0.2 + 100 × 0.3, a million each
    assert cost(count, WRITES) == cost_at_most(count, WRITES) == Decimal("0.000123")


def test_a_rate_that_is_not_known_makes_the_cost_unknown_and_a_budget_take_the_dearest() -> None:
    count = TokenCount(input=1000, output=0, written=200)
    assert cost(count, PRICE) is None
    assert cost_at_most(count, PRICE) == Decimal("0.00014")  # 800 × 0.1 + 200 × 0.3
    assert cost(evolve(count, written=0), PRICE) == cost(evolve(count, written=None), PRICE) == Decimal("0.0001")


def test_more_of_the_cache_than_of_the_whole_costs_no_more_than_the_whole() -> None:
    assert cost(TokenCount(input=1, output=0, cached=99), PRICE) == Decimal("0.00000001")
    assert cost(TokenCount(input=10, output=0, cached=6, written=99), WRITES) == Decimal("0.00000086")


def test_the_dearest_rate_is_looked_for_among_all() -> None:
    assert dearest(PRICE) == Decimal("0.3")
    assert dearest(evolve(PRICE, cache_write="7.5")) == Decimal("7.5")


def test_the_cost_of_a_cell_is_unknown_never_zero_where_something_is_not_known() -> None:
    count = TokenCount(input=10, output=2, cached=4)
    assert cost_of([count], PRICE) == "0.00000124"
    assert cost_of([count], None) is None
    assert cost_of(None, PRICE) is None
    assert cost_of([count, evolve(count, written=1)], PRICE) is None


def test_an_answer_that_tells_nothing_of_the_cache_does_not_hide_what_others_tell_of_it() -> None:
    silent, told = TokenCount(input=10, output=0), TokenCount(input=1000, output=0, cached=300, written=200)
    assert cost_of([silent, told], WRITES) == "0.000094"  # 10 × 0.1 + 500 × 0.1 + 300 × 0.01 + 200 × 0.2
    assert cost_of([silent, told], PRICE) is None
    boasting = TokenCount(input=1, output=0, cached=10**6)
    assert cost_of([boasting, evolve(silent, cached=0)], PRICE) == "0.00000101"


@pytest.mark.parametrize(("amount", "text"), [("1.500", "1.5"), ("100", "100"), ("0.00", "0"), ("1E-7", "0.0000001")])
def test_an_amount_has_one_spelling(amount: str, text: str) -> None:
    assert plain(Decimal(amount)) == text
