"""Every figure that is changed in a real result, and still fits its manifest, is computed again and named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.audit.rescore import RawFiles, rescore
from nanobench.gateway.exchange import Exchange
from nanobench.gateway.transcript import read_transcript
from nanobench.image.realise import Locks
from nanobench.model.result import Attempt, Cause, CellResult, Usage


@pytest.fixture
def cell(nop_bundle: Path, forge: Any) -> Any:
    """A result of the idle agent, and its raw files."""
    forger = forge(nop_bundle)
    result: CellResult = forger.results()[0]
    blobs = result.blobs
    exchanges: tuple[Exchange, ...] = tuple(read_transcript(forger.root / "blobs/sha256" / blobs.transcript))
    raw = RawFiles(
        patch=forger.blob(blobs.patch),
        exchanges=exchanges,
        outcomes=forger.blob(blobs.outcomes),
        report=forger.blob(blobs.report),
    )
    return result, raw


@pytest.fixture
def problems(cell: Any, locks: Locks) -> Callable[..., list[str]]:
    def ask(raw: dict[str, Any] | None = None, **changes: Any) -> list[str]:
        result, files = cell
        return list(rescore(evolve(result, **changes), locks.task, evolve(files, **(raw or {}))))

    return ask


def test_a_result_follows_from_its_raw_files(problems: Callable[..., list[str]]) -> None:
    assert problems() == []


def test_a_better_score_is_named_with_both_values(problems: Callable[..., list[str]], cell: Any) -> None:
    score = evolve(cell[0].score, value="1.0", label="Complete Resolution", resolved=True)
    (problem,) = problems(score=score)
    assert problem.startswith("score: published Score(value='1.0'")
    assert "computed Score(value='0.0'" in problem


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("files_changed", ("unidiff/patch.py",)),
        ("reported_files_changed", ("unidiff/patch.py",)),
        ("reported_files_changed", None),
        ("temperature_pinned", False),
        ("usage", Usage(steps=0, tool_calls=0)),
    ],
)
def test_every_other_figure_too(problems: Callable[..., list[str]], name: str, value: Any) -> None:
    assert [problem.partition(":")[0] for problem in problems(**{name: value})] == [name]


def ended(cause: Cause, *before: Cause) -> dict[str, Any]:
    tries = tuple(Attempt(number=n, cause=c) for n, c in enumerate((*before, cause), 1))
    return {"cause": cause, "attempts": tries}


@pytest.mark.parametrize(
    "cause", [Cause.PROVIDER_FAILED, Cause.PROVIDER_REFUSED, Cause.WIRE, Cause.RATE_LIMIT, Cause.CONTEXT]
)
def test_a_cell_does_not_leave_the_denominator_for_an_error_that_its_transcript_does_not_show(
    problems: Callable[..., list[str]], cell: Any, cause: Cause
) -> None:
    scored = cause in (Cause.RATE_LIMIT, Cause.CONTEXT)
    found = problems(
        raw={} if scored else {"outcomes": None}, score=cell[0].score if scored else None, **ended(cause)
    )
    assert found == [f"cause: published {cause}, the transcript ends with finished"]


def test_an_engine_that_failed_has_no_agent_at_work(problems: Callable[..., list[str]]) -> None:
    (found,) = problems(raw={"outcomes": None}, score=None, **ended(Cause.ENGINE))
    assert found == "cause: published engine, the transcript shows an agent at work"


def test_a_score_for_what_is_not_scored_and_none_for_what_is_are_both_named(
    problems: Callable[..., list[str]], cell: Any
) -> None:
    contract = problems(**ended(Cause.CONTRACT))
    assert contract == ["score: a cell that ended with contract is not scored"]
    assert problems(raw={"outcomes": None}, score=None) == ["score: a cell that ended with finished is scored"]


def test_a_failure_on_the_wire_is_no_clean_end(problems: Callable[..., list[str]], cell: Any) -> None:
    last = evolve(cell[1].exchanges[-1], status=500, chunks=(), usage=None)
    found = problems(raw={"exchanges": (last,)}, usage=Usage(steps=0, tool_calls=0))
    assert found == ["cause: published finished, the transcript ends with provider_failed"]


def test_the_turn_cap_is_no_success(problems: Callable[..., list[str]], cell: Any) -> None:
    last = evolve(cell[1].exchanges[-1], tools=False)
    assert problems(raw={"exchanges": (last,)}) == ["cause: published finished, the transcript shows the turn cap"]


def test_a_cause_that_is_not_its_last_attempts_is_named(problems: Callable[..., list[str]]) -> None:
    found = problems(attempts=(Attempt(number=1, cause=Cause.TURN_CAP),))
    assert found == ["cause: published finished, computed turn_cap"]


def test_there_is_no_second_try_after_the_agents_own_failure(problems: Callable[..., list[str]]) -> None:
    found = problems(**ended(Cause.FINISHED, Cause.WIRE, Cause.TURN_CAP))
    assert found == ["attempts: number 2 ended with turn_cap, after which there is no other"]


def test_an_attempt_that_is_left_out_is_missed(problems: Callable[..., list[str]]) -> None:
    tries = (Attempt(number=1, cause=Cause.WIRE), Attempt(number=3, cause=Cause.FINISHED))
    assert problems(attempts=tries) == ["attempts: published [1, 3], computed [1, 2]"]
