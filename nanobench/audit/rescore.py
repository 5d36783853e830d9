"""Computes every figure of a cell's result again from the cell's raw files and its lock. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import frozen

from nanobench.errors import Refused
from nanobench.formats.documents import read_json
from nanobench.gateway.exchange import Exchange
from nanobench.gateway.summary import Summary, summarise
from nanobench.harness.report import parse_report
from nanobench.model.lock import TaskLock
from nanobench.model.result import Attempt, Cause, CellResult, GradingRecord, Score
from nanobench.scoring.causes import policy
from nanobench.scoring.score import score
from nanobench.sources.patch import affected_paths


@frozen(kw_only=True)
class RawFiles:
    """A cell's raw files, as the bundle holds them; ``exchanges`` are those of the transcript."""

    patch: bytes
    exchanges: Iterable[Exchange]
    outcomes: bytes | None
    report: bytes | None


def rescore(result: CellResult, lock: TaskLock, raw: RawFiles) -> Iterator[str]:
    """Every figure that does not follow from the raw files.

    Raises:
        Refused: a raw file is not what it should be.
    """
    changed = affected_paths(raw.patch, where=f"{result.cell.id}: patch")
    yield from _differ("files_changed", result.files_changed, changed)
    summary = summarise(raw.exchanges)
    yield from _differ("usage", result.usage, summary.usage)
    yield from _differ("temperature_pinned", result.temperature_pinned, summary.temperature_pinned)
    yield from _differ("reported_files_changed", result.reported_files_changed, _reported(raw.report))
    yield from _differ("cause", result.cause, result.attempts[-1].cause)
    yield from _against_wire(result.cause, summary)
    yield from _attempts(result.attempts)
    if (result.score is not None) != policy(result.cause).scored:
        yield f"score: a cell that ended with {result.cause} is {'' if policy(result.cause).scored else 'not '}scored"
    yield from _differ("score", result.score, _score(result, lock, raw, changed))


# What only the wire can tell; a run that left the denominator for it must show it there.
_WIRE = frozenset(
    (
        *(Cause.WIRE, Cause.PROVIDER_FAILED, Cause.PROVIDER_REFUSED, Cause.RATE_LIMIT),
        *(Cause.CONTEXT, Cause.TOKEN_BUDGET),
    )
)
_CLEAN = frozenset((Cause.FINISHED, Cause.TURN_CAP, Cause.FORWARDER))


def _against_wire(cause: Cause, summary: Summary) -> Iterator[str]:
    """Why the transcript does not bear the cause out. What ended the sandbox itself is not in it."""
    seen = summary.end.cause
    if cause in _WIRE and cause is not seen:
        yield f"cause: published {cause}, the transcript ends with {seen or 'no error'}"
    if cause in _CLEAN and seen not in (None, Cause.FINISHED):
        yield f"cause: published {cause}, the transcript ends with {seen}"
    if cause is Cause.FINISHED and summary.last_had_tools is False:
        yield f"cause: published {cause}, the transcript shows the turn cap"
    if cause is Cause.ENGINE and summary.requests:
        yield f"cause: published {cause}, the transcript shows an agent at work"


def _attempts(attempts: tuple[Attempt, ...]) -> Iterator[str]:
    """Attempts are numbered from 1, and each but the last ended in a way that is tried again."""
    yield from _differ("attempts", [a.number for a in attempts], list(range(1, len(attempts) + 1)))
    for attempt in attempts[:-1]:
        if attempt.number > policy(attempt.cause).retries:
            yield f"attempts: number {attempt.number} ended with {attempt.cause}, after which there is no other"


def _reported(report: bytes | None) -> tuple[str, ...] | None:
    try:
        parsed = parse_report(report or b"")
    except Refused:
        return None
    return parsed.report.filesChanged if parsed else None


def record_of(result: CellResult, outcomes: bytes) -> GradingRecord:
    """The grading record of a cell."""
    return read_json(outcomes, GradingRecord, where=f"{result.cell.id}: outcomes")


def _score(result: CellResult, lock: TaskLock, raw: RawFiles, changed: tuple[str, ...]) -> Score | None:
    if raw.outcomes is None:
        return None
    return score(
        outcomes=record_of(result, raw.outcomes).outcomes,
        fail_to_pass=lock.tests.fail_to_pass,
        pass_to_pass=lock.tests.pass_to_pass,
        files_changed=changed,
        required_files=lock.source.required_files,
        mode=result.cell.mode,
    )


def _differ(name: str, published: object, computed: object) -> Iterator[str]:
    if published != computed:
        yield f"{name}: published {published!s:.200}, computed {computed!s:.200}"
