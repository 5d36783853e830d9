"""When do the signals of a suite's run agree? Every rule, on outcomes made by hand."""

from __future__ import annotations

import pytest
from attrs import evolve

from nanobench.grading.agreement import Agreed, agree
from nanobench.grading.canary import NONE, Canaries
from nanobench.grading.outcomes import Report
from nanobench.model.result import Outcome
from nanobench.sandbox.interface import Ended, Finished

CANARIES = Canaries(files=frozenset({"src/tests/test_a.py"}), passing="good", failing=frozenset({"bad", "worse"}))
SPOKE = {
    "tests/test_a.py::test_good": Outcome.PASSED,
    "tests/test_a.py::test_bad": Outcome.FAILED,
    "tests/test_a.py::T::test_worse[x]": Outcome.ERROR,
}
OWN = {"tests/test_a.py::test_own": Outcome.PASSED, "tests/test_b.py::test_other": Outcome.PASSED}


def seen(
    outcomes: dict[str, Outcome],
    *,
    status: int = 1,
    end: int | None = 1,
    ended: Ended = Ended.EXITED,
    damage: str | None = None,
    canaries: Canaries = CANARIES,
) -> Agreed:
    finished = Finished(exit_code=status, ended=ended, wall_ms=0)
    return agree(finished, Report(outcomes=outcomes, end=end, damage=damage), canaries)


def test_canaries_that_spoke_vouch_for_their_file_and_are_not_told() -> None:
    found = seen({**OWN, **SPOKE})
    assert (found.report.outcomes, found.vouched, found.disagreement) == (OWN, 1, None)


@pytest.mark.parametrize("canary", sorted(SPOKE))
@pytest.mark.parametrize("outcome", [None, Outcome.SKIPPED, Outcome.XFAILED])
def test_where_one_is_missing_the_files_passes_are_absent(canary: str, outcome: Outcome | None) -> None:
    spoke = {test: was for test, was in SPOKE.items() if test != canary}
    found = seen({**OWN, **spoke, **({canary: outcome} if outcome else {})})
    assert found.report.outcomes == {"tests/test_b.py::test_other": Outcome.PASSED}
    assert (found.vouched, found.disagreement) == (0, "tests passed in a file whose canaries were not run")


def test_a_suite_that_was_cut_disagrees_with_nothing_and_keeps_what_is_vouched_for() -> None:
    cut = {"status": 137, "end": None, "ended": Ended.TIME}
    assert seen({**OWN, **SPOKE}, **cut).report.outcomes == OWN  # type: ignore[arg-type]
    found = seen(OWN, **cut)  # type: ignore[arg-type]
    assert found.report.outcomes == {"tests/test_b.py::test_other": Outcome.PASSED}
    assert found.disagreement is None
    assert seen(OWN, status=139, end=None).disagreement is None


@pytest.mark.parametrize("outcome", [Outcome.PASSED, Outcome.XPASSED])
def test_a_canary_that_must_fail_and_did_not_disagrees_however_the_suite_ended(outcome: Outcome) -> None:
    outcomes = {**SPOKE, "tests/test_a.py::test_bad": outcome}
    assert seen(outcomes).disagreement == "a test that must fail did not"
    assert seen(outcomes, end=None, ended=Ended.TIME).disagreement == "a test that must fail did not"


def test_a_canary_that_something_repeats_is_weighed_each_time() -> None:
    again = {
        **OWN,
        **SPOKE,
        "tests/test_a.py::test_bad[again]": Outcome.PASSED,
        "tests/test_a.py::test_bad[z]": Outcome.FAILED,
    }
    assert seen(again).disagreement == "a test that must fail did not"
    half = {**OWN, **SPOKE, "tests/test_a.py::test_good[z]": Outcome.FAILED}
    assert seen(half).vouched == 0


def test_the_exit_status_is_what_the_outcomes_imply() -> None:
    failed = {"t::a": Outcome.FAILED}
    assert seen({**OWN, **SPOKE}, status=0).disagreement == "exit status 0, and tests failed"
    assert seen(failed, status=0, canaries=NONE).disagreement == "exit status 0, and tests failed"
    assert seen({}, status=0, end=None).disagreement == "exit status 0, and the reporter did not get to its end"
    assert seen(failed, status=2, canaries=NONE).disagreement is None
    green = {"t::a": Outcome.PASSED}
    assert seen(green, status=0, canaries=NONE).disagreement is None
    assert (
        seen(green, status=1, canaries=NONE).disagreement
        == "an exit status other than 0, and tests that passed alone"
    )
    assert seen({"t::a": Outcome.SKIPPED}, status=5, canaries=NONE).disagreement is None


def test_a_report_that_is_not_ours_disagrees_in_its_own_words() -> None:
    assert seen({}, damage="line 3").disagreement == "line 3"


def test_a_file_that_could_not_be_collected_claims_nothing() -> None:
    found = seen({"tests/test_a.py": Outcome.ERROR}, status=2, end=2)
    assert (found.report.outcomes, found.disagreement) == ({"tests/test_a.py": Outcome.ERROR}, None)


def test_ids_as_long_and_as_many_as_may_be_are_weighed_in_time_that_grows_as_they_do() -> None:
    """Each of these ids, or files, alone would have taken seconds with a search of all its letters."""
    long = {f"{'x' * 100}.py::{'x' * 16_000}{number}": Outcome.PASSED for number in range(2_000)}
    many = {f"{number}.py::a": Outcome.PASSED for number in range(50_000)}
    files = frozenset(f"tests/test_{number}.py" for number in range(5_000))
    assert seen({**long, **many}, canaries=evolve(CANARIES, files=files)).vouched == 0
