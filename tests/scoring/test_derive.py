from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.errors import Refused
from nanobench.model.result import Outcome
from nanobench.scoring.derive import derive_tests, regressions

P, F = Outcome.PASSED, Outcome.FAILED


def test_targets_turn_green_and_the_rest_stays_green() -> None:
    tests = derive_tests({"s|keep": P, "s|fix": F, "s|off": F}, {"s|keep": P, "s|fix": P, "s|new": P, "s|off": F})
    assert tests.fail_to_pass == ("s|fix", "s|new")
    assert tests.pass_to_pass == ("s|keep",)


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not P])
def test_only_a_pass_with_the_golden_patch_makes_a_target(outcome: Outcome) -> None:
    tests = derive_tests({"s|a": F, "s|b": outcome}, {"s|a": outcome, "s|b": P})
    assert tests.fail_to_pass == ("s|b",)
    assert tests.pass_to_pass == ()


def test_a_quarantined_test_is_never_used_for_grading() -> None:
    tests = derive_tests({"s|a": F, "s|q": F, "s|r": P}, {"s|a": P, "s|q": P, "s|r": P}, quarantine=["s|r", "s|q"])
    assert (tests.fail_to_pass, tests.pass_to_pass, tests.unstable) == (("s|a",), (), ("s|q", "s|r"))


def test_a_quarantine_that_names_no_test_is_refused() -> None:
    with pytest.raises(Refused, match=r"NB_QUARANTINE: t: quarantine: (?s:.*)s\|typo"):
        derive_tests({"s|a": F}, {"s|a": P}, quarantine=["s|typo"], where="t")


def test_a_change_that_turns_no_test_green_is_not_a_task() -> None:
    with pytest.raises(Refused, match="NB_NO_TARGET"):
        derive_tests({"s|a": P}, {"s|a": P})


def test_what_the_golden_patch_breaks_is_named() -> None:
    base, golden = {"s|a": P, "s|b": P, "s|c": F, "s|q": P}, {"s|a": P, "s|c": P}
    assert regressions(base, golden, quarantine=["s|q"]) == ("s|b",)


runs = st.dictionaries(st.sampled_from([f"s|{i}" for i in range(8)]), st.sampled_from(Outcome))


@given(base=runs, golden=runs)
def test_every_green_test_is_in_exactly_one_list(base: dict[str, Outcome], golden: dict[str, Outcome]) -> None:
    green = {t for t, o in golden.items() if o is P}
    try:
        tests = derive_tests(base, golden)
    except Refused:
        assert green <= {t for t, o in base.items() if o is P}
        return
    assert set(tests.fail_to_pass) | set(tests.pass_to_pass) == green
    assert not set(tests.fail_to_pass) & set(tests.pass_to_pass)
    assert not set(regressions(base, golden)) & green
