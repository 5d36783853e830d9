"""Readers of hostile bytes: answers, and the key that must not pass."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.formats import json as canonical
from nanobench.formats.converter import structure, unstructure
from nanobench.gateway.answer import TokenCount
from nanobench.gateway.dialects import DIALECTS, Dialect
from nanobench.gateway.exchange import Bytes, Exchange
from nanobench.gateway.redact import Redactor
from nanobench.gateway.upstream import Secret

read_answer = DIALECTS["openai-compatible"].read
KEY = "abacabadabacaba"
KEYS = [
    "choices",
    "delta",
    "message",
    "messages",
    "tool_calls",
    "index",
    "usage",
    "error",
    "code",
    "content",
    "type",
    "content_block",
    "stop_reason",
    "input_tokens",
    "output_tokens",
    "text",
    "function",
    "arguments",
    "id",
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


WIRES = st.sampled_from(list(DIALECTS.values()))


@given(WIRES, st.binary(max_size=200), st.sampled_from(["text/event-stream", "application/json", ""]))
def test_no_bytes_make_a_reader_fail(dialect: Dialect, body: bytes, kind: str) -> None:
    dialect.read(kind, body)


@given(WIRES, ANYTHING, st.booleans())
def test_no_json_makes_a_reader_fail_and_all_it_says_can_be_recorded(
    dialect: Dialect, document: Any, stream: bool
) -> None:
    body = json.dumps(document).encode()
    said = ("text/event-stream", b"data: " + body + b"\n\n") if stream else ("", body)
    canonical.dump(unstructure(dialect.read(*said)))
    if isinstance(document, dict):
        canonical.dump([unstructure(heard) for heard in dialect.heard(document)])


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_of_the_gateways_own_is_one_that_ends_a_conversation(dialect: Dialect, stream: bool) -> None:
    answer = dialect.read(
        "text/event-stream" if stream else "application/json", dialect.closing("enough", stream=stream)
    )
    assert (answer.whole, answer.text, answer.tool_calls, answer.error) == (True, "enough", 0, None)
    refusal = dialect.read("application/json", json.dumps(dialect.error("no", "model")).encode())
    assert refusal.error is not None and refusal.error.message == "no"


def test_usage_of_a_message_is_known_when_its_last_event_has_come() -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 1}
    start = {"type": "message_start", "message": {"usage": usage, "content": []}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
    lines = [b"data: " + json.dumps(event).encode() + b"\n\n" for event in (start, end)]
    read = DIALECTS["anthropic"].read
    assert read("text/event-stream", lines[0]).usage is None
    assert read("text/event-stream", b"".join(lines)).usage == TokenCount(input=8, output=9, cached=3, written=0)


@pytest.mark.parametrize("told", [-400, 10**30, "3", 1.5, True])
def test_a_part_of_a_messages_input_that_is_no_count_makes_its_usage_unknown_not_less(told: Any) -> None:
    usage = {"input_tokens": 5, "cache_creation_input_tokens": told, "output_tokens": 1}
    message = {"type": "message", "content": [], "stop_reason": "end_turn", "usage": usage}
    assert DIALECTS["anthropic"].read("application/json", json.dumps(message).encode()).usage is None


PIECES = {
    "openai-compatible": (
        {"choices": [{"delta": {"role": "assistant", "content": ""}}]},
        {"choices": [{"delta": {"reasoning_content": "hm"}}]},
        *({"choices": [{"delta": {"content": part}}]} for part in ("ANS", "WER: ", "x")),
    ),
    "anthropic": (
        {"type": "content_block_start", "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_start", "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": part}}
            for part in ("ANS", "WER: ", "x")
        ),
    ),
}


@pytest.mark.parametrize(("name", "dialect"), DIALECTS.items(), ids=DIALECTS)
def test_what_a_model_said_is_put_together_from_its_pieces_without_its_thoughts(name: str, dialect: Dialect) -> None:
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in PIECES[name])
    assert dialect.read("text/event-stream", body).text == "ANSWER: x"


def test_an_unfinished_last_event_is_not_read() -> None:
    body = b'data: {"choices": [{"finish_reason": "stop"}]}'
    assert not read_answer("text/event-stream", body).whole
    assert read_answer("text/event-stream", body + b"\r\n\r\n").whole


def test_comments_and_names_of_events_are_skipped() -> None:
    body = b': PROCESSING\n\nevent: x\nid: 1\ndata: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: [DONE]\n\n'
    answer = read_answer("text/event-stream; charset=utf-8", body)
    assert (answer.text, answer.done, answer.tool_calls) == ("a", True, 0)


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": 1}, {"prompt_tokens": -1, "completion_tokens": 2}, 7, None])
def test_a_usage_that_is_none_is_unknown(usage: Any) -> None:
    assert read_answer("", json.dumps({"choices": [], "usage": usage}).encode()).usage is None


def test_usage_may_stand_in_the_closing_chunk_or_apart() -> None:
    tokens = {"prompt_tokens": 5, "completion_tokens": 2}
    both = [{"choices": [{"finish_reason": "stop"}], "usage": tokens}, {"choices": [], "usage": None}]
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in both)
    assert read_answer("text/event-stream", body).usage == TokenCount(input=5, output=2)


@given(st.binary(max_size=300))
def test_bytes_survive_the_transcript(data: bytes) -> None:
    exchange = Exchange(n=1, start_ms=0, end_ms=1, method="POST", path="/", request=Bytes.of(data))
    line = canonical.dump(unstructure(exchange))
    assert structure(canonical.parse(line, where="t"), Exchange, where="t").request.raw() == data


@given(st.lists(st.one_of(st.text("abcd", max_size=20), st.just(KEY), st.just(KEY[:7]), st.just(KEY[7:]))))
def test_a_key_passes_in_no_chunking_and_nothing_else_is_lost(parts: list[str]) -> None:
    redactor = Redactor(Secret(KEY))
    fed = [redactor.feed(part.encode()) for part in parts]
    out = (b"".join(fed) + redactor.end()).decode()
    assert KEY not in out
    assert out == "".join(parts).replace(KEY, "***")


def test_nothing_is_held_back_that_cannot_be_a_key() -> None:
    assert Redactor(Secret(KEY)).feed(b"data: x\n\n") == b"data: x\n\n"
    assert Redactor(Secret("none")).feed(b"none") == b"none"
    assert Redactor(None).feed(b"abac") == b"abac"
