"""Attempts, retries and what is kept of them. The agent and its grading are doubles; store and state are real."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs
import pytest

from nanobench.errors import CannotTell, MachineFailure
from nanobench.formats.digest import split
from nanobench.gateway.budget import Budget
from nanobench.harness.setting import setting_sha256
from nanobench.image.workbench import Workbench
from nanobench.model.result import Attempt, Blobs, Cause, Cell, CellResult, RunManifest
from nanobench.runner import run as module
from nanobench.runner.providers import Scripted
from nanobench.runner.run import Run
from nanobench.runner.state import RunState
from nanobench.scoring.causes import POLICIES
from nanobench.store.store import Store

Answer = Cause | Exception


@attrs.define
class Sandboxes:
    """An engine that can only be stopped."""

    name: str = "double"
    stopped: bool = False

    def stop(self) -> None:
        self.stopped = True


@attrs.define
class Scene:
    """A run whose attempts end as they are told to, each cell by its own list."""

    run: Run
    engine: Sandboxes
    answers: dict[int, Iterator[Answer]]
    said: list[str]
    told: list[CellResult]
    asked: list[tuple[int, int]]


@pytest.fixture
def scene(
    tmp_path: Path, manifest: RunManifest, cell_result: CellResult, task_lock: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Scene]:
    def attempt(
        stage: Any, cell: Cell, provider: Any, *, number: int, budget: Budget, bench: Workbench, profile: Any
    ) -> CellResult:
        if made.engine.stopped:
            raise MachineFailure("NB_INTERRUPTED", "interrupted")
        made.asked.append((cell.repeat, number))
        if budget.purse is not None:
            budget.purse.pay(Decimal("0.7"))
        answer = next(made.answers.get(cell.repeat, iter([Cause.FINISHED])))
        if isinstance(answer, Exception):
            raise answer
        blob = split(bench.store.put(f"{cell.id} {number}".encode()))[1]
        return attrs.evolve(
            cell_result,
            cell=cell,
            cause=answer,
            attempts=(Attempt(number=number, cause=answer, detail=f"try {number}"),),
            score=cell_result.score if POLICIES[answer].scored else None,
            blobs=Blobs(patch=blob, transcript=blob, stderr=blob),
        )

    class Locked:
        """Just what an unscored result names of the locks."""

        def __init__(self, value: Any) -> None:
            self.value, self.sha256 = value, "0" * 64

    @attrs.frozen
    class Stage:
        locked: Any
        agents: Any

    @attrs.frozen
    class Part:
        task: Any = None
        lock: Any = None

    @attrs.frozen
    class Harness:
        nanocoder: str = "1.30.0"

    agents = {cell_result.cell.harness: Part(lock=Locked(Harness()))}
    stage: Any = Stage(Part(task=Locked(task_lock)), agents)
    engine: Any = Sandboxes()
    said: list[str] = []
    told: list[CellResult] = []
    made = Scene(
        run=Run(
            state=RunState(tmp_path / "run.state", manifest),
            stages={"x": stage},
            providers={"p": Scripted(behaviour="nop", models=("m/1:b",))},
            bench=Workbench(store=Store(tmp_path / "store"), engine=engine, say=said.append),
            finished=told.append,
        ),
        engine=engine,
        answers={},
        said=said,
        told=told,
        asked=[],
    )
    monkeypatch.setattr(module, "attempt_cell", attempt)

    def make(**answers: list[Answer]) -> Scene:
        made.answers = {int(name[1:]): iter(said) for name, said in answers.items()}
        return made

    return make


def causes(result: CellResult) -> list[Cause]:
    return [attempt.cause for attempt in result.attempts]


def test_every_planned_cell_has_a_result_in_the_plans_order(scene: Callable[..., Scene]) -> None:
    made = scene()
    results = made.run.go(jobs=2)
    assert [result.cell.repeat for result in results] == [0, 1, 2]
    assert sorted(result.cell.repeat for result in made.told) == [0, 1, 2]


def test_a_provider_that_fails_is_tried_again_and_every_attempt_is_kept(scene: Callable[..., Scene]) -> None:
    tries: list[Answer] = [Cause.PROVIDER_FAILED, Cause.WIRE, Cause.FINISHED]
    made = scene(c0=tries)
    first = made.run.go(jobs=1)[0]
    assert causes(first) == tries
    assert [attempt.number for attempt in first.attempts] == [1, 2, 3]
    assert first.score is not None
    assert any("provider_failed (try 1); trying again" in line for line in made.said)


@pytest.mark.parametrize("cause", [c for c, p in POLICIES.items() if c is not Cause.INTERRUPTED and p.retries])
def test_retries_are_bounded_by_the_table_and_the_last_cause_stands(
    scene: Callable[..., Scene], cause: Cause
) -> None:
    tries = POLICIES[cause].retries + 1
    first = scene(c0=[cause] * 10).run.go(jobs=1)[0]
    assert causes(first) == [cause] * tries
    assert first.cause is cause
    assert (first.score is not None) == POLICIES[cause].scored


@pytest.mark.parametrize("cause", [Cause.TURN_CAP, Cause.TIME_LIMIT, Cause.AGENT_ERROR, Cause.FINISHED])
def test_what_is_the_agents_doing_is_not_tried_again(scene: Callable[..., Scene], cause: Cause) -> None:
    assert causes(scene(c0=[cause] * 9).run.go(jobs=1)[0]) == [cause]


def test_a_machine_that_fails_once_does_not_cost_the_cell(scene: Callable[..., Scene]) -> None:
    first = scene(c0=[MachineFailure("NB_ENGINE", "no space"), Cause.FINISHED]).run.go(jobs=1)[0]
    assert causes(first) == [Cause.ENGINE, Cause.FINISHED]
    assert "NB_ENGINE: no space" in first.attempts[0].detail


def test_a_rehearsal_that_was_starved_is_the_busy_machines(scene: Callable[..., Scene]) -> None:
    first = scene(c0=[MachineFailure("NB_STARVED", "others had 92 %")] * 9).run.go(jobs=1)[0]
    assert causes(first) == [Cause.STARVED] * 3
    assert first.score is None and "others had 92 %" in first.attempts[0].detail


def test_every_result_is_tied_to_what_the_run_says_of_its_provider_and_profile(scene: Callable[..., Scene]) -> None:
    made = scene()
    facts = made.run.state.manifest.provider
    settings = {result.setting for result in made.run.go(jobs=1)}
    assert settings == {setting_sha256(facts, None)}
    assert setting_sha256(attrs.evolve(facts, base_url="http://other.example/v1"), None) not in settings


def test_a_machine_that_goes_on_failing_leaves_an_unscored_cell_and_the_others_run(
    scene: Callable[..., Scene],
) -> None:
    made = scene(c0=[MachineFailure("NB_ENGINE", "no space")] * 9)
    first, second, third = made.run.go(jobs=1)
    assert causes(first) == [Cause.ENGINE] * 3
    assert (first.cause, first.score, first.usage.steps) == (Cause.ENGINE, None, 0)
    assert made.run.bench.store.read(f"sha256:{first.blobs.patch}") == b""  # type: ignore[arg-type]
    assert second.score is not None
    assert third.score is not None


def test_an_interruption_leaves_the_cell_pending_without_an_attempt_and_stops_every_sandbox(
    scene: Callable[..., Scene],
) -> None:
    made = scene(c1=[MachineFailure("NB_INTERRUPTED", "interrupted")])
    with pytest.raises(KeyboardInterrupt):
        made.run.go(jobs=1)
    assert made.engine.stopped
    assert made.run.state.attempts(made.run.state.manifest.cells[1]) == ()
    assert [cell.repeat for cell in made.run.state.pending()] == [1, 2]


def test_an_input_that_is_missing_ends_the_run_and_what_is_finished_stays(scene: Callable[..., Scene]) -> None:
    made = scene(c1=[CannotTell("NB_BLOB_MISSING", "it is gone")])
    with pytest.raises(CannotTell):
        made.run.go(jobs=1)
    assert made.engine.stopped
    assert [result.cell.repeat for result in made.run.state.results()] == [0]


def test_a_run_that_goes_on_asks_only_for_what_is_pending(scene: Callable[..., Scene]) -> None:
    made = scene(c1=[Cause.WIRE, MachineFailure("NB_INTERRUPTED", "interrupted")])
    with pytest.raises(KeyboardInterrupt):
        made.run.go(jobs=1)
    made.asked.clear()
    made.engine.stopped = False
    results = scene().run.go(jobs=1)
    assert made.asked == [(1, 2), (2, 1)]
    assert causes(results[1]) == [Cause.WIRE, Cause.FINISHED]


def test_what_a_run_has_kept_outlives_a_garbage_collection_until_the_run_is_over(
    scene: Callable[..., Scene],
) -> None:
    made = scene(c1=[CannotTell("NB_X", "gone")])
    store = made.run.bench.store
    with pytest.raises(CannotTell):
        made.run.go(jobs=1)
    store.gc()
    kept = made.run.state.results()[0].blobs.patch
    assert store.read(f"sha256:{kept}")  # type: ignore[arg-type]
    made.run.state.remove()
    assert store.gc() > 0
    assert not store.has(f"sha256:{kept}")  # type: ignore[arg-type]


def test_cells_run_side_by_side(scene: Callable[..., Scene]) -> None:
    class Meeting:
        """Each of the two waits until the other is there too."""

        def __init__(self, both: threading.Barrier) -> None:
            self._both = both

        def __iter__(self) -> Iterator[Answer]:
            self._both.wait()
            yield Cause.FINISHED

        def __next__(self) -> Answer:
            return next(iter(self))

    made, both = scene(), threading.Barrier(2, timeout=60)
    made.answers = {0: Meeting(both), 1: Meeting(both)}
    assert len(made.run.go(jobs=2)) == 3


@pytest.mark.parametrize("manifest", ["1"], indirect=True)
def test_money_that_is_spent_keeps_cells_from_starting_and_each_is_listed_so(scene: Callable[..., Scene]) -> None:
    made = scene(c0=[Cause.PROVIDER_FAILED, Cause.FINISHED])
    results = made.run.go(jobs=1)
    assert made.asked == [(0, 1), (0, 2)]
    assert [causes(result) for result in results] == [
        [Cause.PROVIDER_FAILED, Cause.FINISHED],
        [Cause.NOT_RUN],
        [Cause.NOT_RUN],
    ]
    assert results[1].score is None
    assert results[1].attempts[0].detail == "the run has spent 1.4 of 1 USD"


@pytest.mark.parametrize("manifest", ["1"], indirect=True)
def test_a_run_that_goes_on_counts_what_it_has_spent_before(
    scene: Callable[..., Scene], manifest: RunManifest
) -> None:
    made = scene(c0=[MachineFailure("NB_INTERRUPTED", "killed")])
    with pytest.raises(KeyboardInterrupt):
        made.run.go(jobs=1)
    again = RunState(made.run.state.folder, manifest)
    assert again.paid() == Decimal("0.7")
    made.engine.stopped, made.answers = False, {}
    run = attrs.evolve(made.run, state=again)
    assert [result.cause for result in run.go(jobs=1)] == [Cause.FINISHED, Cause.NOT_RUN, Cause.NOT_RUN]


@pytest.mark.parametrize("manifest", [None], indirect=True)
def test_without_a_bound_money_is_counted_all_the_same(scene: Callable[..., Scene]) -> None:
    made = scene()
    made.run.go(jobs=2)
    assert made.run.purse is not None
    assert (made.run.purse.spent, made.run.state.paid()) == (Decimal("2.1"), Decimal("2.1"))
