"""How did the agent's run end? Pure: from the sandbox's end, the two outputs, and the gateway's summary.

Nanocoder's exit code carries no cause, and after every provider error its stdout is empty; so the wire is asked
first, and stderr only where the wire saw nothing.
"""

from __future__ import annotations

import re

from attrs import frozen

from nanobench.errors import Refused
from nanobench.gateway.summary import Summary
from nanobench.harness.contract import Contract, ParsedReport
from nanobench.harness.invocation import MAX_TURNS
from nanobench.model.result import Cause
from nanobench.sandbox.interface import Ended, Finished

_STOPPED = {
    Ended.TIME: Cause.TIME_LIMIT,
    Ended.MEMORY: Cause.MEMORY,
    Ended.DISK: Cause.DISK,
    Ended.INTERRUPTED: Cause.INTERRUPTED,
}
_BUDGETS = (Cause.TOKEN_BUDGET, Cause.COST_BUDGET, Cause.TIME_LIMIT)
"""What the gateway ends a run for, so that it ends as a success."""
_CAP = re.compile(r"Conversation exceeded \d+ turns without a final answer")
_NO_MEMORY = re.compile(rb"JavaScript heap out of memory|Cannot allocate memory|ERR_WORKER_OUT_OF_MEMORY")
_NO_FORWARDER = re.compile(
    rb"^forward: |Cannot connect to API|ECONNREFUSED|ECONNRESET|other side closed|fetch failed|socket hang up",
    re.MULTILINE,
)
_DETAIL = 500


@frozen(kw_only=True)
class Ending:
    """Cause and words for it; the report when there is a sound one."""

    cause: Cause
    detail: str
    report: ParsedReport | None = None


def ending(finished: Finished, *, contract: Contract, stdout: bytes, stderr: bytes, summary: Summary) -> Ending:
    """The one cause of the end.

    A limit of the sandbox comes before everything (time that was up because the machine was busy is the machine's);
    a report that breaks the contract before what the wire says. A report of success is believed, unless a budget was
    spent or the turn cap reached: after a provider's error there is no report, and what the wire saw besides may be
    requests that the agent's commands sent.

    A broken report is the contract's only while no tool has run. After that, or where it is not known, the agent's
    commands could have written into it, and an agent must not be able to leave the denominator so.
    """
    stopped = Cause.STARVED if finished.starved else _STOPPED.get(finished.ended)
    try:
        report = contract.parse(stdout)
    except Refused as error:
        words = finished.starved or "; ".join((error.message, *error.details))
        return _ending(stopped or _broken(summary), words)
    if stopped is not None:
        return _ending(stopped, finished.starved or f"the sandbox was stopped: {finished.ended}", report)
    if report is None:
        cause, words = _silent(finished, stderr, summary)
        return _ending(cause, words)
    cause, words = _spoken(finished, report, summary)
    return _ending(cause, words, report)


def said_at(cause: Cause, report: ParsedReport | None) -> str | None:
    """The final text that is graded. A run out of disk may have left a tree that was not taken, so that no patch
    shows what it changed: it answers nothing."""
    return report.report.finalText if report and cause is not Cause.DISK else None


def _broken(summary: Summary) -> Cause:
    return Cause.CONTRACT if summary.usage.tool_calls == 0 else Cause.AGENT_ERROR


def _ending(cause: Cause, detail: str, report: ParsedReport | None = None) -> Ending:
    return Ending(cause=cause, detail=detail[:_DETAIL], report=report)


def _spoken(finished: Finished, parsed: ParsedReport, summary: Summary) -> tuple[Cause, str]:
    report = parsed.report
    if report.exitCode != finished.exit_code or report.kind == "tool-approval-required":
        return _broken(summary), f"kind {report.kind}, exit code {report.exitCode}, ended with {finished.exit_code}"
    if summary.end.cause in _BUDGETS:
        return summary.end.cause, summary.end.detail
    message = report.message or ""
    if _capped(summary) or _CAP.search(message):
        return Cause.TURN_CAP, message or "the last request was that of the last turn"
    if report.kind == "success":
        return Cause.FINISHED, summary.end.detail
    if summary.requests == 0:
        return Cause.CONTRACT, f"Nanocoder did not begin: {message}"
    return _wire(summary) or (Cause.AGENT_ERROR, message)


def _capped(summary: Summary) -> bool:
    """Whether the last turn was had: then no tools are offered any more. Where they never are, turns are counted."""
    if summary.had_tools:
        return not summary.last_had_tools
    return summary.usage.steps >= MAX_TURNS


def _silent(finished: Finished, stderr: bytes, summary: Summary) -> tuple[Cause, str]:
    code, last = finished.exit_code, _last_line(stderr)
    if code in (126, 127) and summary.requests == 0:
        return Cause.ENGINE, f"the agent could not be started: {last}"
    if _NO_MEMORY.search(stderr):
        return Cause.MEMORY, last
    if code >= 128:
        return Cause.AGENT_ERROR, f"signal {code - 128}, sent inside the sandbox"
    if code == 0:
        return Cause.AGENT_ERROR, "told to stop by a signal from inside the sandbox: exit 0 without a report"
    wire = _wire(summary)
    if wire is not None:
        return wire
    if _NO_FORWARDER.search(stderr):
        return Cause.FORWARDER, last
    if summary.requests == 0:
        return Cause.CONTRACT, f"Nanocoder did not begin: {last}"
    return Cause.AGENT_ERROR, last


def _wire(summary: Summary) -> tuple[Cause, str] | None:
    """What went wrong on the wire, if anything."""
    end = summary.end
    if end.cause in (None, Cause.FINISHED):
        return None
    return end.cause, ": ".join(part for part in (str(end.status or ""), end.detail) if part)


def _last_line(stderr: bytes) -> str:
    lines = [line for line in stderr[-8192:].decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "nothing on stderr"
