from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from nanobench.gateway.summary import Summary
from nanobench.gateway.wire import WireEnd
from nanobench.harness.contract import CONTRACTS
from nanobench.harness.ending import Ending, ending
from nanobench.harness.invocation import MAX_TURNS
from nanobench.model.result import Cause, Usage
from nanobench.sandbox.interface import Ended, Finished

EXITED = Finished(exit_code=0, ended=Ended.EXITED, wall_ms=1)
WELL = Summary(
    usage=Usage(steps=2, tool_calls=1),
    requests=2,
    had_tools=True,
    last_had_tools=True,
    end=WireEnd(cause=Cause.FINISHED, status=200, detail="stop"),
    sampling_pinned=True,
)
SUCCESS: dict[str, Any] = {
    "kind": "success",
    "exitCode": 0,
    "finalText": "done",
    "reasoning": None,
    "toolCalls": [],
    "filesChanged": [],
}


SAID_ONLY = evolve(WELL, usage=evolve(WELL.usage, tool_calls=0))


def report(**changes: Any) -> bytes:
    return json.dumps(SUCCESS | changes).encode()


def failed(message: str) -> bytes:
    return report(kind="error", exitCode=1, message=message)


def wire(cause: Cause | None, **changes: Any) -> Summary:
    return evolve(WELL, end=WireEnd(cause=cause, status=changes.pop("status", None), detail="said"), **changes)


def end(
    stdout: bytes = b"", *, code: int = 0, stderr: bytes = b"", summary: Summary = WELL, ended: Ended = Ended.EXITED
) -> Ending:
    finished = evolve(EXITED, exit_code=code, ended=ended)
    return ending(finished, contract=CONTRACTS[-1], stdout=stdout, stderr=stderr, summary=summary)


def test_a_report_of_success_is_a_finished_run() -> None:
    found = end(report())
    assert found.cause is Cause.FINISHED
    assert found.report is not None


@pytest.mark.parametrize(
    "cause",
    [
        Cause.RATE_LIMIT,
        Cause.CONTEXT,
        Cause.PROVIDER_REFUSED,
        Cause.PROVIDER_FAILED,
        Cause.WIRE,
        Cause.TOKEN_BUDGET,
    ],
)
def test_exit_1_without_a_report_is_what_the_wire_saw(cause: Cause) -> None:
    found = end(code=1, stderr=b"[plain] boot\nServer error: x\n", summary=wire(cause, status=500))
    assert (found.cause, found.report) == (cause, None)
    assert found.detail == "500: said"


@pytest.mark.parametrize("cause", [Cause.TOKEN_BUDGET, Cause.COST_BUDGET, Cause.TIME_LIMIT])
def test_a_spent_budget_is_told_from_success(cause: Cause) -> None:
    assert end(report(), summary=wire(cause)).cause is cause


def test_the_turn_cap_is_told_from_success_and_from_other_errors() -> None:
    capped = evolve(WELL, last_had_tools=False)
    assert end(report(), summary=capped).cause is Cause.TURN_CAP
    message = "Conversation exceeded 200 turns without a final answer"
    assert end(failed(message), code=1, summary=wire(None)).cause is Cause.TURN_CAP
    assert end(failed("Model returned an empty response with no tool calls"), code=1).cause is Cause.AGENT_ERROR


def test_where_no_tools_are_offered_the_turn_cap_is_told_by_the_number_of_turns() -> None:
    textual = evolve(WELL, had_tools=False, last_had_tools=False)
    assert end(report(), summary=textual).cause is Cause.FINISHED
    capped = evolve(textual, usage=evolve(WELL.usage, steps=MAX_TURNS))
    assert end(report(), summary=capped).cause is Cause.TURN_CAP


@pytest.mark.parametrize(
    ("ended", "cause"),
    [
        (Ended.TIME, Cause.TIME_LIMIT),
        (Ended.MEMORY, Cause.MEMORY),
        (Ended.DISK, Cause.DISK),
        (Ended.INTERRUPTED, Cause.INTERRUPTED),
    ],
)
@pytest.mark.parametrize("stdout", [b"", report(), report()[:40]])
def test_a_limit_of_the_sandbox_is_the_cause_whatever_was_printed(ended: Ended, cause: Cause, stdout: bytes) -> None:
    assert end(stdout, code=137, ended=ended, summary=wire(Cause.RATE_LIMIT)).cause is cause


