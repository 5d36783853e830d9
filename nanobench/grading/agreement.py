"""Do the signals of a suite's run agree? The outcomes that were reported, the exit status, and the canaries. Pure.

* A canary that must fail and did not, a report that is not our reporter's, an exit status that is not what the
  outcomes imply (0 exactly when tests passed and none failed, and never before the reporter's end): the signals
  **disagree**.
* A file's passes count when its canaries spoke: the one passed, the others failed. Where they are missing although
  the suite came to its end, that disagrees too. Where the suite was cut (a limit, a crash), the passes of that file
  are absent, and the rest stands: to hang is no fraud.
* Every suite is red, also where the patch is right: canaries failed in it. So a suite whose status is not 0 for a
  reason of its own needs no exception.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from itertools import chain

from attrs import evolve, field, frozen

from nanobench.grading.canary import Canaries
from nanobench.grading.outcomes import Report
from nanobench.model.result import Outcome
from nanobench.sandbox.interface import Ended, Finished

_RED = {Outcome.FAILED, Outcome.ERROR}
_GREEN = {Outcome.PASSED, Outcome.XPASSED}


@frozen(kw_only=True)
class Agreed:
    """The report without canaries and without passes that nothing vouches for; in how many files the canaries spoke;
    and why the signals disagree, in words that are the same from run to run."""

    report: Report
    vouched: int
    disagreement: str | None = None


@frozen(kw_only=True)
class _File:
    """What was reported of one file: its canaries' outcomes by name (of each that it had, should something repeat
    them), and its own tests that passed."""

    canaries: dict[str, set[Outcome]] = field(factory=lambda: defaultdict(set))
    passed: list[str] = field(factory=list)


def agree(finished: Finished, report: Report, canaries: Canaries) -> Agreed:
    """Weigh the signals of one suite."""
    files = _by_file(report.outcomes, canaries)
    holding = _names(canaries.files)
    canaried = {name: file for name, file in files.items() if file.canaries or name in holding}
    silent = {name: file for name, file in canaried.items() if not _spoke(file, canaries)}
    unproved = set(chain.from_iterable(file.passed for file in silent.values()))
    kept = {
        test: outcome
        for test, outcome in report.outcomes.items()
        if canaries.name_in(test) is None and test not in unproved
    }
    failures = {test: failure for test, failure in report.failures.items() if test in kept}
    return Agreed(
        report=evolve(report, outcomes=kept, failures=failures),
        vouched=len(canaried) - len(silent),
        disagreement=report.damage or _disagreement(finished, report, canaries, files, unproved=bool(unproved)),
    )


def _by_file(outcomes: Mapping[str, Outcome], canaries: Canaries) -> dict[str, _File]:
    files: dict[str, _File] = defaultdict(_File)
    for test, outcome in outcomes.items():
        file, name = files[test.partition("::")[0]], canaries.name_in(test)
        if name is not None:
            file.canaries[name].add(outcome)
        elif outcome is Outcome.PASSED:
            file.passed.append(test)
    return files


def _names(paths: Collection[str]) -> frozenset[str]:
    """What a runner may call these files: it may name them from a folder below the workspace."""
    parts = [path.split("/") for path in paths]
    return frozenset("/".join(of[at:]) for of in parts for at in range(len(of)))


def _spoke(file: _File, canaries: Canaries) -> bool:
    failed = all(file.canaries[name] and file.canaries[name] <= _RED for name in canaries.failing)
    return failed and file.canaries[canaries.passing] == {Outcome.PASSED}


def _disagreement(
    finished: Finished, report: Report, canaries: Canaries, files: Mapping[str, _File], *, unproved: bool
) -> str | None:
    if any(file.canaries[name] & _GREEN for file in files.values() for name in canaries.failing):
        return "a test that must fail did not"
    if finished.ended is not Ended.EXITED:
        return None
    if report.end is None:
        return "exit status 0, and the reporter did not get to its end" if finished.exit_code == 0 else None
    red = any(outcome in _RED for outcome in report.outcomes.values())
    if red and finished.exit_code == 0:
        return "exit status 0, and tests failed"
    if not red and finished.exit_code != 0 and Outcome.PASSED in report.outcomes.values():
        return "an exit status other than 0, and tests that passed alone"
    return "tests passed in a file whose canaries were not run" if unproved else None
