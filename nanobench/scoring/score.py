"""The score of one graded run, by section 5 of the rules.

Only ``passed`` counts as a pass: a skipped, xfailed, xpassed, errored or absent test is not one. "Required file
modified" means that the difference of the workspace to the base commit touches at least one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from nanobench.model.lock import TaskLock
from nanobench.model.result import Cause, Mode, Outcome, Score

Value = Literal["0.0", "0.1", "0.5", "1.0"]
Label = Literal["Complete Resolution", "Partial Resolution", "Pathfinding Credit", "Zero Signal"]

LABELS: dict[Value, Label] = {
    "1.0": "Complete Resolution",
    "0.5": "Partial Resolution",
    "0.1": "Pathfinding Credit",
    "0.0": "Zero Signal",
}
"""Every value and the one label that goes with it."""


def passes(outcomes: Mapping[str, Outcome], test: str) -> bool:
    """Did this test pass? A test that nobody reported did not."""
    return outcomes.get(test, Outcome.ABSENT) is Outcome.PASSED


def score(
    *,
    outcomes: Mapping[str, Outcome],
    fail_to_pass: Collection[str],
    pass_to_pass: Collection[str],
    files_changed: Collection[str],
    required_files: Collection[str],
    mode: Mode,
    tampered: bool = False,
) -> Score:
    """What is this run worth?

    Args:
        outcomes: ``suite|node id`` → outcome of the graded run.
        fail_to_pass: the target tests; never empty.
        pass_to_pass: tests that passed before and must still pass.
        files_changed: paths that differ from the base commit.
        required_files: paths of which a correct change touches at least one.
        mode: pathfinding credit exists in ``navigation`` only.
        tampered: the patch made the signals of its grading disagree: it is worth nothing.
    """
    targets = sorted(set(fail_to_pass))
    passed = sum(passes(outcomes, test) for test in targets)
    broken = tuple(sorted(test for test in set(pass_to_pass) if not passes(outcomes, test)))
    touched = tuple(sorted(set(files_changed) & set(required_files)))
    earned = _value(passed, len(targets), broken=bool(broken), touched=bool(touched), mode=mode)
    value: Value = "0.0" if tampered else earned
    return Score(
        value=value,
        label=LABELS[value],
        resolved=value == "1.0",
        targets_passed=passed,
        targets=len(targets),
        broken=broken,
        required_touched=touched,
    )


def locked_score(
    lock: TaskLock,
    outcomes: Mapping[str, Outcome],
    *,
    files_changed: Collection[str],
    mode: Mode,
    cause: Cause,
) -> Score:
    """What is a run worth by the tests and required files of its task's lock? As :func:`score` says."""
    return score(
        outcomes=outcomes,
        fail_to_pass=lock.tests.fail_to_pass,
        pass_to_pass=lock.tests.pass_to_pass,
        files_changed=files_changed,
        required_files=lock.source.to_change,
        mode=mode,
        tampered=cause is Cause.GRADER_TAMPERED,
    )


def _value(passed: int, targets: int, *, broken: bool, touched: bool, mode: Mode) -> Value:
    # 1.0: every target test passes and everything that passed before still does, wherever the change was made.
    if passed == targets and not broken:
        return "1.0"
    if not touched:
        return "0.0"
    # 0.5: at least half of the target tests, a required file modified. Decision of the rules: all targets pass
    # but something broke is here too (all is at least half).
    if 2 * passed >= targets:
        return "0.5"
    # 0.1: less than half, a required file modified, navigation mode only.
    return "0.1" if mode == "navigation" else "0.0"
