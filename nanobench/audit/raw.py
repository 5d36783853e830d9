"""A cell's raw files, read from a bundle, and what they say when they are read as the runner read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import frozen

from nanobench.bundle.read import Bundle
from nanobench.bundle.write import blob_name
from nanobench.errors import Refused
from nanobench.formats.documents import read_json, spec_of
from nanobench.gateway.exchange import Exchange
from nanobench.gateway.transcript import read_transcript
from nanobench.harness.contract import Contract, ParsedReport, contract_of
from nanobench.harness.ending import said_at
from nanobench.model.label import Landmarks
from nanobench.model.lock import TaskLock
from nanobench.model.result import Blobs, Cause, CellResult, FailureRecord, GradingRecord, Score
from nanobench.scoring.labels import GradedRun


@frozen(kw_only=True)
class RawFiles:
    """A cell's raw files, as the bundle holds them; ``exchanges`` are those of the transcript. Without ``failures``
    and ``landmarks`` nothing is labelled."""

    patch: bytes
    exchanges: Iterable[Exchange]
    outcomes: bytes | None
    report: bytes | None
    test_output: bytes | None = None
    failures: bytes | None = None
    landmarks: bytes | None = None

    @classmethod
    def of(cls, blobs: Blobs, read: Callable[[str], bytes], *, exchanges: Iterable[Exchange]) -> RawFiles:
        """Those that ``blobs`` names; ``read`` gives the bytes of a sha256."""

        def found(sha256: str | None) -> bytes | None:
            return read(sha256) if sha256 else None

        return cls(
            patch=read(blobs.patch),
            exchanges=exchanges,
            outcomes=found(blobs.outcomes),
            report=found(blobs.report),
            test_output=found(blobs.test_output),
            failures=found(blobs.failures),
            landmarks=found(blobs.landmarks),
        )


def raw_files(bundle: Bundle, result: CellResult) -> RawFiles:
    """The raw files of a cell, each checked against the manifest."""
    bundle.blob(result.blobs.transcript)
    exchanges = read_transcript(bundle.root / blob_name(result.blobs.transcript))
    return RawFiles.of(result.blobs, bundle.blob, exchanges=exchanges)


def contract_for(bundle: Bundle, result: CellResult) -> Contract:
    """How the report of a cell's agent is read."""
    return contract_of(bundle.run_harness_lock(result.cell.harness).value)


def report_in(report: bytes | None, contract: Contract) -> ParsedReport | None:
    """The agent's report, if there is a sound one."""
    try:
        return contract.parse(report or b"")
    except Refused:
        return None


def said_in(cause: Cause, report: bytes | None, contract: Contract) -> str | None:
    """The agent's final text by its report; None when there is no sound one, or none that counts."""
    return said_at(cause, report_in(report, contract))


def record_of(result: CellResult, outcomes: bytes) -> GradingRecord:
    """The grading record of a cell."""
    return read_json(outcomes, GradingRecord, where=f"{result.cell.id}: outcomes")


def graded_run(
    result: CellResult, lock: TaskLock, raw: RawFiles, scored: Score | None, contract: Contract
) -> GradedRun | None:
    """The graded run that the raw files tell of; None where they are not enough to label it: results of before labels
    have none."""
    if raw.outcomes is None or raw.failures is None or raw.landmarks is None or scored is None:
        return None
    report, where = report_in(raw.report, contract), result.cell.id
    return GradedRun(
        lock=lock,
        task=spec_of(lock),
        landmarks=read_json(raw.landmarks, Landmarks, where=f"{where}: landmarks"),
        mode=result.cell.mode,
        cause=result.cause,
        patch=raw.patch,
        report=report.report if report else None,
        record=record_of(result, raw.outcomes),
        failures=read_json(raw.failures, FailureRecord, where=f"{where}: failures").failures,
        output=raw.test_output or b"",
        score=scored,
    )
