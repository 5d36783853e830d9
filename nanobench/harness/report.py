"""What Nanocoder says of a run with ``--json``: a class for each version whose report is another.

Field names are the report's own. The JSON Schemas made from these classes are checked in.
"""

from __future__ import annotations

from typing import Any, Literal

from attrs import frozen

from nanobench.model.fields import whole

# JavaScript's largest exact integer; token counts are far below.
_LARGEST = 2**53 - 1


@frozen(kw_only=True)
class ToolCall:
    """One executed call, in order. ``arguments`` is whatever JSON value the model wrote, a raw string when it was
    not JSON. A shell command that fails is a ``result``; ``error`` is a refused or crashed call."""

    name: str
    arguments: Any
    result: str | None
    error: str | None


@frozen(kw_only=True)
class ReportedUsage:
    """Token counts as Nanocoder summed them. Requests inside one turn are missing: the gateway's counts are right."""

    inputTokens: int = whole(0, _LARGEST)
    outputTokens: int = whole(0, _LARGEST)
    totalTokens: int = whole(0, _LARGEST)


@frozen(kw_only=True)
class Report:
    """The report. ``filesChanged`` lists the attempts of ``string_replace`` alone, also failed ones.

    ``finalText`` and ``reasoning`` join the text of all turns without a separator. ``message`` stands with kind
    ``error``, ``toolNames`` with kind ``tool-approval-required``. Of tokens it says nothing.
    """

    kind: Literal["success", "error", "tool-approval-required"]
    exitCode: Literal[0, 1, 2]
    finalText: str
    reasoning: str | None
    toolCalls: tuple[ToolCall, ...]
    filesChanged: tuple[str, ...]
    message: str | None = None
    toolNames: tuple[str, ...] | None = None


@frozen(kw_only=True)
class ReportWithUsage(Report):
    """The report. ``filesChanged`` lists attempts, also failed ones, and misses what the shell changed.

    ``finalText`` and ``reasoning`` join the text of all turns without a separator. ``usage`` is absent when no
    answer told it; ``message`` stands with kind ``error``, ``toolNames`` with kind ``tool-approval-required``.
    """

    usage: ReportedUsage | None = None
