"""The failure label of one graded run, from its raw files alone: whoever has them gets the same. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from attrs import frozen

from nanobench.harness.report import Report
from nanobench.model.label import Labelled, Landmarks
from nanobench.model.lock import TaskLock
from nanobench.model.result import Cause, Failure, FailureRecord, GradingRecord, Mode, Score
from nanobench.model.task import Task
from nanobench.sandbox.interface import Ended
from nanobench.scoring.dominant import Failing, dominant
from nanobench.scoring.errors.recognise import place_of, places
from nanobench.scoring.score import passes
from nanobench.scoring.signals import Traces, signals_of
from nanobench.scoring.taxonomy import Facts, judge
from nanobench.sources.patch import sections


@frozen(kw_only=True)
class GradedRun:
    """A run that was scored: its task, how it ended, what the agent left, and what grading saw.

    ``failures`` are by ``suite|node id``; ``output`` is what the suites' commands printed.
    """

    lock: TaskLock
    task: Task
    landmarks: Landmarks
    mode: Mode
    cause: Cause
    patch: bytes
    report: Report | None
    record: GradingRecord
    failures: Mapping[str, Failure]
    output: bytes
    score: Score

    @property
    def failing(self) -> tuple[str, ...]:
        """The target tests that do not pass."""
        return tuple(test for test in self.lock.tests.fail_to_pass if not passes(self.record.outcomes, test))

    @property
    def cut(self) -> frozenset[str]:
        """Suites that did not come to their own end."""
        return frozenset(suite.name for suite in self.record.suite if suite.ended != Ended.EXITED)

    @property
    def languages(self) -> dict[str, str]:
        """Suite → language."""
        return {suite.name: suite.language for suite in self.task.suite}


def label_of(run: GradedRun) -> Labelled | None:
    """Why did it not resolve its task? None when it did.

    Raises:
        Refused: ``NB_PATCH`` when the patch is none.
    """
    if run.score.resolved:
        return None
    parts = sections(run.patch)
    why = Failing(
        failures=run.failures, output=run.output, languages=run.languages, cut=run.cut, landmarks=run.landmarks
    )
    kinds = why.kinds(run.failing)
    facts = Facts(
        mode=run.mode,
        cause=run.cause,
        changed=bool(parts),
        overlap=bool(run.score.required_touched),
        passed=run.score.targets_passed,
        targets=run.score.targets,
        error=dominant(kinds),
        split=_split(run),
    )
    traces = Traces(
        cause=run.cause,
        parts=parts,
        report=run.report,
        source=run.lock.source,
        rules=run.task.paths,
        landmarks=run.landmarks,
    )
    believed = run.cause is not Cause.GRADER_TAMPERED
    told = ("not_implemented",) if believed and "not_implemented" in kinds else ()
    return judge(facts, (*told, *signals_of(traces)))


def failure_record(run: GradedRun) -> FailureRecord:
    """The failures that its label looks at."""
    broken = places(run.failures)
    read = {place for test in run.failing if (place := place_of(test, broken)) is not None}
    return FailureRecord(schema=1, failures={place: run.failures[place] for place in sorted(read)})


def _split(run: GradedRun) -> bool:
    """Do all locked tests of one language pass, and a target of another does not? A language without a target says
    nothing of the change."""
    tests = run.lock.tests
    targets = _by_language(run, tests.fail_to_pass)
    locked = _by_language(run, (*tests.fail_to_pass, *tests.pass_to_pass))
    whole = any(all(locked[language]) for language in targets)
    return whole and not all(all(passed) for passed in targets.values())


def _by_language(run: GradedRun, tests: Iterable[str]) -> dict[str, list[bool]]:
    """Language → whether each of its tests passes. Assertions have none."""
    found: dict[str, list[bool]] = defaultdict(list)
    for test in tests:
        language = run.languages.get(test.partition("|")[0])
        if language is not None:
            found[language].append(passes(run.record.outcomes, test))
    return found
