"""What agent and model said to each other, step by step, on either wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nanobench.gateway.answer import Call, Heard
from nanobench.gateway.exchange import Bytes, Chunk, Exchange, Fault
from nanobench.gateway.trajectory import Step, ToolUse, trajectory

CALL = Call(id="a", name="read_file", arguments='{"path": "ä.py"}')
OTHER = Call(id="b", name="bash", arguments='{"command": "ls"}')


def exchange(n: int, path: str, request: Any, *events: Any, kind: str = "text/event-stream", **more: Any) -> Exchange:
    """An exchange with that request, answered by these events (or by the one document)."""
    said = [json.dumps(event) for event in events]
    body = "".join(f"data: {text}\n\n" for text in said) if kind == "text/event-stream" else "".join(said)
    return Exchange(
        n=n, start_ms=n, end_ms=n, method="POST", path=path, request=Bytes.of(json.dumps(request).encode()),
        status=200, content_type=kind, chunks=(Chunk(ms=n, data=Bytes.of(body.encode())),), **more,
    )  # fmt: skip


def delta(**said: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": said, "finish_reason": None}]}


def openai() -> list[Exchange]:
    pieces = (CALL.arguments[:7], CALL.arguments[7:])
    streamed = (
        delta(content="I look."),
        delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "read_file", "arguments": pieces[0]}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": pieces[1]}}]),
        delta(tool_calls=[{"index": 1, "id": "b", "function": {"name": "bash", "arguments": OTHER.arguments}}]),
    )
    asked = [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": [{"type": "text", "text": "Mend."}]},
    ]
    own = {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "a"}, {"id": "b"}]}
    answered = [own, {"role": "tool", "tool_call_id": "a", "content": "x = 1"}, {"role": "user", "content": "Go on."}]
    message = {"choices": [{"index": 0, "message": {"content": "Done."}, "finish_reason": "stop"}]}
    path = "/v1/chat/completions"
    return [
        exchange(1, path, {"messages": asked}, *streamed),
        exchange(2, path, {"messages": asked + answered}, message, kind="application/json"),
    ]


def anthropic() -> list[Exchange]:
    block = {"type": "tool_use", "id": "a", "name": "read_file", "input": {}}
    text = {"type": "text", "text": ""}
    streamed = (
        {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": text},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I look."}},
        {"type": "content_block_start", "index": 1, "content_block": block},
        *(
            {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": part}}
            for part in (CALL.arguments[:7], CALL.arguments[7:])
        ),
        {"type": "content_block_start", "index": 2, "content_block": {**block, "id": "b", "name": "bash"}},
        {"type": "content_block_delta", "index": 2, "delta": {"partial_json": OTHER.arguments}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
    )
    asked = [{"role": "user", "content": "Mend."}]
    result = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "x = 1"}]}
    answered = [
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, block]},
        {"role": "user", "content": [result, {"type": "text", "text": "Go on."}]},
    ]
    whole = {"type": "message", "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"}
    path = "/v1/messages"
    return [
        exchange(1, path, {"system": "Be good.", "messages": asked}, *streamed),
        exchange(2, path, {"system": "Be good.", "messages": asked + answered}, whole, kind="application/json"),
    ]


@pytest.mark.parametrize("wire", [openai, anthropic])
def test_calls_stand_with_their_results_and_nothing_is_told_twice(wire: Any) -> None:
    first, second = trajectory(wire())
    assert first.told == (Heard("system", "Be good."), Heard("user", "Mend."))
    assert first.said == "I look."
    assert first.uses == (ToolUse(call=CALL, result="x = 1"), ToolUse(call=OTHER, result=None))
    assert second.told == (Heard("user", "Go on."),)
    assert (second.said, second.uses) == ("Done.", ())


def test_a_call_that_comes_in_one_piece_has_its_arguments_as_text() -> None:
    block = {"type": "tool_use", "id": "a", "name": "read_file", "input": {"path": "ä.py"}}
    message = {"type": "message", "content": [block], "stop_reason": "tool_use"}
    (step,) = trajectory([exchange(1, "/v1/messages", {"messages": []}, message, kind="application/json")])
    assert step.uses == (ToolUse(call=CALL),)


def test_a_request_that_is_no_json_is_a_step_with_its_fault() -> None:
    bad = Exchange(
        n=1, start_ms=0, end_ms=0, method="POST", path="/v1/chat/completions", request=Bytes.of(b"\xff{"),
        fault=Fault.MALFORMED, detail="no JSON",
    )  # fmt: skip
    (step,) = trajectory([bad])
    assert isinstance(step, Step) and (step.fault, step.detail, step.told) == (Fault.MALFORMED, "no JSON", ())


def test_a_call_whose_result_is_told_much_later_has_none() -> None:
    first, second = openai()
    silent = exchange(2, first.path, {"messages": []})
    assert [use.result for use in next(iter(trajectory([first, silent, second]))).uses] == [None, None]
