from __future__ import annotations

import pytest

from nanobench.model.result import Cause
from nanobench.scoring.causes import POLICIES, Denominator, Owner, policy


def test_every_cause_has_one_policy() -> None:
    assert set(POLICIES) == set(Cause)


@pytest.mark.parametrize("cause", Cause)
def test_what_is_the_agents_is_scored_once_and_nothing_else_is_counted_with_it(cause: Cause) -> None:
    rule = policy(cause)
    assert (rule.owner is Owner.AGENT) == (rule.denominator is Denominator.VALID)
    assert rule.owner is not Owner.AGENT or (rule.scored and rule.retries == 0)
    assert 0 <= rule.retries <= 3


@pytest.mark.parametrize(
    "cause",
    [Cause.PROVIDER_REFUSED, Cause.PROVIDER_FAILED, Cause.WIRE, Cause.ENGINE, Cause.CONTRACT, Cause.GRADER],
)
def test_what_is_not_the_agents_is_never_scored_and_retried_with_a_bound(cause: Cause) -> None:
    assert not policy(cause).scored and policy(cause).retries > 0


def test_how_often_each_is_tried_again() -> None:
    again = {cause: policy(cause).retries for cause in Cause if policy(cause).retries}
    assert again == {
        Cause.RATE_LIMIT: 3,
        Cause.PROVIDER_REFUSED: 1,
        Cause.PROVIDER_FAILED: 3,
        Cause.WIRE: 3,
        Cause.ENGINE: 2,
        Cause.STARVED: 2,
        Cause.INTERRUPTED: 2,
        Cause.CONTRACT: 1,
        Cause.GRADER: 1,
    }


@pytest.mark.parametrize("cause", [Cause.CONTEXT, Cause.TOKEN_BUDGET, Cause.TURN_CAP, Cause.TIME_LIMIT])
def test_the_four_halts_are_the_agents(cause: Cause) -> None:
    assert policy(cause).owner is Owner.AGENT and policy(cause).scored


def test_a_final_rate_limit_is_scored_and_counted_apart() -> None:
    rule = policy(Cause.RATE_LIMIT)
    assert rule.owner is Owner.PROVIDER and rule.scored
    assert rule.denominator is Denominator.RATE_LIMITED


def test_an_agent_cannot_leave_the_denominator_by_exhausting_its_sandbox() -> None:
    assert all(policy(c).denominator is Denominator.VALID for c in (Cause.DISK, Cause.MEMORY, Cause.FORWARDER))


def test_money_of_the_run_is_nobodys_failure_and_never_tried_again() -> None:
    short, never = policy(Cause.COST_BUDGET), policy(Cause.NOT_RUN)
    assert {rule.owner for rule in (short, never)} == {Owner.USER}
    assert (short.scored, never.scored, short.retries, never.retries) == (True, False, 0, 0)
    assert (short.denominator, never.denominator) == (Denominator.CUT_SHORT, Denominator.NOT_RUN)
