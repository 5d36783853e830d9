"""Tests every patch of a bundle again, in the image built from the lock, and names what comes out different."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from nanobench.audit.derive import locks_of
from nanobench.audit.published import online_for
from nanobench.audit.raw import contract_for, graded_run, raw_files, record_of, said_in
from nanobench.bundle.read import Bundle
from nanobench.ecosystems.online import Online
from nanobench.errors import NanobenchError, Refused
from nanobench.formats.documents import dump_json
from nanobench.grading.landmarks import landmarks_of
from nanobench.grading.locked import LockedArena, locked_arena
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
    """Every published outcome and label that the patch does not have here."""
    for task in bundle.tasks:
        lock = bundle.task_lock(task).value
        trusted = online_for(bundle, task, project, online)
        place = locked_arena(locks_of(bundle, lock, project), online=trusted, bench=bench)
        landmarks = landmarks_of(place, lock)
        seen: dict[tuple[str, str | None], Grading] = {}
        for result in bundle.results(task):
            outcomes, patch, report = result.blobs.outcomes, result.blobs.patch, result.blobs.report
            if outcomes is None and result.cause is not Cause.GRADER:
                continue
            bench.say(f"testing the patch again: {result.cell.id}")
            if outcomes is None:
                yield from _gradable(result.cell.id, place, bundle.blob(patch), bench)
                continue
            said = None
            if report and place.arena.answer:
                said = said_in(result.cause, bundle.blob(report), contract_for(bundle, result))
            if (patch, said) not in seen:
                with bench.store.scratch("retest") as scratch:
                    seen[patch, said] = try_patch(place.arena, bundle.blob(patch), said=said, scratch=scratch).grading
            published = record_of(result, bundle.blob(outcomes))
            yield from _unlike(result.cell.id, lock, published, seen[patch, said].record)
            yield from _labelled_otherwise(bundle, result, lock, landmarks, seen[patch, said])


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
