"""Computes every figure of a cell's result again from the cell's raw files and its lock. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from nanobench.audit.asked import Asked
from nanobench.audit.raw import RawFiles, graded_run, record_of, report_in
from nanobench.errors import CannotTell
from nanobench.gateway.price import cost_of
from nanobench.gateway.summary import Summary, summarise
from nanobench.gateway.upstream import Pins
from nanobench.harness.contract import Contract
from nanobench.harness.ending import ending
from nanobench.harness.setting import setting_sha256
from nanobench.model.lock import TaskLock
from nanobench.model.result import Attempt, Cause, CellResult, ProviderFacts, RunManifest, Score
from nanobench.sandbox.interface import Ended, Finished
from nanobench.scoring.causes import no_model_usage, policy
from nanobench.scoring.labels import label_of
from nanobench.scoring.score import locked_score
from nanobench.sources.patch import affected_paths
from nanobench.sources.question import heard, marked


def rescore(result: CellResult, lock: TaskLock, run: RunManifest, raw: RawFiles, contract: Contract) -> Iterator[str]:
    """Every figure that does not follow from the raw files; the report is read by the harness's contract.

    Raises:
        Refused: a raw file is not what it should be.
        CannotTell: ``NB_CAUSE_UNSHOWN``, when everything else was looked at: the cell left the denominator for a
            cause that the raw files allow and cannot show.
    """
    changed = affected_paths(raw.patch, where=f"{result.cell.id}: patch")
    yield from _differ("files_changed", result.files_changed, changed)
    provider = run.provider_of(result.cell)
    asked, pins = Asked(run, result.cell), Pins.of(provider.arm, result.cell)
    summary = summarise(asked.passing(raw.exchanges), pins)
    yield from asked.problems()
    if result.setting not in (None, setting_sha256(provider, run.profile_of(result.cell))):
        yield "setting: the cell was run with another provider or profile than the run's of these names"
    yield from _model_usage(result, provider, summary)
    yield from _differ("seed", result.seed, pins.seed)
    yield from _differ("sampling_pinned", result.sampling_pinned, summary.sampling_pinned)
    report = report_in(raw.report, contract)
    reported = report.report.filesChanged if report else None
    yield from _differ("reported_files_changed", result.reported_files_changed, reported)
    yield from _differ("unknown_fields", result.unknown_fields, report.unknown if report else ())
    if any(test.endswith("|answer") for test in lock.tests.fail_to_pass):
        yield from _answered(report.report.finalText if report else "", summary.said)
    yield from _differ("cause", result.cause, result.attempts[-1].cause)
    possible = _possible(raw, summary, contract)
    yield from _against_files(result.cause, possible, raw, summary)
    yield from _attempts(result.attempts)
    if (result.score is not None) != policy(result.cause).scored:
        yield f"score: a cell that ended with {result.cause} is {'' if policy(result.cause).scored else 'not '}scored"
    scored = _score(result, lock, raw, changed)
    yield from _differ("score", result.score, scored)
    graded = graded_run(result, lock, raw, scored, contract)
    yield from _differ("failure", result.failure, graded and label_of(graded))
    yield from _tampering(result, raw)
    _raise_unshown(result, possible, scripted=provider.kind == "scripted")


def _model_usage(result: CellResult, provider: ProviderFacts, summary: Summary) -> Iterator[str]:
    """What the model did and took. What a result leaves out is a difference too: else whoever publishes it could
    leave out who answered, or what was dear."""
    yield from _differ("usage", result.usage, summary.usage)
    yield from _differ("served", result.served, summary.served)
    yield from _differ("cost", result.cost, cost_of(summary.counts, provider.price_of(result.cell.model)))
    unreal = no_model_usage(provider, result.score, metered=summary.metered)
    yield from _differ("no_model_usage", result.no_model_usage, unreal)


# What the sandbox or the grader told, of which no raw file of the agent's knows. All but two are scored: the grader's
# failure is seen again when the patch is tested, and how busy a machine was stays an open question.
_UNTOLD = frozenset(
    (
        *(Cause.TIME_LIMIT, Cause.MEMORY, Cause.DISK, Cause.FORWARDER),
        *(Cause.GRADER, Cause.GRADER_TAMPERED, Cause.STARVED),
    )
)
_EXIT_CODES = (0, 1, 2, 127, 137)


def _possible(raw: RawFiles, summary: Summary, contract: Contract) -> frozenset[Cause]:
    """Every cause that the runner could have found in these raw files: the agent's exit code is in none of them."""
    exits = (Finished(exit_code=code, ended=Ended.EXITED, wall_ms=0) for code in _EXIT_CODES)
    said = raw.report or b""
    ends = (ending(each, contract=contract, stdout=said, stderr=b"", summary=summary) for each in exits)
    never = {Cause.NOT_RUN} if raw.report is None and not summary.requests else set()
    return frozenset(end.cause for end in ends) | never


