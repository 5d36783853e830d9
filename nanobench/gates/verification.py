"""verification: at base a target test fails; with the golden patch all pass and nothing that passed breaks."""

from __future__ import annotations

from collections.abc import Mapping

from nanobench.formats.converter import unstructure
from nanobench.gates.interface import Case, Finding, judged
from nanobench.grading.trial import Trial
from nanobench.model.fields import Document
from nanobench.model.result import Outcome
from nanobench.scoring.derive import derive_tests, regressions


class VerificationGate:
    """The evidence is every test's outcome in both states; what the commands printed is not part of it."""

    name = "verification"

    def check(self, case: Case) -> Finding:
        """Compare the two states test by test."""
        base, golden = case.base.grading.outcomes, case.golden.grading.outcomes
        broken = regressions(base, golden, quarantine=case.task.quarantine)
        reasons = [f"{test}: passed at base, {_said(golden, test)} with the golden patch" for test in broken]
        for state, trial in (("base", case.base), ("golden", case.golden)):
            reasons += [f"{state}: {problem}" for problem in _unfinished(trial)]
            reasons += [f"{state}: the signals of {words}" for words in trial.grading.disagreements]
        tests = derive_tests(base, golden, quarantine=case.task.quarantine, where=f"tasks/{case.task.id}/task.toml")
        reasons += _unwatched(case, tests.fail_to_pass)
        evidence: Document = {
            "base": unstructure(case.base.grading.record),
            "golden": unstructure(case.golden.grading.record),
            "fail_to_pass": len(tests.fail_to_pass),
            "pass_to_pass": len(tests.pass_to_pass),
        }
        return judged(
            evidence, tuple(reasons), "quarantine tests that are not the change's, or mend the suite's command"
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


def _unfinished(trial: Trial) -> list[str]:
    return [
        f"suite {suite.name} was cut: {suite.ended}, exit code {suite.exit_code}, {suite.damage or 'no end reported'}"
        for suite in trial.grading.record.suite
        if not suite.complete or suite.damage
    ]
