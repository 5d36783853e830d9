from __future__ import annotations

import itertools
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.model.result import Mode, Outcome, Score
from nanobench.scoring.score import LABELS, Value, score

PASSED, FAILED = Outcome.PASSED, Outcome.FAILED
TARGETS = ("py|a", "py|b", "py|c", "py|d")
KEPT = ("py|x", "py|y")


def scored(passing: int, *, broken: bool = False, touched: bool = True, mode: Mode = "hinted") -> Score:
    outcomes = {t: PASSED if i < passing else FAILED for i, t in enumerate(TARGETS)}
    outcomes |= {"py|x": FAILED if broken else PASSED, "py|y": PASSED}
    return score(
        outcomes=outcomes,
        fail_to_pass=TARGETS,
        pass_to_pass=KEPT,
        files_changed=("a.py", "z.py") if touched else ("z.py",),
        required_files=("a.py", "b.py"),
        mode=mode,
    )


@pytest.mark.parametrize(
    ("passing", "broken", "touched", "mode", "value"),
    [
        (4, False, True, "hinted", "1.0"),
        (4, False, False, "hinted", "1.0"),
        (4, True, True, "hinted", "0.5"),
        (4, True, False, "navigation", "0.0"),
        (2, False, True, "hinted", "0.5"),
        (2, False, False, "hinted", "0.0"),
        (1, False, True, "hinted", "0.0"),
        (1, False, True, "navigation", "0.1"),
        (0, False, True, "navigation", "0.1"),
        (0, False, False, "navigation", "0.0"),
        (3, True, True, "navigation", "0.5"),
    ],
)
def test_the_table_of_the_rules_row_by_row(
    passing: int, broken: bool, touched: bool, mode: Mode, value: Value
) -> None:
    assert scored(passing, broken=broken, touched=touched, mode=mode).value == value


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not PASSED])
def test_no_outcome_but_passed_is_a_pass(outcome: Outcome) -> None:
    result = score(
        outcomes={"py|a": outcome, "py|x": outcome},
        fail_to_pass=["py|a"],
        pass_to_pass=["py|x"],
        files_changed=["f"],
        required_files=["f"],
        mode="hinted",
    )
    assert (result.value, result.targets_passed, result.broken) == ("0.0", 0, ("py|x",))


def test_a_test_that_nobody_reported_did_not_pass() -> None:
    result = score(
        outcomes={},
        fail_to_pass=["py|a"],
        pass_to_pass=["py|x"],
        files_changed=[],
        required_files=["f"],
        mode="navigation",
    )
    assert (result.value, result.broken, result.resolved) == ("0.0", ("py|x",), False)


def test_what_the_score_was_computed_from_stands_beside_it() -> None:
    result = scored(3, broken=True)
    assert (result.targets_passed, result.targets) == (3, 4)
    assert (result.broken, result.required_touched) == (("py|x",), ("a.py",))


def test_every_value_has_its_label() -> None:
    assert set(LABELS) == set(get_args(Value))
    assert LABELS["1.0"] == "Complete Resolution" and LABELS["0.0"] == "Zero Signal"


names = st.sampled_from([f"py|{i}" for i in range(12)])
cases = st.fixed_dictionaries(
    {
        "outcomes": st.dictionaries(names, st.sampled_from(Outcome)),
        "fail_to_pass": st.sets(names, min_size=1),
        "pass_to_pass": st.sets(names),
        "files_changed": st.sets(st.sampled_from("abc")),
        "required_files": st.sets(st.sampled_from("abc"), min_size=1),
        "mode": st.sampled_from(get_args(Mode)),
    }
)


@given(case=cases)
def test_value_label_and_resolved_always_agree(case: dict[str, Any]) -> None:
    result = score(**case)
    assert result.label == LABELS[result.value]
    assert result.resolved == (result.value == "1.0")
    assert result.resolved == (result.targets_passed == result.targets and not result.broken)


@given(case=cases, test=names)
def test_one_more_passing_test_never_lowers_the_score(case: dict[str, Any], test: str) -> None:
    better = case | {"outcomes": case["outcomes"] | {test: PASSED}}
    assert float(score(**better).value) >= float(score(**case).value)


@given(case=cases, file=st.sampled_from("abc"))
def test_one_more_changed_file_never_lowers_the_score(case: dict[str, Any], file: str) -> None:
    more = case | {"files_changed": case["files_changed"] | {file}}
    assert float(score(**more).value) >= float(score(**case).value)


@given(case=cases)
def test_navigation_is_never_worth_less_than_hinted(case: dict[str, Any]) -> None:
    values = [float(score(**(case | {"mode": mode})).value) for mode in ("hinted", "navigation")]
    assert values[0] <= values[1]


@given(case=cases)
def test_the_order_of_the_inputs_does_not_matter(case: dict[str, Any]) -> None:
    turned: dict[str, Any] = {
        key: dict(reversed(value.items())) if isinstance(value, dict) else sorted(value, reverse=True)
        for key, value in case.items()
        if key != "mode"
    }
    assert score(**case) == score(**turned, mode=case["mode"])


def test_pathfinding_exists_in_navigation_only() -> None:
    for passing, broken, touched in itertools.product(range(5), (False, True), (False, True)):
        assert scored(passing, broken=broken, touched=touched).value != "0.1"
