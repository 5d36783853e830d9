from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from nanobench.formats import json
from nanobench.formats.converter import unstructure
from nanobench.model.environment import Limits
from nanobench.model.provider import Budgets, ModelPrice
from nanobench.model.result import ProviderFacts, RunManifest
from nanobench.runner.forecast import Forecast, forecast

LIMITS = {"x": Limits(agent_seconds=600)}
PRICE = ModelPrice(model="m/1:b", input="0.25", output="2", cached="3.1")


@pytest.fixture
def expect(manifest: RunManifest) -> Callable[..., Forecast]:
    def make(*prices: ModelPrice, kind: Any = "openai-compatible", others: Any = None, **budgets: Any) -> Forecast:
        facts = evolve(manifest.provider, price=prices, kind=kind)
        run = evolve(manifest, provider=facts, other_providers=others, order_seed=7, budgets=Budgets(**budgets))
        return forecast(run, LIMITS)

    return make


def test_the_most_that_all_cells_use_is_counted_at_the_dearest_kind_of_token(expect: Any) -> None:
    assert expect(PRICE, max_tokens=100_000) == Forecast(
        cells=3, order_seed=7, missing_repeats=2, seconds=1800, tokens=300_000, cost="0.93"
    )


def test_a_bound_of_the_run_bounds_the_plan(expect: Any) -> None:
    assert expect(PRICE, max_tokens=100_000, max_cost="0.5").cost == "0.5"
    assert expect(PRICE, max_cost="0.5").cost == "0.5"
    assert expect(PRICE, max_tokens=100_000, max_cost="5").cost == "0.93"


def test_seconds_of_a_budget_count_where_they_are_fewer_than_the_locks(expect: Any) -> None:
    assert expect(max_seconds=10).seconds == 30
    assert expect(max_seconds=6000).seconds == 1800


def test_what_is_unknown_is_said_to_be_so_with_what_would_make_it_known(expect: Any) -> None:
    assert expect(PRICE).text().splitlines() == [
        "plan: 3 cells, in the order of seed 7",
        "  time: at most 1800 s of agents' work",
        "  tokens: unknown (bound it with --max-tokens)",
        "  cost: unknown (bound it with --max-cost, or with --max-tokens)",
        "  efficiency: figures need 5 repeats of a cell, 2 are missing (--repeats 5)",
    ]
    assert "cost: unknown (no price of m/1:b)" in expect(max_tokens=9).text()


def test_a_scripted_provider_costs_nothing(expect: Any) -> None:
    assert expect(kind="scripted").cost == "0"


def test_five_repeats_are_enough_for_every_figure(manifest: RunManifest) -> None:
    cells = tuple(evolve(manifest.cells[0], repeat=n) for n in range(5))
    found = forecast(evolve(manifest, cells=cells), LIMITS)
    assert (found.missing_repeats, "efficiency" in found.text()) == (0, False)


def test_a_script_beside_a_model_takes_nothing_and_needs_no_price(expect: Any) -> None:
    script = ProviderFacts(name="nop", kind="scripted", models=("nop",))
    assert expect(PRICE, others=(script,), max_tokens=100_000).cost == "0.93"
    other = evolve(script, kind="anthropic")
    assert "no price of nop" in expect(PRICE, others=(other,), max_tokens=1).text()


def test_a_forecast_holds_no_float(expect: Any) -> None:
    json.dump(unstructure(expect(PRICE, max_tokens=1)))
