"""Figures of a run: from the transcript alone, unknown where a provider kept them to itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from nanobench.errors import Refused
from nanobench.formats import json
from nanobench.gateway.exchange import Bytes, Chunk, Exchange
from nanobench.gateway.gateway import Gateway
from nanobench.gateway.summary import OTHER, summarise
from nanobench.gateway.transcript import read_transcript
from nanobench.gateway.upstream import Pins
from nanobench.model.result import Served


def test_steps_calls_and_tokens_are_counted(gateway: Gateway, client: httpx.Client, chat: Any, provider: Any) -> None:
    provider.answer = lambda e: e.call("read", "write") if e.turn == 0 else e.say("done")
    for _ in range(2):
        client.post("chat/completions", json=chat)
    gateway.close()
    summary = gateway.summary()
    usage = summary.usage
    assert (usage.steps, usage.tool_calls) == (2, 2)
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (200, 20, 8)
    assert usage.by_tool == {"read": 1, "write": 1}
    assert summary.served == (Served(model="served-m", fingerprint="fp_1", steps=2),)
    assert summary.metered
    assert summary.requests == 2


def test_tokens_are_unknown_when_one_answer_did_not_tell(
    gateway: Gateway, client: httpx.Client, chat: Any, provider: Any
) -> None:
    def silent(exchange: Any) -> None:
        exchange.start()
        exchange.delta("stop", content="x")
        exchange.done(usage=False)

    provider.answer = lambda e: silent(e) if e.turn else e.say("x")
    for _ in range(2):
        client.post("chat/completions", json=chat)
    gateway.close()
    assert (gateway.summary().usage.steps, gateway.summary().usage.input_tokens) == (2, None)
    assert gateway.summary().metered
    assert [who.fingerprint for who in gateway.summary().served] == ["fp_1", None]


def answered(*events: Any) -> Exchange:
    """An exchange in which the provider sent these events."""
    body = b"".join(b"data: " + json.dump(event) + b"\n\n" for event in events)
    return Exchange(
        n=1, start_ms=0, end_ms=1, method="POST", path="/v1/chat/completions", request=Bytes.of(b"{}"), tools=True,
        status=200, content_type="text/event-stream", chunks=(Chunk(ms=1, data=Bytes.of(body)),),
    ).with_usage()  # fmt: skip


def stop(model: str = "m", calls: tuple[str, ...] = (), usage: Any = None) -> Any:
    called = [{"index": n, "id": f"c{n}", "function": {"name": name}} for n, name in enumerate(calls)]
    choice = {"index": 0, "delta": {"tool_calls": called}, "finish_reason": "stop"}
    return {"model": model, "choices": [choice], "usage": usage}


def test_what_a_cache_took_in_is_known_where_it_is_told() -> None:
    counts = {"prompt_tokens": 9, "completion_tokens": 1}
    told = answered(stop(usage={**counts, "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 5}}))
    silent = answered(stop(usage=counts))
    assert summarise([told], Pins()).usage.cache_written_tokens == 5
    assert summarise([told, silent], Pins()).usage.cache_written_tokens is None


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 9, "completion_tokens": 0}])
def test_answers_that_tell_no_token_of_a_models_show_no_model(usage: Any) -> None:
    assert not summarise([answered(stop(usage=usage))], Pins()).metered


def test_names_that_a_provider_makes_up_are_bounded_and_no_call_and_no_step_is_lost() -> None:
    exchanges = [answered(stop(f"m{n}", calls=(f"t{n}", "rm -rf", "x" * 65))) for n in range(150)]
    summary = summarise(exchanges, Pins())
    by_tool = summary.usage.by_tool or {}
    assert (len(by_tool), len(summary.served)) == (100, 101)
    assert sum(by_tool.values()) == summary.usage.tool_calls == 450
    assert by_tool[OTHER] == 351
    assert (sum(who.steps for who in summary.served), summary.served[-1].model) == (150, OTHER)


def test_one_model_name_that_led_to_two_models_is_seen() -> None:
    summary = summarise([answered(stop("m-may")), answered(stop("m-june")), answered(stop("m-may"))], Pins())
    assert summary.served == (Served(model="m-may", steps=2), Served(model="m-june", steps=1))


def test_a_last_request_without_tools_is_told(gateway: Gateway, client: httpx.Client, chat: Any) -> None:
    client.post("chat/completions", json=chat)
    del chat["tools"]
    client.post("chat/completions", json=chat)
    gateway.close()
    summary = gateway.summary()
    assert (summary.had_tools, summary.last_had_tools, summary.usage.tool_calls) == (True, False, 0)


def test_where_no_request_offers_tools_the_number_of_calls_is_unknown(
    gateway: Gateway, client: httpx.Client, chat: Any
) -> None:
    del chat["tools"]
    client.post("chat/completions", json=chat)
    gateway.close()
    assert (gateway.summary().had_tools, gateway.summary().usage.tool_calls) == (False, None)


def test_a_seed_is_sent_and_recorded_beside_the_temperature_and_a_run_without_it_is_not_pinned(
    open_gateway: Any, connect: Any, provider: Any, chat: Any
) -> None:
    pins = Pins(temperature=1, seed=7)
    gateway = open_gateway(pins=pins)
    connect(gateway).post("chat/completions", json={**chat, "seed": 3})
    gateway.close()
    (_, body), (exchange,) = provider.seen[0], gateway.exchanges()
    assert (body["temperature"], body["seed"]) == (1, 7)
    assert (exchange.changes["temperature"], exchange.changes["seed"]) == (1, 7)
    assert gateway.summary().sampling_pinned
    assert not summarise([exchange], Pins(temperature=1, seed=8)).sampling_pinned


@pytest.fixture
def lines(gateway: Gateway, client: httpx.Client, chat: Any) -> list[bytes]:
    """A transcript of two exchanges, as lines."""
    for _ in range(2):
        client.post("chat/completions", json=chat)
    gateway.close()
    return gateway.transcript.read_bytes().splitlines(keepends=True)


def test_a_transcript_reads_back_and_tells_the_same_from_anywhere(
    gateway: Gateway, lines: list[bytes], tmp_path: Path
) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(b"".join(lines))
    assert summarise(read_transcript(copy), Pins()) == gateway.summary()
    assert len(lines) == 2


def damaged(line: bytes, **keys: Any) -> bytes:
    return json.dump(json.parse(line, where="t") | keys) + b"\n"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda line: line[:-1], "NB_TRANSCRIPT"),
        (lambda line: line[:-9], "NB_TRANSCRIPT"),
        (lambda line: b" " + line, "NB_TRANSCRIPT"),
        (lambda line: damaged(line, usage={"input": 1, "output": 1}), "NB_TRANSCRIPT"),
        (lambda line: damaged(line, request={"base64": "?"}), "NB_SCHEMA"),
        (lambda line: damaged(line, request={"base64": "eA==", "text": "x"}), "NB_SCHEMA"),
        (lambda line: damaged(line, request={}), "NB_SCHEMA"),
        (lambda line: damaged(line, chunks=[{"ms": 1, "data": {"base64": "?"}}]), "NB_SCHEMA"),
        (lambda line: damaged(line, fault="none of ours"), "NB_SCHEMA"),
        (lambda line: damaged(line, extra=1), "NB_SCHEMA"),
        (lambda line: damaged(line, n="1"), "NB_SCHEMA"),
        (lambda line: b"\xff\n", "NB_JSON"),
    ],
)
def test_a_damaged_line_is_refused_with_its_place(lines: list[bytes], tmp_path: Path, change: Any, code: str) -> None:
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(lines[0] + change(lines[1]))
    with pytest.raises(Refused) as caught:
        list(read_transcript(path))
    assert caught.value.code == code
    assert caught.value.where.startswith("damaged.jsonl:2")
