from __future__ import annotations

import itertools
from typing import Any, get_args

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from nanobench.model.label import Halt, Label, Match, Signal
from nanobench.model.result import Cause, Mode
from nanobench.scoring.causes import POLICIES
from nanobench.scoring.taxonomy import RULES, STOPPED, Facts, Kind, judge

FAILED = Facts(
    mode="navigation",
    cause=Cause.FINISHED,
    changed=True,
    overlap=True,
    passed=0,
    targets=4,
    error="other",
    split=False,
)
"""A run that touched the right file and solved nothing; no rule matches it."""


def labels(**changes: Any) -> list[str]:
    """The label, and those of the later rules that match."""
    said = judge(evolve(FAILED, **changes))
    return [said.label, *(match.label for match in said.also_matched)]


NOTHING: dict[str, Any] = {"changed": False, "overlap": False}
ELSEWHERE = {"overlap": False}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # 1: stopped by context, token budget or rate limit, and nothing changed.
        ({"cause": Cause.CONTEXT, **NOTHING}, ["context_window_exceeded", "insufficient_context_read"]),
        ({"cause": Cause.TOKEN_BUDGET, **NOTHING}, ["context_window_exceeded", "insufficient_context_read"]),
        ({"cause": Cause.RATE_LIMIT, **NOTHING, "mode": "hinted"}, ["context_window_exceeded", "zero_signal"]),
        ({"cause": Cause.CONTEXT, **ELSEWHERE}, ["insufficient_context_read"]),
        ({"cause": Cause.CONTEXT}, ["unclassified"]),
        ({"cause": Cause.TURN_CAP, **NOTHING}, ["insufficient_context_read"]),
        ({"cause": Cause.TIME_LIMIT, **NOTHING}, ["insufficient_context_read"]),
        ({"cause": Cause.COST_BUDGET, **NOTHING}, ["insufficient_context_read"]),
        # 2: no required file, whatever the tests say.
        (ELSEWHERE, ["insufficient_context_read"]),
        ({**ELSEWHERE, "mode": "hinted"}, ["zero_signal"]),
        ({**ELSEWHERE, "passed": 4, "error": None}, ["insufficient_context_read"]),
        ({**ELSEWHERE, "error": "unknown_symbol"}, ["insufficient_context_read"]),
        # 3 and 4: full failure is less than half of the targets.
        ({"error": "unknown_symbol"}, ["hallucinated_api"]),
        ({"error": "unknown_symbol", "passed": 1}, ["hallucinated_api"]),
        ({"error": "unknown_symbol", "passed": 2}, ["partial_fix_only"]),
        ({"error": "unknown_symbol", "passed": 1, "targets": 3}, ["hallucinated_api"]),
        ({"error": "unknown_symbol", "passed": 2, "targets": 3}, ["partial_fix_only"]),
        ({"error": "interface", "mode": "hinted"}, ["wrong_abstraction_layer"]),
        ({"error": "interface", "passed": 2}, ["partial_fix_only"]),
        ({"error": "not_implemented"}, ["unclassified"]),
        # 5: at least half, up to all with something broken.
        ({"passed": 2}, ["partial_fix_only"]),
        ({"passed": 4, "error": None}, ["partial_fix_only"]),
        ({"passed": 1}, ["unclassified"]),
        # 6: navigation mode alone, and mostly in the shadow of 5.
        ({"passed": 2, "split": True}, ["partial_fix_only", "missing_cross_language_change"]),
        ({"passed": 1, "split": True}, ["missing_cross_language_change"]),
        ({"passed": 1, "split": True, "mode": "hinted"}, ["unclassified"]),
        ({**ELSEWHERE, "split": True}, ["insufficient_context_read", "missing_cross_language_change"]),
        ({"error": "interface", "split": True}, ["wrong_abstraction_layer", "missing_cross_language_change"]),
    ],
)
def test_the_table_of_the_rules_row_by_row(changes: dict[str, Any], expected: list[str]) -> None:
    assert labels(**changes) == expected


@pytest.mark.parametrize(
    ("changes", "rule", "level"),
    [
        ({"cause": Cause.CONTEXT, **NOTHING}, 1, "3"),
        (ELSEWHERE, 2, "1"),
        ({"error": "unknown_symbol"}, 3, "4"),
        ({"error": "interface"}, 4, "4"),
        ({"passed": 2}, 5, "1+2"),
        ({"split": True}, 6, "1"),
        ({}, None, None),
        ({"cause": Cause.GRADER_TAMPERED}, None, None),
    ],
)
def test_a_label_carries_the_rule_that_gave_it_and_its_level(
    changes: dict[str, Any], rule: int | None, level: str | None
) -> None:
    said = judge(evolve(FAILED, **changes))
    assert (said.rule, said.level) == (rule, level)


