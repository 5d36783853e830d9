"""A whole run, from its plan to its bundle: how many cells a minute? Two scripts, one of the fixtures.

The cells are real: Nanocoder starts, works and ends in its sandbox, and its patch is graded in another. What a model
takes to think is missing, so this is the most that a machine runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from benchmarks.measure import Place, Row, staged
from nanobench.cli.common import say
from nanobench.model.result import RunManifest
from nanobench.runner.plan import plan
from nanobench.runner.providers import Scripted
from nanobench.runner.run import Run, jobs_for, publish
from nanobench.runner.state import RunState

TASK = "fixture-create-file"
SCRIPTS = ("nop", "oracle")


def rows(place: Place) -> Iterator[Row]:
    """One row, of ``2 × repeats`` cells side by side."""
    stage = staged(TASK, place.project, place.bench)
    providers = {name: Scripted(behaviour=name, models=(name,)) for name in SCRIPTS}
    facts = [provider.facts for provider in providers.values()]
    harness = stage.locked.harness
    manifest = RunManifest(
        schema=1,
        nanobench="benchmark",
        provider=facts[0],
        other_providers=tuple(facts[1:]),
        order_seed=0,
        locks={TASK: stage.locked.task.sha256},
        harnesses={harness.value.name: harness.sha256},
        cells=plan(
            {TASK: (harness.value.name,)},
            models={each.name: each.models for each in facts},
            modes=("hinted",),
            repeats=place.repeats,
        ),
    )
    with place.bench.store.scratch("bench") as scratch:
        state = RunState(scratch / "run.state", manifest)
        stages = {TASK: stage}
        run = Run(state=state, stages=stages, providers=providers, bench=place.bench, finished=lambda _: None)
        jobs, begun = jobs_for(stages), perf_counter()
        results = run.go(jobs=jobs)
        publish(run, scratch / "run")
        seconds = perf_counter() - begun
    assert all(result.score is not None for result in results), results
    say(f"{len(results)} cells, {jobs} at once")
    yield Row(name=f"a run of {TASK}", unit="cells/min", value=60 * len(results) / seconds, runs=len(results))
