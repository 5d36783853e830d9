"""One attempt at a cell. The agent ran once, for real; what it left is changed from test to test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.errors import MachineFailure, Refused
from nanobench.formats.documents import read_json
from nanobench.gateway.budget import Budget
from nanobench.gateway.scripted.behaviours import nop
from nanobench.gateway.scripted.provider import ScriptedProvider
from nanobench.gateway.upstream import Pins
from nanobench.grading.trial import Trial, fair_trial, fresh_workspace
from nanobench.harness.invocation import invocation
from nanobench.harness.session import Seat, Session, run_agent
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Digest
from nanobench.model.label import Landmarks
from nanobench.model.result import Cause, Cell, CellResult, FailureRecord, GradingRecord, Mode
from nanobench.runner import cell as module
from nanobench.runner.cell import attempt_cell
from nanobench.runner.providers import Scripted
from nanobench.runner.stage import Stage
from nanobench.scoring.causes import policy
from nanobench.sources.patch import affected_paths


@pytest.fixture(scope="module")
def session(stage: Stage, seat: Seat, bench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """What an agent left that did nothing."""
    scratch = tmp_path_factory.mktemp("agent")
    workspace = fresh_workspace(stage.place.image.workspace, scratch / "workspace")
    bench.engine.own(workspace)
    call = invocation("Do nothing.", provider="nop", model="nop")
    with ScriptedProvider("nop", nop) as provider:
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


def test_a_patch_whose_suite_was_starved_is_not_scored_even_where_it_resolves(
    attempt: Any, stage: Stage, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def starved(*arguments: Any, **options: Any) -> Trial:
        trial = fair_trial(*arguments, **options)
        return evolve(trial, grading=evolve(trial.grading, starved=("py: others had 92 %", "ts: others had 93 %")))

    monkeypatch.setattr(module, "fair_trial", starved)
    golden = stage.place.change.golden
    result = attempt(patch=golden)
    assert (result.cause, result.score, result.failure, result.blobs.outcomes) == (Cause.STARVED, None, None, None)
    assert result.attempts[0].detail == "py: others had 92 %; ts: others had 93 %"
    assert bench.store.read(Digest(f"sha256:{result.blobs.patch}")) == golden
    assert policy(result.cause).denominator == "infrastructure"


def test_a_patch_that_makes_the_signals_disagree_does_not_hide_it_by_its_load(
    attempt: Any, edited: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def starved(*arguments: Any, **options: Any) -> Trial:
        trial = fair_trial(*arguments, **options)
        return evolve(trial, grading=evolve(trial.grading, starved=("py: others had 92 %",)))

    monkeypatch.setattr(module, "fair_trial", starved)
    patch = edited("unidiff/patch.py", "\nclass Line", "\nimport os; os._exit(0)\nclass Line")
    assert attempt(patch=patch).cause is Cause.GRADER_TAMPERED


def test_a_patch_that_makes_the_signals_disagree_is_worth_nothing_and_counts(attempt: Any, edited: Any) -> None:
    patch = edited("unidiff/patch.py", "\nclass Line", "\nimport os; os._exit(0)\nclass Line")
    result = attempt(patch=patch, mode="navigation")
    assert (result.cause, result.score.value, result.score.resolved) == (Cause.GRADER_TAMPERED, "0.0", False)
    assert "exit status 0" in result.attempts[0].detail and "finished" in result.attempts[0].detail
    assert policy(result.cause).denominator == "valid"
    assert (result.failure.label, result.failure.rule) == ("grader_tampered", None)


def test_a_failure_is_labelled_and_what_the_label_was_read_from_is_kept(
    attempt: Any, edited: Any, bench: Workbench, stage: Stage
) -> None:
    result = attempt(patch=edited("unidiff/patch.py", "self._parse(data,", "self.parse_lines_of(data,"))
    said = result.failure
    assert (said.label, said.rule, said.level, said.also_matched) == ("hallucinated_api", 3, "4", ())
    assert said.signals == ("test_not_updated", "correct_file_wrong_function", "reported_files_differ")
    failures = bench.store.read(Digest(f"sha256:{result.blobs.failures}"))
    record = read_json(failures, FailureRecord, where="failures").failures
    assert record.keys() == set(stage.locked.task.value.tests.fail_to_pass)
    assert {failure.type for failure in record.values()} == {"builtins.AttributeError"}
    landmarks = bench.store.read(Digest(f"sha256:{result.blobs.landmarks}"))
    assert read_json(landmarks, Landmarks, where="landmarks") == stage.landmarks


@pytest.mark.parametrize(
    ("mode", "cause", "label"),
    [
        ("hinted", Cause.FINISHED, "zero_signal"),
        ("navigation", Cause.TURN_CAP, "insufficient_context_read"),
        ("navigation", Cause.RATE_LIMIT, "context_window_exceeded"),
    ],
)
def test_an_agent_that_changes_nothing_is_labelled_by_its_end(
    attempt: Any, mode: Mode, cause: Cause, label: str
) -> None:
    assert attempt(cause=cause, mode=mode).failure.label == label


def test_what_is_resolved_or_not_scored_has_no_label_and_nothing_to_read_it_from(attempt: Any, stage: Stage) -> None:
    for result in (attempt(patch=stage.place.change.golden), attempt(cause=Cause.PROVIDER_FAILED)):
        assert (result.failure, result.blobs.failures, result.blobs.landmarks) == (None, None, None)


def test_signals_that_disagree_without_the_patch_too_are_the_graders_failure(stage: Stage, tmp_path: Path) -> None:
    arena = stage.place.arena
    silent = ("sh", "-c", '"$@"; exit 0', "sh", *arena.suites[0].command)
    broken = evolve(arena, suites=(evolve(arena.suites[0], command=silent),))
    with pytest.raises(Refused) as refused:
        fair_trial(broken, stage.place.change.golden, scratch=tmp_path)
    assert (refused.value.code, refused.value.details) == ("NB_GRADER", ("python: exit status 0, and tests failed",))
