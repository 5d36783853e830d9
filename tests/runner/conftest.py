from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from nanobench.audit.raw import RawFiles
from nanobench.audit.rescore import rescore
from nanobench.gateway.budget import Budget
from nanobench.gateway.transcript import read_transcript
from nanobench.gateway.upstream import Upstream
from nanobench.harness.contract import contract_of
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Digest
from nanobench.model.provider import Budgets, ModelPrice
from nanobench.model.result import Cell, CellResult, ProviderFacts, RunManifest
from nanobench.runner.cell import attempt_cell
from nanobench.runner.providers import Endpoint
from nanobench.runner.stage import Stage
from nanobench.sandbox.interface import Engine


@pytest.fixture
def manifest(cell_result: CellResult, request: pytest.FixtureRequest) -> RunManifest:
    """A plan of three cells; with a parameter, of a priced model, which may cost so much."""
    cells = tuple(evolve(cell_result.cell, repeat=n) for n in range(3))
    price = (ModelPrice(model="m/1:b", input="1", output="2"),) if hasattr(request, "param") else ()
    provider = ProviderFacts(name="p", kind="openai-compatible", models=("m/1:b",), price=price)
    budgets = Budgets(max_cost=getattr(request, "param", None))
    harnesses = {cell_result.cell.harness: "0" * 64}
    return RunManifest(schema=1, nanobench="0", provider=provider, budgets=budgets, harnesses=harnesses, cells=cells)


@pytest.fixture
def real_attempt(stage: Stage, bench: Workbench, demo: str) -> Callable[..., CellResult]:
    """``real_attempt(address)`` is one attempt of the real agent at the demo task with a provider, in an engine.

    ``limits`` changes the lock's. What comes of it must follow from its raw files, as an auditor reads them.
    """

    def make(address: Upstream, *, engine: Engine | None = None, limits: dict[str, int] | None = None) -> CellResult:
        task = stage.locked.task
        lock = evolve(task.value, limits=evolve(task.value.limits, **(limits or {})))
        work = evolve(bench, engine=engine or bench.engine)
        here = evolve(stage, locked=evolve(stage.locked, task=evolve(task, value=lock)), engine=work.engine)
        harness = stage.locked.harness.value.name
        cell = Cell(task=demo, harness=harness, provider="double", model="m", mode="hinted", repeat=0)
        provider = Endpoint(address=address, models=("m",))
        result = attempt_cell(here, cell, provider, number=1, budget=Budget(), bench=work)
        blobs, agent = result.blobs, here.agents[harness]

        def path(sha256: str) -> Path:
            return bench.store.blob(Digest(f"sha256:{sha256}"))

        exchanges = read_transcript(path(blobs.transcript))
        raw = RawFiles.of(blobs, lambda sha256: path(sha256).read_bytes(), exchanges=exchanges)
        run = RunManifest(schema=1, nanobench="0", provider=provider.facts, cells=(cell,))
        assert list(rescore(result, lock, run, raw, contract_of(agent.lock.value))) == []
        return result

    return make
