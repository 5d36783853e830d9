from __future__ import annotations

import attrs
import pytest

from nanobench.model.provider import Budgets, ModelPrice
from nanobench.model.result import CellResult, ProviderFacts, RunManifest


@pytest.fixture
def manifest(cell_result: CellResult, request: pytest.FixtureRequest) -> RunManifest:
    """A plan of three cells; with a parameter, of a priced model, which may cost so much."""
    cells = tuple(attrs.evolve(cell_result.cell, repeat=n) for n in range(3))
    price = (ModelPrice(model="m/1:b", input="1", output="2"),) if hasattr(request, "param") else ()
    provider = ProviderFacts(name="p", kind="openai-compatible", models=("m/1:b",), price=price)
    budgets = Budgets(max_cost=getattr(request, "param", None))
    harnesses = {cell_result.cell.harness: "0" * 64}
    return RunManifest(schema=1, nanobench="0", provider=provider, budgets=budgets, harnesses=harnesses, cells=cells)
