"""Whose doing is it that a run ended so? One table; retries, scoring and reports derive from it.

Decisions taken here, where the rules leave room:

* A limit that the lock sets and the agent exhausts (time, memory, disk of its sandbox, turns, tokens) is the
  agent's: otherwise a run could leave the denominator by filling its disk. A disk or engine of the *host* that
  fails is :attr:`Cause.ENGINE`.
* The forwarder runs beside the agent and only something inside can kill it alone: the agent's.
* A time limit, the agent's or a suite's, that was up while others had most of the machine is the machine's.
* A rate limit is the provider's and is retried; when it stays, the run is scored and listed apart.
* A patch that makes the signals of its grading disagree is the agent's: worth nothing, and counted. Where they
  disagree without it too, the grader has failed.
* ``--max-cost`` is the user's limit of a whole run. How much of it a cell got depended on the others, so a cell that
  it cut short is scored and listed apart; one that it kept from starting was not run.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from attrs import frozen

from nanobench.model.result import Cause, ProviderFacts, Score


class Owner(StrEnum):
    """Whose doing an end is."""

    AGENT = "agent"
    PROVIDER = "provider"
    INFRASTRUCTURE = "infrastructure"
    GRADER = "grader"
    USER = "user"


class Denominator(StrEnum):
    """Where a finished cell is counted. The classes of all cells add up to the number of planned cells."""

    VALID = "valid"
    RATE_LIMITED = "rate_limited"
    CUT_SHORT = "cut_short"
    NOT_RUN = "not_run"
    PROVIDER = "provider"
    INFRASTRUCTURE = "infrastructure"
    GRADER = "grader"


@frozen(kw_only=True)
class Policy:
    """What follows from a cause: ``retries`` is the number of further attempts, at most."""

    owner: Owner
    retries: int
    scored: bool
    denominator: Denominator


def _agent() -> Policy:
    return Policy(owner=Owner.AGENT, retries=0, scored=True, denominator=Denominator.VALID)


def _provider(retries: int) -> Policy:
    return Policy(owner=Owner.PROVIDER, retries=retries, scored=False, denominator=Denominator.PROVIDER)


def _infrastructure(retries: int) -> Policy:
    return Policy(owner=Owner.INFRASTRUCTURE, retries=retries, scored=False, denominator=Denominator.INFRASTRUCTURE)


POLICIES: dict[Cause, Policy] = {
    Cause.FINISHED: _agent(),
    Cause.TURN_CAP: _agent(),
    Cause.TIME_LIMIT: _agent(),
    Cause.TOKEN_BUDGET: _agent(),
    Cause.CONTEXT: _agent(),
    Cause.MEMORY: _agent(),
    Cause.DISK: _agent(),
    Cause.FORWARDER: _agent(),
    Cause.AGENT_ERROR: _agent(),
    Cause.GRADER_TAMPERED: _agent(),
    Cause.RATE_LIMIT: Policy(owner=Owner.PROVIDER, retries=3, scored=True, denominator=Denominator.RATE_LIMITED),
    Cause.COST_BUDGET: Policy(owner=Owner.USER, retries=0, scored=True, denominator=Denominator.CUT_SHORT),
    Cause.NOT_RUN: Policy(owner=Owner.USER, retries=0, scored=False, denominator=Denominator.NOT_RUN),
    # A refused key does not mend itself: one more try tells a hiccup from a refusal.
    Cause.PROVIDER_REFUSED: _provider(1),
    Cause.PROVIDER_FAILED: _provider(3),
    Cause.WIRE: _provider(3),
    Cause.ENGINE: _infrastructure(2),
    Cause.STARVED: _infrastructure(2),
    Cause.INTERRUPTED: _infrastructure(2),
    # The agent's report broke its checked-in schema: ours to mend, never a zero score.
    Cause.CONTRACT: _infrastructure(1),
    Cause.GRADER: Policy(owner=Owner.GRADER, retries=1, scored=False, denominator=Denominator.GRADER),
}


def policy(cause: Cause) -> Policy:
    """What follows from ``cause``?"""
    return POLICIES[cause]


def no_model_usage(facts: ProviderFacts, score: Score | None, *, metered: bool) -> Literal[True] | None:
    """Was a cell scored though no model of a real provider has shown itself? Such a score is nobody's: the endpoint
    may be a double, or the agent never reached it.

    Args:
        metered: an answer told a token that a model made.
    """
    return True if score is not None and facts.kind != "scripted" and not metered else None
