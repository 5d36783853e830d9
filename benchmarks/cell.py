"""A cell without agent and tests: what a run costs before anybody has thought or tested.

Exactly: a private directory; a fresh copy of the task's workspace; the gateway started and stopped; the agent's
sandbox, in which ``/bin/true`` stands for the agent; its patch taken; a second fresh copy, empty patch and test patch
applied in it; the sandbox for the tests, in which ``/bin/true`` stands for the suite; everything removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from attrs import evolve

from benchmarks.measure import Place, Row, in_turns
from benchmarks.sandbox import TRUE, bare_bubblewrap
from nanobench.gateway.upstream import Pins, Upstream
from nanobench.grading.trial import fresh_workspace, try_patch
from nanobench.harness.invocation import Invocation
from nanobench.harness.session import run_agent
from nanobench.model.task import Suite
from nanobench.runner.stage import Stage

AIM_SECONDS = 0.5
_NOBODY = Upstream(name="nobody", base_url="http://127.0.0.1:9/v1")
_IDLE = Invocation(argv=TRUE, env={}, config={})
_SUITE = Suite(name="idle", language="none", format="pytest", command=TRUE)


def rows(place: Place) -> Iterator[Row]:
    """One row a task: the larger the workspace, the more there is to copy."""
    for name, stage in place.stages.items():
        cell, bare = in_turns(
            place.repeats, partial(run_idle_cell, place, stage), bare_bubblewrap(stage.place.image.trees)
        )
        yield Row(
            name=f"a cell without agent and tests, {name}",
            unit="s",
            value=cell,
            yardstick="bare bubblewrap",
            against=bare,
            aim=AIM_SECONDS,
            runs=place.repeats,
        )


def run_idle_cell(place: Place, stage: Stage) -> None:
    """Such a cell, from the first copy to the last removal."""
    with place.bench.store.scratch("bench") as scratch:
        (scratch / "agent").mkdir()
        (scratch / "grade").mkdir()
        workspace = fresh_workspace(stage.place.image.workspace, scratch / "workspace")
        stage.engine.own(workspace)
        seat = stage.seat(stage.locked.harness.value.name)
        session = run_agent(seat, _IDLE, _NOBODY, workspace, pins=Pins(), scratch=scratch / "agent")
        trial = try_patch(evolve(stage.place.arena, suites=(_SUITE,)), session.taken.patch, scratch=scratch / "grade")
        assert session.finished.exit_code == 0 and trial.grading.record.suite[0].exit_code == 0
