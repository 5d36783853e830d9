"""Tests every patch of a bundle again, in the image built from the lock, and names what comes out different."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, field, frozen

from nanobench.audit.derive import locks_of
from nanobench.audit.guidance import guidance
from nanobench.audit.misfit import misfit
from nanobench.audit.published import online_for
from nanobench.audit.raw import contract_for, graded_run, raw_files, record_of, said_in
from nanobench.bundle.read import Bundle
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell, NanobenchError, Refused
from nanobench.formats.documents import dump_json
from nanobench.grading.landmarks import landmarks_of
from nanobench.grading.locked import LockedArena, locked_arena
from nanobench.grading.rehearsal import scene_of
from nanobench.grading.suites import Grading
from nanobench.grading.trial import fair_trial, try_patch
from nanobench.image.workbench import Workbench
from nanobench.model.label import Landmarks
from nanobench.model.lock import TaskLock
from nanobench.model.result import Cause, CellResult, GradingRecord, Outcome
from nanobench.project.files import Project
from nanobench.scoring.labels import label_of


def retest(
    bundle: Bundle, project: Project | None, *, online: Online | None, bench: Workbench
) -> Iterator[str | NanobenchError]:
    """Every published outcome and label that the patch does not have here; every script that was kept from a part
    that it has; every prompt with or without the project's AGENTS.md that the run's profile has otherwise."""
    for task in bundle.tasks:
        lock = bundle.task_lock(task).value
        trusted = online_for(bundle, task, project, online)
        place = locked_arena(locks_of(bundle, lock, project), online=trusted, bench=bench)
        again = _Task(bundle=bundle, lock=lock, place=place, landmarks=landmarks_of(place, lock), bench=bench)
        for result in bundle.results(task):
            yield from again.cell(result)


@frozen(kw_only=True)
class _Task:
    """A task's arena, and what each patch with each final text came to."""

    bundle: Bundle
    lock: TaskLock
    place: LockedArena
    landmarks: Landmarks
    bench: Workbench
    _seen: dict[tuple[str, str | None], Grading] = field(factory=dict, init=False)

    def cell(self, result: CellResult) -> Iterator[str | NanobenchError]:
        """What is otherwise here than one result says."""
        bundle, cell, patch = self.bundle, result.cell, result.blobs.patch
        yield from guidance(bundle.run, cell, raw_files(bundle, result).exchanges, self.place.image.workspace)
        if result.cause is Cause.NOT_RUN:
            yield from misfit(bundle.run, result, scene_of(self.place, self.lock, bench=self.bench))
        elif result.blobs.outcomes is not None:
            yield from self._compared(result, self._graded(result), bundle.blob(result.blobs.outcomes))
        elif result.cause is Cause.GRADER:
            self.bench.say(f"testing the patch again: {cell.id}")
            yield from _gradable(cell.id, self.place, bundle.blob(patch), self.bench)

    def _graded(self, result: CellResult) -> Grading:
        self.bench.say(f"testing the patch again: {result.cell.id}")
        bundle, arena, report, said = self.bundle, self.place.arena, result.blobs.report, None
        if report and arena.answer:
            said = said_in(result.cause, bundle.blob(report), contract_for(bundle, result))
        key = (result.blobs.patch, said)
        if key not in self._seen:
            with self.bench.store.scratch("retest") as scratch:
                self._seen[key] = try_patch(arena, bundle.blob(key[0]), said=said, scratch=scratch).grading
        return self._seen[key]

    def _compared(self, result: CellResult, found: Grading, outcomes: bytes) -> Iterator[str | NanobenchError]:
        if found.starved:
            hint = "verify again when the machine has less to do"
            yield CannotTell("NB_STARVED", "; ".join(found.starved), where=result.cell.id, hint=hint)
            return
        yield from _unlike(result.cell.id, self.lock, record_of(result, outcomes), found.record)
        yield from _labelled_otherwise(self.bundle, result, self.lock, self.landmarks, found)


def _gradable(cell: str, place: LockedArena, patch: bytes, bench: Workbench) -> Iterator[str]:
    try:
        with bench.store.scratch("retest") as scratch:
            fair_trial(place.arena, patch, scratch=scratch)
    except Refused:
        return
    yield f"{cell}: published as a failure of the grader, and its patch can be graded"


def _unlike(cell: str, lock: TaskLock, published: GradingRecord, found: GradingRecord) -> Iterator[str]:
    for test in (*lock.tests.fail_to_pass, *lock.tests.pass_to_pass):
        before, now = (record.outcomes.get(test, Outcome.ABSENT) for record in (published, found))
        if before is not now:
            yield f"{cell}: {test}: published {before}, now {now}"
    said, seen = (sorted(s.name for s in record.suite if s.disagreement) for record in (published, found))
    if said != seen:
        yield f"{cell}: suites whose signals disagree: published {said}, now {seen}"


def _labelled_otherwise(
    bundle: Bundle, result: CellResult, lock: TaskLock, landmarks: Landmarks, found: Grading
) -> Iterator[str]:
    """Where a label stands on other landmarks than the image's, or on failures that the patch does not have."""
    raw = raw_files(bundle, result)
    run = graded_run(result, lock, raw, result.score, contract_for(bundle, result))
    if run is None:
        return
    if raw.landmarks != dump_json(landmarks):
        yield f"{result.cell.id}: landmarks: not those of the locked image and solution"
    now = label_of(
        evolve(run, landmarks=landmarks, record=found.record, failures=found.failures, output=found.output)
    )
    if now != result.failure:
        yield f"{result.cell.id}: failure: published {result.failure!s:.200}, now {now!s:.200}"
