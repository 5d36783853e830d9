"""Nanocoder's own Anthropic client, through the gateway, against a server that speaks the Messages wire."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from attrs import frozen

from nanobench.gateway.upstream import Secret, Upstream
from nanobench.model.result import Cause, Served

pytestmark = pytest.mark.network

KEY = "sk-ant-0123456789-secret"


def _block(index: int, start: dict[str, Any], delta: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        {"type": "content_block_delta", "index": index, "delta": delta},
        {"type": "content_block_stop", "index": index},
    ]


def message(*blocks: list[dict[str, Any]], stop: str) -> list[dict[str, Any]]:
    """The events of one answer."""
    usage = {"input_tokens": 20, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 70, "output_tokens": 1}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "served-m", "usage": usage}
    return [
        {"type": "message_start", "message": {**head, "stop_reason": None, "stop_sequence": None}},
        {"type": "ping"},
        *(event for block in blocks for event in block),
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 9},
        },
        {"type": "message_stop"},
    ]


def tool(name: str, **arguments: str) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": {}}
    return _block(0, call, {"type": "input_json_delta", "partial_json": json.dumps(arguments)})


def text(said: str) -> list[dict[str, Any]]:
    return _block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": said})


@frozen
class Refusal:
    """An answer that is an error."""

    status: int
    type: str
    message: str

    @property
    def body(self) -> dict[str, Any]:
        return {"type": "error", "error": {"type": self.type, "message": self.message}}


class Claude:
    """Says its turns one after the other; remembers who asked what."""

    def __init__(self, *turns: Any) -> None:
        self.turns = turns
        self.seen: list[tuple[web.Request, dict[str, Any]]] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.seen.append((request, await request.json()))
        turn = self.turns[min(len(self.seen), len(self.turns)) - 1]
        if isinstance(turn, Refusal):
            return web.json_response(turn.body, status=turn.status, headers={"retry-after-ms": "1"})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        for event in turn:
            await response.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        await response.write_eof()
        return response


@pytest.fixture
def ask(agent: Any, serve: Callable[..., str]) -> Callable[..., tuple[Any, Claude]]:
    """Run the agent against a server that says these turns."""

    def run(*turns: Any, **options: Any) -> tuple[Any, Claude]:
        claude = Claude(*turns)
        upstream = Upstream(name="double", kind="anthropic", base_url=serve(claude.answer), key=Secret(KEY))
        return agent.run(upstream, **options), claude

    return run


def test_an_edit_is_made_recorded_and_counted(ask: Any) -> None:
    run, claude = ask(
        message(tool("read_file", path="calc.py"), stop="tool_use"),
        message(tool("string_replace", path="calc.py", old_str="a - b", new_str="a + b"), stop="tool_use"),
        message(text("Fixed."), stop="end_turn"),
    )
    assert run.ending.cause is Cause.FINISHED, run.stderr
    assert run.patch.files_changed == ("calc.py",)
    usage = run.summary.usage
    assert (usage.steps, usage.tool_calls) == (3, 2)
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (279, 27, 210)
    assert (usage.cache_written_tokens, usage.by_tool) == (9, {"read_file": 1, "string_replace": 1})
    assert run.summary.served == (Served(model="served-m", steps=3),)
    assert run.summary.sampling_pinned
    for request, body in claude.seen:
        assert request.path == "/v1/messages"
        assert request.headers["x-api-key"] == KEY
        assert request.headers["anthropic-version"] == "2023-06-01"
        assert "Authorization" not in request.headers
        assert (body["temperature"], body["stream"], "stream_options" in body) == (0, True, False)
    assert KEY.encode() not in run.stdout + run.stderr


TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
ENDS = {
    "context": (Refusal(400, "invalid_request_error", TOO_LONG), Cause.CONTEXT, 1),
    "rate": (Refusal(429, "rate_limit_error", "slow down"), Cause.RATE_LIMIT, 3),
    "overloaded-in-stream": ([*message(text("so"), stop="end_turn")[:4], OVERLOADED], Cause.PROVIDER_FAILED, 1),
}


@pytest.mark.parametrize(("turn", "cause", "requests"), ENDS.values(), ids=ENDS)
def test_its_errors_end_a_run_by_their_cause(ask: Any, turn: Any, cause: Cause, requests: int) -> None:
    run, _ = ask(turn)
    assert (run.ending.cause, run.summary.requests) == (cause, requests), run.stderr
    assert run.stdout == b""
