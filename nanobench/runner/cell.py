"""One attempt at a cell: agent, patch, another sandbox, tests, score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from nanobench.errors import Refused
from nanobench.formats.digest import split
from nanobench.formats.documents import dump_json
from nanobench.gateway.budget import Budget
from nanobench.gateway.price import cost_of
from nanobench.gateway.upstream import Pins
from nanobench.grading.rehearsal import scene_of
from nanobench.grading.suites import Grading
from nanobench.grading.trial import fair_trial, fresh_workspace
from nanobench.harness.ending import said_at
from nanobench.harness.invocation import invocation
from nanobench.harness.prompt import prompt
from nanobench.harness.session import Session, run_agent
from nanobench.image.workbench import Workbench
from nanobench.model.profile import Profile
from nanobench.model.result import Attempt, Blobs, Cause, Cell, CellResult, Score, Usage
from nanobench.runner.providers import Provider
from nanobench.runner.stage import Stage
from nanobench.scoring.causes import no_model_usage, policy
from nanobench.scoring.labels import GradedRun, failure_record, label_of
from nanobench.scoring.score import locked_score


def attempt_cell(
    stage: Stage,
    cell: Cell,
    provider: Provider,
    *,
    number: int,
    budget: Budget,
    bench: Workbench,
    profile: Profile | None = None,
) -> CellResult:
    """Run the agent once and grade what it left. The result's list of attempts
    holds this one. Faults that are not the agent's become causes, not exceptions.

    Raises:
        Refused: ``NB_PART`` when a scripted provider has no part in this task.
        MachineFailure: nothing more can run here (no engine, no space); the cell stays pending.
    """
    with bench.store.scratch("cell") as scratch:
        (scratch / "agent").mkdir()
        (scratch / "grade").mkdir()
        workspace = fresh_workspace(stage.place.image.workspace, scratch / "workspace")
        bench.engine.own(workspace)  # the store may be one that another user filled
        arm = provider.facts.arm
        scene = scene_of(stage.place, stage.locked.task.value, bench=bench)
        with provider.upstream(scene, cell.model) as upstream:
            call = invocation(
                _prompt(stage, cell),
                provider=cell.provider,
                model=cell.model,
                wire=upstream.kind,
                arm=arm,
                profile=profile,
            )
            seat, pins, place = stage.seat(cell.harness), Pins.of(arm, cell), scratch / "agent"
            session = run_agent(seat, call, upstream, workspace, pins=pins, scratch=place, budget=budget)
        run = _Run(cause=session.ending.cause, detail=session.ending.detail)
        if policy(run.cause).scored:
            run = _grade(stage, cell, session, run, scratch / "grade")
        return _result(stage, cell, provider, session, run, number=number, bench=bench)


def failed_cell(stage: Stage, cell: Cell, provider: Provider, attempt: Attempt, *, bench: Workbench) -> CellResult:
    """The result of a cell that no agent ended: unscored, with nothing of an agent's in it."""
    nothing = split(bench.store.put(b""))[1]
    return CellResult(
        **_identity(stage, cell, provider, bench),
        cause=attempt.cause,
        attempts=(attempt,),
        usage=Usage(steps=0, tool_calls=0, by_tool={}),
        served=(),
        sampling_pinned=False,
        blobs=Blobs(patch=nothing, transcript=nothing, stderr=nothing),
    )


@frozen(kw_only=True)
class _Run:
    """What a run came to; without ``graded`` nothing that the agent left is judged."""

    cause: Cause
    detail: str
    graded: GradedRun | None = None

    @property
    def score(self) -> Score | None:
        return self.graded.score if self.graded else None


def _prompt(stage: Stage, cell: Cell) -> str:
    return prompt(stage.locked.statement, cell.mode, stage.locked.task.value.source.required_files)


def _grade(stage: Stage, cell: Cell, session: Session, run: _Run, scratch: Path) -> _Run:
    try:
        said = said_at(session.ending.cause, session.ending.report)
        grading = fair_trial(stage.place.arena, session.taken.patch, said=said, scratch=scratch).grading
    except Refused as error:
        return _Run(cause=Cause.GRADER, detail=str(error))
    if grading.disagreements:
        words = "; ".join(grading.disagreements)
        run = _Run(cause=Cause.GRADER_TAMPERED, detail=f"{words} (the agent: {run.cause} {run.detail})")
    elif grading.starved:
        return _Run(cause=Cause.STARVED, detail="; ".join(grading.starved))
    return evolve(run, graded=_graded(stage, cell, session, run.cause, grading))


def _graded(stage: Stage, cell: Cell, session: Session, cause: Cause, grading: Grading) -> GradedRun:
    lock, report = stage.locked.task.value, session.ending.report
    return GradedRun(
        lock=lock,
        task=stage.locked.locks.spec,
        landmarks=stage.landmarks,
        mode=cell.mode,
        cause=cause,
        patch=session.taken.patch,
        report=report.report if report else None,
        record=grading.record,
        failures=grading.failures,
        output=grading.output,
        score=locked_score(
            lock, grading.outcomes, files_changed=session.taken.files_changed, mode=cell.mode, cause=cause
        ),
    )


def _result(
    stage: Stage, cell: Cell, provider: Provider, session: Session, run: _Run, *, number: int, bench: Workbench
) -> CellResult:
    attempt = Attempt(
        number=number,
        cause=run.cause,
        detail=run.detail[:500],
        wall_ms=session.finished.wall_ms,
        cpu_ms=session.finished.cpu_ms or 0,
    )
    report = session.ending.report
    return CellResult(
        **_identity(stage, cell, provider, bench),
        cause=run.cause,
        attempts=(attempt,),
        files_changed=session.taken.files_changed,
        reported_files_changed=report.report.filesChanged if report else None,
        unknown_fields=report.unknown if report else (),
        dropped=session.taken.dropped,
        usage=session.summary.usage,
        served=session.summary.served,
        cost=cost_of(session.summary.counts, provider.facts.price_of(cell.model)),
        no_model_usage=no_model_usage(provider.facts, run.score, metered=session.summary.metered),
        sampling_pinned=session.summary.sampling_pinned,
        weak_limits=session.finished.weak,
        blobs=_keep(session, run, bench),
        score=run.score,
        failure=label_of(run.graded) if run.graded else None,
    )


def _identity(stage: Stage, cell: Cell, provider: Provider, bench: Workbench) -> dict[str, Any]:
    task, harness = stage.locked.task, stage.agents[cell.harness].lock
    return {
        "schema": 1,
        "cell": cell,
        "lock_sha256": task.sha256,
        "image_manifest": task.value.image.manifest_digest,
        "harness_sha256": harness.sha256,
        "nanocoder": harness.value.nanocoder,
        "engine": bench.engine.name,
        "seed": provider.facts.arm.seed_of(cell.repeat),
    }


def _keep(session: Session, run: _Run, bench: Workbench) -> Blobs:
    def put(data: bytes) -> str:
        return split(bench.store.put(data))[1]

    stdout, graded = session.stdout.read_bytes(), run.graded
    failed = graded if graded and not graded.score.resolved else None
    return Blobs(
        patch=put(session.taken.patch),
        transcript=put(session.transcript.read_bytes()),
        stderr=put(session.stderr.read_bytes()),
        outcomes=put(dump_json(graded.record)) if graded else None,
        test_output=put(graded.output) if graded else None,
        report=put(stdout) if stdout else None,
        failures=put(dump_json(failure_record(failed))) if failed else None,
        landmarks=put(dump_json(failed.landmarks)) if failed else None,
    )