def _against_files(cause: Cause, possible: frozenset[Cause], raw: RawFiles, summary: Summary) -> Iterator[str]:
    """Why report, patch and transcript do not bear the cause out."""
    if cause not in possible | _UNTOLD:
        yield f"cause: published {cause}, report and transcript say {' or '.join(sorted(possible))}"
    if cause in (Cause.FINISHED, Cause.TURN_CAP) and not summary.requests:
        yield f"cause: published {cause}, the transcript shows no request"
    if raw.patch and not summary.requests:
        yield "patch: something was changed, the transcript shows no request"


def _raise_unshown(result: CellResult, possible: frozenset[Cause], *, scripted: bool) -> None:
    """An engine that fails leaves nothing, nor does a cell that was not run; a contract may be broken by the exit
    code alone; and nothing of a machine's load is left. Whether a script had a part is seen in the task."""
    cause = result.cause
    told = len(possible) == 1 or (cause is Cause.NOT_RUN and scripted)
    untold = cause in (Cause.ENGINE, Cause.CONTRACT, Cause.NOT_RUN) and cause in possible and not told
    if untold or cause is Cause.STARVED:
        raise CannotTell(
            "NB_CAUSE_UNSHOWN",
            f"published as ended with {cause}, which its raw files cannot show",
            where=result.cell.id,
            hint="the cell is not scored; run it again to know",
        )


def _attempts(attempts: tuple[Attempt, ...]) -> Iterator[str]:
    """Attempts are numbered from 1, and each but the last ended in a way that is tried again."""
    yield from _differ("attempts", [a.number for a in attempts], list(range(1, len(attempts) + 1)))
    if any(attempt.cause is Cause.INTERRUPTED for attempt in attempts):
        yield f"attempts: published {Cause.INTERRUPTED}, which no finished cell is"
    for attempt in attempts[:-1]:
        if attempt.number > policy(attempt.cause).retries:
            yield f"attempts: number {attempt.number} ended with {attempt.cause}, after which there is no other"


def _answered(reported: str, said: str) -> Iterator[str]:
    """An answer stands in the report only if the model gave it on the wire."""
    answer = heard(reported)
    if answer is not None and answer not in map(heard, marked(said)):
        yield f"report: answers {answer!r:.200}, which the transcript does not say"


def _tampering(result: CellResult, raw: RawFiles) -> Iterator[str]:
    """A cell is flagged as tampered exactly when its record says that the signals disagree."""
    record = None if raw.outcomes is None else record_of(result, raw.outcomes)
    disagree = record is not None and any(suite.disagreement for suite in record.suite)
    if disagree != (result.cause is Cause.GRADER_TAMPERED):
        yield f"cause: published {result.cause}, the signals of its grading {'dis' if disagree else ''}agree"


def _score(result: CellResult, lock: TaskLock, raw: RawFiles, changed: tuple[str, ...]) -> Score | None:
    if raw.outcomes is None:
        return None
    outcomes = record_of(result, raw.outcomes).outcomes
    return locked_score(lock, outcomes, files_changed=changed, mode=result.cell.mode, cause=result.cause)


def _differ(name: str, published: object, computed: object) -> Iterator[str]:
    if published != computed:
        yield f"{name}: published {published!s:.200}, computed {computed!s:.200}"
