"""The rules that give a failure its label, by section 6 of the rules, in the order in which they are asked. Pure.

The first that matches gives the label; those that match after it are kept beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, get_args

from attrs import frozen

from nanobench.model.label import Halt, Label, Labelled, Level, Match, Signal
from nanobench.model.result import Cause, Mode

Kind = Literal["unknown_symbol", "interface", "not_implemented", "other"]
"""What a target test can fail of, in the order in which ties are decided."""


@frozen(kw_only=True)
class Facts:
    """What the rules look at.

    ``changed``: a file differs from the base commit; ``overlap``: a required file does. ``passed`` of ``targets``
    target tests pass. ``error`` is the dominant one of those that do not, ``split``: of one language all locked tests
    pass, of another a target does not.
    """

    mode: Mode
    cause: Cause
    changed: bool
    overlap: bool
    passed: int
    targets: int
    error: Kind | None
    split: bool

    @property
    def full_failure(self) -> bool:
        """Do less than half of the target tests pass?"""
        return 2 * self.passed < self.targets


@frozen(kw_only=True)
class Rule:
    """One rule: its number, the words of the rules that it carries out, its level, its labels by mode."""

    number: int
    words: str
    level: Level
    hinted: Label
    navigation: Label
    matches: Callable[[Facts], bool]

    def match(self, mode: Mode) -> Match:
        """What it says where it matches."""
        label = self.navigation if mode == "navigation" else self.hinted
        return Match(label=label, rule=self.number, level=self.level)


STOPPED = frozenset((Cause.CONTEXT, Cause.TOKEN_BUDGET, Cause.RATE_LIMIT))
"""A spent token budget is to the agent what a full context is."""


def _stopped_at_once(facts: Facts) -> bool:
    return facts.cause in STOPPED and not facts.changed


def _elsewhere(facts: Facts) -> bool:
    return not facts.overlap


def _unknown_name(facts: Facts) -> bool:
    return facts.overlap and facts.full_failure and facts.error == "unknown_symbol"


def _mismatch(facts: Facts) -> bool:
    return facts.overlap and facts.full_failure and facts.error == "interface"


def _partial(facts: Facts) -> bool:
    return facts.overlap and not facts.full_failure


def _one_language(facts: Facts) -> bool:
    return facts.mode == "navigation" and facts.split


def _rule(number: int, level: Level, label: Label, words: str, matches: Callable[[Facts], bool]) -> Rule:
    return Rule(number=number, words=words, level=level, hinted=label, navigation=label, matches=matches)


RULES = (
    _rule(
        1,
        "3",
        "context_window_exceeded",
        "agent stopped on a context-size or rate-limit error or a spent token budget and changed no file",
        _stopped_at_once,
    ),
    Rule(
        number=2,
        words="no overlap (before any test output is read)",
        level="1",
        hinted="zero_signal",
        navigation="insufficient_context_read",
        matches=_elsewhere,
    ),
    _rule(
        3,
        "4",
        "hallucinated_api",
        "overlap, full failure, missing-symbol error on a symbol that does not exist in the required files at base",
        _unknown_name,
    ),
    _rule(4, "4", "wrong_abstraction_layer", "overlap, full failure, type or interface mismatch", _mismatch),
    _rule(5, "1+2", "partial_fix_only", "overlap and at least half of the target tests pass", _partial),
    _rule(
        6,
        "1",
        "missing_cross_language_change",
        "navigation mode, polyglot: one language's suite passes whole, another's fails",
        _one_language,
    ),
)
"""In the order in which they are asked."""


def judge(facts: Facts, signals: Iterable[Signal] = ()) -> Labelled:
    """The one label of a scored run that did not resolve its task.

    Args:
        signals: what was seen beside; kept in the order of the rules, each once.
    """
    seen = set(signals)
    beside = tuple(signal for signal in get_args(Signal) if signal in seen)
    if facts.cause is Cause.GRADER_TAMPERED:  # nothing that its tests say is believed
        return Labelled(label="grader_tampered", signals=beside)
    halt: Halt | None = next((halt for halt in get_args(Halt) if halt == facts.cause.value), None)
    matches = tuple(rule.match(facts.mode) for rule in RULES if rule.matches(facts))
    if not matches:
        return Labelled(label="unclassified", signals=beside, halt=halt)
    first, *later = matches
    return Labelled(
        label=first.label,
        rule=first.rule,
        level=first.level,
        also_matched=tuple(later),
        signals=beside,
        halt=halt,
    )
