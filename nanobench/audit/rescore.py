"""Computes every figure of a cell's result again from the cell's raw files and its lock. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import frozen

from nanobench.formats.documents import read_json
from nanobench.gateway.exchange import Exchange
from nanobench.gateway.summary import summarise
from nanobench.model.lock import TaskLock
from nanobench.model.result import CellResult, GradingRecord, Score
from nanobench.scoring.causes import policy
from nanobench.scoring.score import score
from nanobench.sources.patch import affected_paths


@frozen(kw_only=True)
class RawFiles:
    """A cell's raw files, as the bundle holds them; ``exchanges`` are those of the transcript."""

    patch: bytes
    exchanges: Iterable[Exchange]
    outcomes: bytes | None


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
    yield from _differ("cause", result.cause, result.attempts[-1].cause)
    if (result.score is not None) != policy(result.cause).scored:
        yield f"score: a cell that ended with {result.cause} is {'' if policy(result.cause).scored else 'not '}scored"
    yield from _differ("score", result.score, _score(result, lock, raw, changed))


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
