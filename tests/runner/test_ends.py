"""How whole runs end: the real agent in its sandbox, a provider of our own, one attempt, what it comes to.

All that providers do is in tests/gateway/test_provider_table.py. Of whole runs, a refused key and a rate limit are in
tests/cli/test_run_providers.py, budgets in tests/cli/test_run_budgets.py, and what the sandbox ends, in both engines,
in tests/runner/test_sandbox_ends.py.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from attrs import frozen

from nanobench.gateway.upstream import Upstream
from nanobench.model.result import Cause, CellResult
from nanobench.scoring.causes import policy

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
AGAIN = {"retry-after-ms": "1"}  # the agent asks three times; this way without waiting
LONG = {"error": {"message": "maximum context length is 8192 tokens"}}


def whole(status: int, document: Any, kind: str = "application/json") -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=json.dumps(document), content_type=kind, headers=AGAIN)

    return answer


def delta(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def streams(*events: dict[str, Any], broken: bool = False) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in events:
            await response.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        if broken and request.transport is not None:
            request.transport.close()
            return response
        await response.write(b"data: [DONE]\n\n")
        return response

    return answer


def calls(**call: Any) -> Answer:
    return streams(delta(tool_calls=[{"index": 0, "type": "function", **call}]), delta("tool_calls"))


def first(answer: Answer) -> Answer:
    """The model does so once, and sees what comes of it."""
    said = streams(delta(content="I see.", role="assistant"), delta("stop"))

    async def turns(request: web.Request) -> web.StreamResponse:
        spoke = any(message["role"] == "assistant" for message in (await request.json())["messages"])
        return await (said if spoke else answer)(request)

    return turns


@frozen
class Row:
    """A provider, what a run with it comes to, and how often it was asked."""

    name: str
    answer: Answer
    cause: Cause
    steps: int = 0


ROWS = (
    Row("unknown-tool", first(calls(id="c", function={"name": "no_such", "arguments": "{}"})), Cause.FINISHED, 2),
    Row(
        "broken-arguments", first(calls(id="c", function={"name": "read_file", "arguments": '{"'})), Cause.FINISHED, 2
    ),
    Row("empty-answer", streams(delta("stop")), Cause.AGENT_ERROR, 1),
    Row("context-in-stream", streams(delta(content="so far"), LONG), Cause.CONTEXT),
    Row("overloaded", whole(529, {"error": {"message": "Overloaded"}}), Cause.PROVIDER_FAILED),
    Row("html", whole(200, "<html>", "text/html"), Cause.PROVIDER_FAILED),
    Row("call-without-id", calls(function={"name": "read_file", "arguments": "{}"}), Cause.PROVIDER_FAILED, 1),
    Row("drops", streams(delta(content="so far"), broken=True), Cause.WIRE),
)


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_a_run_ends_by_its_cause_and_is_scored_by_the_table(
    row: Row, serve: Callable[[Answer], str], real_attempt: Callable[..., CellResult]
) -> None:
    result = real_attempt(Upstream(name="double", base_url=serve(row.answer)))
    assert (result.cause, result.usage.steps) == (row.cause, row.steps), result.attempts
    assert (result.score is not None) == policy(row.cause).scored
    assert result.score is None or result.score.value == "0.0"
