from __future__ import annotations

import attrs
import pytest

from nanobench.model.result import CellResult, ProviderFacts, RunManifest


@pytest.fixture
def manifest(cell_result: CellResult) -> RunManifest:
    """A plan of three cells."""
    cells = tuple(attrs.evolve(cell_result.cell, repeat=n) for n in range(3))
    provider = ProviderFacts(name="p", kind="scripted", models=("m/1:b",))
    harnesses = {cell_result.cell.harness: "0" * 64}
    return RunManifest(schema=1, nanobench="0", provider=provider, harnesses=harnesses, cells=cells)
