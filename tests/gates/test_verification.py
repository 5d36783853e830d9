from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.errors import Refused
from nanobench.gates.interface import Case
from nanobench.gates.verification import VerificationGate
from nanobench.grading.trial import Trial, try_patch
from nanobench.image.realise import Locks
from nanobench.model.fixture import FileAssertion, VendoredSource
from nanobench.model.result import Outcome


def with_record(trial: Trial, **changes: Any) -> Trial:
    return evolve(trial, grading=evolve(trial.grading, record=evolve(trial.grading.record, **changes)))


def test_the_demo_task_passes_with_the_counts_of_its_lock(case: Case, locks: Locks) -> None:
    finding = VerificationGate().check(case)
    assert (finding.verdict, finding.reasons) == ("pass", ())
    assert finding.evidence["fail_to_pass"] == len(locks.task.tests.fail_to_pass)
    assert finding.evidence["pass_to_pass"] == len(locks.task.tests.pass_to_pass)
    assert len(finding.evidence["golden"]["outcomes"]) >= len(locks.task.tests.pass_to_pass)


def test_a_test_that_the_solution_breaks_is_named_unless_it_is_quarantined(case: Case, locks: Locks) -> None:
    test = locks.task.tests.pass_to_pass[0]
    outcomes = {**case.golden.grading.outcomes, test: Outcome.FAILED}
    broken = evolve(case, golden=with_record(case.golden, outcomes=outcomes))
    finding = VerificationGate().check(broken)
    assert finding.verdict == "fail"
    assert finding.reasons == (f"{test}: passed at base, failed with the golden patch",)
    quarantined = evolve(broken, task=evolve(case.task, quarantine=(test,)))
    assert VerificationGate().check(quarantined).verdict == "pass"


def test_a_suite_that_was_cut_is_a_reason_in_either_state(case: Case) -> None:
    (suite,) = case.base.grading.record.suite
    cut = with_record(case.base, suite=(evolve(suite, complete=False, ended="time", exit_code=137),))
    finding = VerificationGate().check(evolve(case, base=cut))
    assert finding.verdict == "fail"
    assert finding.reasons == ("base: suite python was cut: time, exit code 137, no end reported",)


def test_a_solution_that_turns_no_test_green_is_refused(case: Case) -> None:
    with pytest.raises(Refused) as refused:
        VerificationGate().check(evolve(case, golden=case.base))
    assert refused.value.code == "NB_NO_TARGET"


def test_an_assertion_that_the_solution_does_not_keep_is_named(case: Case) -> None:
    never = FileAssertion(type="file", name="never", path="README.md", pattern="(")
    task = evolve(case.task, kind="fixture", source=VendoredSource(type="vendored"), assertion=(never,))
    finding = VerificationGate().check(evolve(case, task=task))
    assert (finding.verdict, finding.reasons) == ("fail", ("never|file: does not hold with the golden patch",))
    kept = {**case.golden.grading.outcomes, "never|file": Outcome.PASSED}
    assert (
        VerificationGate().check(evolve(case, task=task, golden=with_record(case.golden, outcomes=kept))).verdict
        == "pass"
    )


def test_a_suite_whose_command_breaks_is_refused(case: Case, tmp_path: Path) -> None:
    (suite,) = case.task.suite
    arena = evolve(case.arena, suites=(evolve(suite, command=("python", "-c", "print('odd'); raise SystemExit(4)")),))
    trials = {}
    for name, patch in (("base", b""), ("golden", case.change.golden)):
        (tmp_path / name).mkdir()
        trials[name] = try_patch(arena, patch, scratch=tmp_path / name)
    with pytest.raises(Refused) as refused:
        VerificationGate().check(evolve(case, base=trials["base"], golden=trials["golden"]))
    assert refused.value.code == "NB_NO_TARGET"
    assert refused.value.details == (
        "base: python gave 0 outcomes and ended with exit code 4",
        "golden: python gave 0 outcomes and ended with exit code 4",
        "  odd",
    )


def test_signals_that_disagree_are_a_reason_and_so_is_a_suite_of_targets_that_no_canary_watched(case: Case) -> None:
    (suite,) = case.golden.grading.record.suite
    assert suite.vouched > 0
    unseen = with_record(
        case.golden, suite=(evolve(suite, vouched=0, disagreement="exit status 0, and tests failed"),)
    )
    finding = VerificationGate().check(evolve(case, golden=unseen))
    assert finding.verdict == "fail"
    first, second = finding.reasons
    assert first == "golden: the signals of python: exit status 0, and tests failed"
    assert second.startswith("suite python: no canary was run in it")
