"""Why a run did not resolve its task: what the rule engine of :mod:`nanobench.scoring.labels` says."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from nanobench.model.fields import optional_whole, whole

Label = Literal[
    "context_window_exceeded",
    "insufficient_context_read",
    "zero_signal",
    "hallucinated_api",
    "wrong_abstraction_layer",
    "partial_fix_only",
    "missing_cross_language_change",
    "unclassified",
    "grader_tampered",
]
"""``grader_tampered`` comes before every rule, ``unclassified`` after them all; neither has a rule or a level."""

Level = Literal["1", "2", "3", "4", "1+2"]
"""How sure a rule is: 1 files changed, 2 test counts, 3 how the run ended, 4 what an error says (the least sure)."""

Halt = Literal["context", "rate_limit", "token_budget", "turn_cap", "time_limit", "cost_budget"]
"""What stopped an agent that had not come to its own end; the cause of the cell by the same name."""

Signal = Literal[
    "not_implemented",
    "test_not_updated",
    "correct_file_wrong_function",
    "environment_agency_failure",
    "narrated_without_edit",
    "reported_files_differ",
]
"""What stands beside a label and never is one."""


@frozen(kw_only=True)
class Match:
    """A rule that matches: its label, its number, its level."""

    label: Label
    rule: int = whole(1, 6)
    level: Level


@frozen(kw_only=True)
class Labelled:
    """The one label of a run that did not resolve its task, and the ``rule`` that gave it.

    ``also_matched`` are the later rules that match too, ``signals`` what else was seen, both in the order of the
    rules; ``halt`` is what stopped the agent, when something did.
    """

    label: Label
    rule: int | None = optional_whole(1, 6)
    level: Level | None = None
    also_matched: tuple[Match, ...] = ()
    signals: tuple[Signal, ...] = ()
    halt: Halt | None = None


@frozen(kw_only=True)
class Function:
    """A function of a required file at base: its first and last line, and whether the solution changes it."""

    first: int = whole(1, 10**7)
    last: int = whole(1, 10**7)
    changed: bool


@frozen(kw_only=True)
class Landmarks:
    """What a label must know of the task beside its lock; follows from the locked image and the solution. The blob
    ``landmarks``, the same for all cells of a task.

    ``names`` exist in the required files at base; ``introduced`` are others that the solution adds, and those that
    its tests add and no file of the base has; ``reshaped`` are functions of the required files whose parameters the
    solution changes, and the names that these gain; all sorted. ``functions`` are by required file.
    """

    schema: Literal[1]
    names: tuple[str, ...]
    introduced: tuple[str, ...]
    reshaped: tuple[str, ...]
    functions: dict[str, tuple[Function, ...]]
