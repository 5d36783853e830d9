"""One attempt at a cell. The agent ran once, for real; what it left is changed from test to test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.errors import MachineFailure, Refused
from nanobench.formats.documents import read_json
from nanobench.gateway.budget import Budget
from nanobench.gateway.scripted.behaviours import scripted_provider
from nanobench.gateway.upstream import Pins
from nanobench.grading.trial import fair_trial, fresh_workspace
from nanobench.harness.invocation import invocation
from nanobench.harness.session import Seat, Session, run_agent
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Digest
from nanobench.model.result import Cause, Cell, CellResult, GradingRecord, Mode
from nanobench.runner import cell as module
from nanobench.runner.cell import attempt_cell
from nanobench.runner.providers import Scripted
from nanobench.runner.stage import Stage
from nanobench.scoring.causes import policy
from nanobench.sources.difference import take_patch
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.patch import affected_paths


@pytest.fixture(scope="module")
def session(stage: Stage, seat: Seat, bench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """What an agent left that did nothing."""
    scratch = tmp_path_factory.mktemp("agent")
    workspace = fresh_workspace(stage.place.image.workspace, scratch / "workspace")
    bench.engine.own(workspace)
    call = invocation("Do nothing.", provider="nop", model="nop")
    with scripted_provider("nop", b"") as provider:
        return run_agent(seat, call, provider.upstream, workspace, pins=Pins(), scratch=scratch)


@pytest.fixture
def attempt(session: Session, stage: Stage, bench: Workbench, demo: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    def make(cause: Cause = Cause.FINISHED, patch: bytes = b"", mode: Mode = "hinted") -> CellResult:
        files = affected_paths(patch, where="patch") if patch.startswith(b"diff") else ()
        left = evolve(
            session,
            ending=evolve(session.ending, cause=cause, detail="as told"),
            taken=evolve(session.taken, patch=patch, files_changed=files),
        )
        monkeypatch.setattr(module, "run_agent", lambda *_, **__: left)
        own = stage.locked.harness.value.name
        cell = Cell(task=demo, harness=own, provider="nop", model="nop", mode=mode, repeat=0)
        return attempt_cell(
            stage, cell, Scripted(behaviour="nop", models=("nop",)), number=3, budget=Budget(), bench=bench
        )

    return make


def test_the_golden_patch_resolves_and_everything_is_kept(attempt: Any, stage: Stage, bench: Workbench) -> None:
    result = attempt(patch=stage.place.change.golden)
    assert (result.score.value, result.score.resolved) == ("1.0", True)
    assert bench.store.read(Digest(f"sha256:{result.blobs.patch}")) == stage.place.change.golden
    outcomes = bench.store.read(Digest(f"sha256:{result.blobs.outcomes}"))
    record = read_json(outcomes, GradingRecord, where="outcomes")
    assert set(stage.locked.task.value.tests.fail_to_pass) <= set(record.outcomes)
    assert b"passed" in bench.store.read(Digest(f"sha256:{result.blobs.test_output}"))
    assert result.attempts[0].number == 3
    assert result.reported_files_changed == ()


def test_a_run_that_is_not_the_agents_to_lose_is_not_graded(attempt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "fair_trial", None)
    result = attempt(cause=Cause.PROVIDER_FAILED)
    assert (result.cause, result.score, result.blobs.outcomes) == (Cause.PROVIDER_FAILED, None, None)


def test_a_limit_that_the_agent_used_up_is_graded_by_what_it_left(attempt: Any, stage: Stage) -> None:
    result = attempt(cause=Cause.TIME_LIMIT, patch=stage.place.change.golden)
    assert (result.cause, result.score.value) == (Cause.TIME_LIMIT, "1.0")


@pytest.mark.parametrize(("cause", "answers"), [(Cause.FINISHED, True), (Cause.TURN_CAP, True), (Cause.DISK, False)])
def test_an_agent_whose_tree_was_too_large_to_be_taken_answers_nothing(
    attempt: Any, session: Session, monkeypatch: pytest.MonkeyPatch, cause: Cause, answers: bool
) -> None:
    heard: list[str | None] = []

    def listen(*_: Any, said: str | None, **__: Any) -> Any:
        heard.append(said)
        raise Refused("NB_PATCH", "heard enough")

    monkeypatch.setattr(module, "fair_trial", listen)
    attempt(cause=cause)
    report = session.ending.report
    assert report is not None and report.report.finalText
    assert heard == [report.report.finalText if answers else None]


def test_a_patch_that_cannot_be_graded_is_the_graders_failure_and_has_no_score(attempt: Any) -> None:
    result = attempt(patch=b"no difference to anything\n")
    assert (result.cause, result.score, result.blobs.outcomes) == (Cause.GRADER, None, None)
    assert "NB_PATCH" in result.attempts[0].detail


def test_without_a_machine_to_run_on_there_is_no_result(attempt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise MachineFailure("NB_ENGINE", "no sandbox")

    monkeypatch.setattr(module, "fair_trial", broken)
    with pytest.raises(MachineFailure):
        attempt()


def test_a_patch_that_makes_the_signals_disagree_is_worth_nothing_and_counts(
    attempt: Any, stage: Stage, bench: Workbench, tmp_path: Path
) -> None:
    workspace = fresh_workspace(stage.place.image.workspace, tmp_path / "workspace")
    with (workspace / "unidiff/patch.py").open("a") as file:
        file.write("import os; os._exit(0)\n")
    (tmp_path / "git").mkdir()
    gitbox = Gitbox(engine=bench.engine, layers=stage.place.image.trees, scratch=tmp_path / "git")
    result = attempt(patch=take_patch(gitbox, workspace).patch, mode="navigation")
    assert (result.cause, result.score.value, result.score.resolved) == (Cause.GRADER_TAMPERED, "0.0", False)
    assert "exit status 0" in result.attempts[0].detail and "finished" in result.attempts[0].detail
    assert policy(result.cause).denominator == "valid"


def test_signals_that_disagree_without_the_patch_too_are_the_graders_failure(stage: Stage, tmp_path: Path) -> None:
    arena = stage.place.arena
    silent = ("sh", "-c", '"$@"; exit 0', "sh", *arena.suites[0].command)
    broken = evolve(arena, suites=(evolve(arena.suites[0], command=silent),))
    with pytest.raises(Refused) as refused:
        fair_trial(broken, stage.place.change.golden, scratch=tmp_path)
    assert (refused.value.code, refused.value.details) == ("NB_GRADER", ("python: exit status 0, and tests failed",))