def test_a_later_rule_is_kept_with_its_own_number_and_level() -> None:
    said = judge(evolve(FAILED, passed=2, split=True))
    assert said.also_matched == (Match(label="missing_cross_language_change", rule=6, level="1"),)


def test_a_halt_is_told_whatever_the_label() -> None:
    halts = {cause: judge(evolve(FAILED, cause=cause)).halt for cause in Cause}
    assert {cause.value: halt for cause, halt in halts.items() if halt} == {halt: halt for halt in get_args(Halt)}


def test_of_a_patch_that_lies_to_the_grader_no_rule_is_asked() -> None:
    said = judge(
        evolve(FAILED, cause=Cause.GRADER_TAMPERED, **NOTHING, error="unknown_symbol"), ("reported_files_differ",)
    )
    assert (said.label, said.also_matched) == ("grader_tampered", ())
    assert said.signals == ("reported_files_differ",)


def test_signals_stand_beside_in_one_order_each_once() -> None:
    told: tuple[Signal, ...] = ("reported_files_differ", "not_implemented", "reported_files_differ")
    said = judge(evolve(FAILED, error="interface"), told)
    assert (said.label, said.signals) == ("wrong_abstraction_layer", ("not_implemented", "reported_files_differ"))


def facts() -> st.SearchStrategy[Facts]:
    """Every run that can be: an overlap is a change, and no more tests pass than there are."""

    def sound(run: Facts) -> Facts:
        return evolve(run, changed=run.changed or run.overlap, passed=min(run.passed, run.targets))

    return st.builds(
        Facts,
        mode=st.sampled_from(get_args(Mode)),
        cause=st.sampled_from([cause for cause, policy in POLICIES.items() if policy.scored]),
        changed=st.booleans(),
        overlap=st.booleans(),
        passed=st.integers(0, 9),
        targets=st.integers(1, 9),
        error=st.sampled_from((*get_args(Kind), None)),
        split=st.booleans(),
    ).map(sound)


@given(facts())
def test_every_run_has_exactly_one_label_and_every_match_is_kept_once(run: Facts) -> None:
    said = judge(run)
    kept = [said.rule, *(match.rule for match in said.also_matched)]
    if run.cause is Cause.GRADER_TAMPERED:
        assert kept == [None]
    else:
        matching = [rule.number for rule in RULES if rule.matches(run)]
        assert kept == [*matching] or (not matching and kept == [None])
    assert (said.label in ("unclassified", "grader_tampered")) == (said.rule is None)


IMPOSSIBLE = [(1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5), (3, 4), (3, 5), (4, 5)]


@given(facts())
def test_rules_that_exclude_each_other_never_match_both(run: Facts) -> None:
    matched = {rule.number for rule in RULES if rule.matches(run)}
    assert not [pair for pair in IMPOSSIBLE if set(pair) <= matched]


def test_every_other_pair_of_rules_does_meet() -> None:
    """So that the list above is as long as it can be."""
    runs = (
        Facts(mode="navigation", cause=cause, changed=overlap, overlap=overlap, passed=passed, targets=2,
              error=error, split=True)
        for cause in (Cause.FINISHED, Cause.CONTEXT) for overlap in (True, False)
        for passed in (0, 1) for error in get_args(Kind)
    )  # fmt: skip
    met = {pair for run in runs for pair in itertools.combinations([r.number for r in RULES if r.matches(run)], 2)}
    assert met == set(itertools.combinations(range(1, 7), 2)) - set(IMPOSSIBLE)


@given(facts(), st.permutations(get_args(Signal)))
def test_the_order_in_which_signals_come_says_nothing(run: Facts, signals: list[Signal]) -> None:
    assert judge(run, signals) == judge(run, get_args(Signal))


@given(facts())
def test_a_mode_changes_no_rule_but_the_name_of_the_second_and_the_sixth(run: Facts) -> None:
    hinted, navigation = (judge(evolve(run, mode=mode)) for mode in get_args(Mode))
    if hinted.rule == 2:
        assert (hinted.label, navigation.label) == ("zero_signal", "insufficient_context_read")
    elif navigation.rule != 6:
        assert hinted.label == navigation.label
    assert hinted.rule == navigation.rule or (hinted.rule, navigation.rule) == (None, 6)


def test_every_label_is_given_by_a_rule_or_stands_apart() -> None:
    given = {label for rule in RULES for label in (rule.hinted, rule.navigation)}
    assert given | {"unclassified", "grader_tampered"} == set(get_args(Label))
    assert [rule.number for rule in RULES] == [1, 2, 3, 4, 5, 6]
    assert {cause for cause in STOPPED if not POLICIES[cause].scored} == set()