@pytest.mark.parametrize("stdout", [b"", report(), report()[:40]])
def test_time_that_was_up_because_the_machine_was_busy_is_not_the_agents(stdout: bytes) -> None:
    finished = evolve(EXITED, exit_code=137, ended=Ended.TIME, starved="others had 92 %")
    found = ending(finished, contract=CONTRACTS[-1], stdout=stdout, stderr=b"", summary=WELL)
    assert (found.cause, found.detail) == (Cause.STARVED, "others had 92 %")


@pytest.mark.parametrize("stdout", [b"\n", b"{}", report() + b"{}", b"Logs\n" + report(), report(exitCode="0")])
def test_a_broken_report_is_a_contract_error_even_when_all_else_went_well(stdout: bytes) -> None:
    found = end(stdout, summary=SAID_ONLY)
    assert (found.cause, found.report) == (Cause.CONTRACT, None)


def test_a_report_that_contradicts_the_exit_code_is_a_contract_error() -> None:
    assert end(report(), code=1, summary=SAID_ONLY).cause is Cause.CONTRACT
    asked = report(kind="tool-approval-required", exitCode=2, toolNames=["x"])
    assert end(asked, code=2, summary=SAID_ONLY).cause is Cause.CONTRACT


def test_an_agent_that_spoils_its_own_report_stays_in_the_denominator() -> None:
    unknown = evolve(WELL, usage=evolve(WELL.usage, tool_calls=None))
    for stdout, code in ((b"garbage" + report(), 0), (report(), 1), (b"{}", 0)):
        assert end(stdout, code=code).cause is Cause.AGENT_ERROR
        assert end(stdout, code=code, summary=unknown).cause is Cause.AGENT_ERROR
    assert end(code=127).cause is Cause.AGENT_ERROR


@pytest.mark.parametrize("cause", [Cause.PROVIDER_REFUSED, Cause.RATE_LIMIT, Cause.WIRE, Cause.CONTEXT])
def test_requests_that_the_agents_commands_send_do_not_turn_success_into_a_providers_failure(cause: Cause) -> None:
    assert end(report(), summary=wire(cause, status=404)).cause is Cause.FINISHED


def test_exit_0_without_a_report_is_a_signal_from_inside() -> None:
    found = end()
    assert found.cause is Cause.AGENT_ERROR
    assert "signal" in found.detail


@pytest.mark.parametrize(
    ("code", "stderr", "cause"),
    [
        (137, b"", Cause.AGENT_ERROR),
        (134, b"FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n", Cause.MEMORY),
        (1, b"Tool result is missing for tool call call_0_1.\n", Cause.AGENT_ERROR),
        (1, b"Cannot connect to API: connect ECONNREFUSED 127.0.0.1:41750\n", Cause.FORWARDER),
        (126, b"forward: listen EADDRINUSE\n", Cause.ENGINE),
        (127, b"forward: spawn ENOENT\n", Cause.ENGINE),
    ],
)
def test_a_silent_end_that_the_wire_did_not_see_is_read_from_code_and_stderr(
    code: int, stderr: bytes, cause: Cause
) -> None:
    begun = 0 if cause is Cause.ENGINE else 2
    assert end(code=code, stderr=stderr, summary=wire(None, requests=begun)).cause is cause


def test_an_agent_that_never_asked_was_called_wrongly() -> None:
    nothing = wire(None, requests=0, had_tools=False, last_had_tools=False)
    assert end(code=1, stderr=b"Invalid --mode value\n", summary=nothing).cause is Cause.CONTRACT
    assert end(failed("No providers configured."), code=1, summary=nothing).cause is Cause.CONTRACT


def test_words_are_bounded_and_always_encodable() -> None:
    found = end(code=1, stderr=b"\xff\x1b[31m" + b"x" * 100_000, summary=wire(None))
    assert len(found.detail) <= 500
    found.detail.encode()


@given(
    st.binary(max_size=60) | st.sampled_from([report(), failed("x")]),
    st.integers(0, 255),
    st.binary(max_size=60),
    st.sampled_from(Ended),
    st.sampled_from([None, *Cause]),
)
def test_every_end_has_exactly_one_cause(
    stdout: bytes, code: int, stderr: bytes, ended: Ended, cause: Cause | None
) -> None:
    found = end(stdout, code=code, stderr=stderr, ended=ended, summary=wire(cause))
    assert found.cause in Cause
    if found.cause is Cause.FINISHED:
        assert found.report is not None
        assert found.report.report.kind == "success"
