"""verification: at base a target test fails; with the golden patch all pass and nothing that passed breaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from nanobench.formats.converter import unstructure
from nanobench.gates.interface import Case, Finding, judged
from nanobench.grading.trial import Trial
from nanobench.model.fields import Document
from nanobench.model.result import Outcome
from nanobench.scoring.derive import derive_tests, regressions
from nanobench.scoring.score import passes

_WORDS, _LINES = 2000, 10
"""Bytes and lines of a command's output that a refusal shows."""


class VerificationGate:
    """The evidence is every test's outcome in both states; what the commands printed is not part of it."""

    name = "verification"

    def check(self, case: Case) -> Finding:
        """Compare the two states test by test."""
        base, golden = case.base.grading.outcomes, case.golden.grading.outcomes
        broken = regressions(base, golden, quarantine=case.task.quarantine)
        reasons = [f"{test}: passed at base, {_said(golden, test)} with the golden patch" for test in broken]
        reasons += [f"{test}: does not hold with the golden patch" for test in _untrue(case) if test not in broken]
        for state, trial in (("base", case.base), ("golden", case.golden)):
            reasons += [f"{state}: {problem}" for problem in _unfinished(trial)]
            reasons += [f"{state}: the signals of {words}" for words in trial.grading.disagreements]
        where = f"tasks/{case.task.id}/task.toml"
        seen = _seen("base", case.base) + _seen("golden", case.golden) + _last_words(case.golden)
        tests = derive_tests(base, golden, quarantine=case.task.quarantine, where=where, seen=seen)
        reasons += _unwatched(case, tests.fail_to_pass)
        evidence: Document = {
            "base": unstructure(case.base.grading.record),
            "golden": unstructure(case.golden.grading.record),
            "fail_to_pass": len(tests.fail_to_pass),
            "pass_to_pass": len(tests.pass_to_pass),
        }
        return judged(
            evidence,
            tuple(reasons),
            "quarantine tests that are not the change's; mend the command or the assertion, or raise its seconds",
        )


def _said(outcomes: Mapping[str, Outcome], test: str) -> str:
    return outcomes.get(test, Outcome.ABSENT).value


def _unwatched(case: Case, targets: tuple[str, ...]) -> list[str]:
    """Suites that hold target tests and in which no canary came out right."""
    vouched = {suite.name: suite.vouched for suite in case.golden.grading.record.suite}
    return [
        f"suite {suite.name}: no canary was run in it, so that a patch could claim what it likes: its command must"
        " run whole files of the test patch, whichever names their tests have"
        for suite in case.task.suite
        if not vouched[suite.name] and any(test.startswith(f"{suite.name}|") for test in targets)
    ]


def _untrue(case: Case) -> list[str]:
    """Assertions that the curator's own solution does not keep: they would never count, and nobody would notice."""
    names = (f"{assertion.name}|{assertion.type}" for assertion in case.task.assertion)
    golden = case.golden.grading.outcomes
    return [name for name in names if not passes(golden, name) and name not in case.task.quarantine]


def _seen(state: str, trial: Trial) -> tuple[str, ...]:
    """How each command ended, and how many outcomes it gave."""
    record = trial.grading.record
    counts = Counter(test.partition("|")[0] for test in record.outcomes)
    return tuple(
        f"{state}: {suite.name} gave {counts[suite.name]} outcomes and ended with exit code {suite.exit_code}"
        for suite in record.suite
    )


def _last_words(trial: Trial) -> tuple[str, ...]:
    """The end of what the commands printed, for a curator to read."""
    lines = trial.grading.output[-_WORDS:].decode("utf-8", "replace").splitlines()[-_LINES:]
    return tuple(f"  {line}" for line in lines)


def _unfinished(trial: Trial) -> list[str]:
    return [
        f"suite {suite.name} was cut: {suite.ended}, exit code {suite.exit_code}, {suite.damage or 'no end reported'}"
        for suite in trial.grading.record.suite
        if not suite.complete or suite.damage
    ]
