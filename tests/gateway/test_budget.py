"""Budgets: what counts, when it is spent, and the soft end that the client then gets."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from threading import Barrier, BrokenBarrierError
from typing import Any

import httpx
import pytest

from nanobench.gateway.answer import TokenCount
from nanobench.gateway.budget import Budget, Meter, Purse
from nanobench.gateway.exchange import Bytes, Chunk, Exchange, Fault
from nanobench.gateway.gateway import Gateway
from nanobench.model.provider import ModelPrice
from nanobench.model.result import Cause

Open = Callable[..., Gateway]
Connect = Callable[[Gateway], httpx.Client]
PRICE = ModelPrice(model="m", input="0.1", output="0.3", cached="0.01")


def purse(limit: str | None, spent: str = "0") -> tuple[Purse, list[Decimal]]:
    paid: list[Decimal] = []
    return Purse(None if limit is None else Decimal(limit), spent=Decimal(spent), keep=paid.append), paid


def exchange(**facts: Any) -> Exchange:
    request = Bytes.of(facts.pop("request", b"12345"))
    return Exchange(n=1, start_ms=0, end_ms=1, method="POST", path="/v1/chat/completions", request=request, **facts)


def test_a_run_has_no_bound_unless_one_is_set() -> None:
    meter = Meter(Budget())
    meter.count(exchange(usage=TokenCount(input=10**12, output=10**12)))
    assert (meter.spent(10**12), meter.left()) == (None, None)


def test_tokens_in_and_out_count_and_what_is_left_bounds_the_next_answer() -> None:
    meter = Meter(Budget(tokens=100))
    meter.count(exchange(usage=TokenCount(input=60, output=30)))
    assert (meter.spent(0), meter.left()) == (None, 10)
    meter.count(exchange(usage=TokenCount(input=60, output=30)))
    assert meter.spent(0) == (Fault.TOKEN_BUDGET, "180 of 100 tokens are used")
    assert meter.left() == 1


def test_an_unknown_usage_is_not_zero_but_what_it_can_have_been_at_most() -> None:
    meter = Meter(Budget(tokens=12))
    meter.count(exchange(status=200, chunks=(Chunk(ms=1, data=Bytes.of(b"1234567")),)))
    fault, words = meter.spent(0) or (None, "")
    assert fault is Fault.TOKEN_BUDGET
    assert words == "12 of 12 tokens are used; 1 answers told no usage and count with their bytes"


@pytest.mark.parametrize(
    ("facts", "tokens"),
    [
        ({"fault": Fault.TIMEOUT}, 5),
        ({"fault": Fault.DROPPED, "status": 200}, 5),
        ({"fault": Fault.ABANDONED}, 5),
        ({"fault": Fault.CONNECT}, 0),
        ({"fault": Fault.TLS}, 0),
        ({"fault": Fault.TOKEN_BUDGET}, 0),
        ({"fault": Fault.ENDPOINT}, 0),
        ({"status": 429}, 0),
        ({"status": 500}, 0),
    ],
)
def test_what_no_provider_answered_costs_nothing_and_what_it_may_have_begun_does(facts: Any, tokens: int) -> None:
    meter = Meter(Budget())
    meter.count(exchange(**facts))
    assert meter.tokens == tokens


def test_money_is_of_the_whole_run_and_kept_payment_by_payment() -> None:
    shared, paid = purse("0.00001", spent="0.000002")
    first, second = Meter(Budget(purse=shared, price=PRICE)), Meter(Budget(purse=shared, price=PRICE))
    assert first.left() == 26  # 8 of 10 millionths of a dollar are left; an output token costs 0.3
    first.count(exchange(usage=TokenCount(input=50, output=10, cached=0)))
    assert (shared.spent, second.spent(0)) == (Decimal("0.00001"), (Fault.COST_BUDGET, shared.exhausted()))
    assert paid == [Decimal("0.000008")]


def test_money_without_a_bound_is_only_counted() -> None:
    shared, paid = purse(None)
    meter = Meter(Budget(purse=shared, price=PRICE))
    meter.count(exchange(usage=TokenCount(input=10**9, output=0)))
    assert (meter.spent(0), meter.left(), paid) == (None, None, [Decimal(100)])


def test_seconds_are_counted_from_the_start_of_the_gateway() -> None:
    meter = Meter(Budget(seconds=2))
    assert meter.spent(1999) is None
    assert meter.spent(2000) == (Fault.TIME_BUDGET, "the 2 seconds are over")


def test_a_conversation_that_has_reached_the_context_limit_is_refused_as_its_model_would(
    open_gateway: Open, connect: Connect, provider: Any, chat: Any
) -> None:
    gateway = open_gateway(budget=Budget(context=110))  # what the first answer tells: 100 in, 10 out
    client = connect(gateway)
    answers = [client.post("chat/completions", json=chat) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 400]
    assert answers[1].json()["error"]["code"] == "context"
    assert len(provider.seen) == 1
    gateway.close()
    end = gateway.summary().end
    assert (end.cause, end.detail) == (
        Cause.CONTEXT,
        "the conversation has 110 tokens, of 110 that its context holds",
    )


def test_a_conversation_is_as_long_as_its_longest_request_whatever_else_is_asked() -> None:
    meter = Meter(Budget(context=100))
    for tokens in (60, 5):
        meter.count(exchange(usage=TokenCount(input=tokens, output=39)))
    assert (meter.longest, meter.spent(0)) == (99, None)
    meter.count(exchange(status=200, chunks=(Chunk(ms=1, data=Bytes.of(b"1" * 200)),)))
    assert meter.spent(0) is None  # bytes are no tokens
    meter.count(exchange(usage=TokenCount(input=61, output=39)))
    assert (meter.spent(0) or (None,))[0] is Fault.CONTEXT


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("budget", "cause"),
    [
        (lambda: Budget(tokens=110), Cause.TOKEN_BUDGET),
        (lambda: Budget(purse=purse("0.000001")[0], price=PRICE), Cause.COST_BUDGET),
    ],
)
def test_a_spent_budget_is_told_by_a_last_message_that_is_marked_and_no_provider_is_asked(
    budget: Callable[[], Budget],
    cause: Cause,
    stream: bool,
    open_gateway: Open,
    connect: Connect,
    provider: Any,
    chat: Any,
) -> None:
    gateway = open_gateway(budget=budget())
    client = connect(gateway)
    client.post("chat/completions", json=chat)
    answer = client.post("chat/completions", json={**chat, "stream": stream})
    assert answer.status_code == 200
    assert "[NanoBench, not the model] This run has used up a budget" in answer.text
    assert answer.headers["Content-Type"] == ("text/event-stream" if stream else "application/json")
    assert len(provider.seen) == 1
    gateway.close()
    summary = gateway.summary()
    assert (summary.end.cause, summary.usage.steps, summary.sampling_pinned) == (cause, 1, True)


def test_an_answer_may_not_be_longer_than_what_is_left(
    open_gateway: Open, connect: Connect, provider: Any, chat: Any
) -> None:
    gateway = open_gateway(budget=Budget(tokens=4500))
    client = connect(gateway)
    for most in (None, 100_000, 10, None, None):
        client.post("chat/completions", json={**chat, **({} if most is None else {"max_tokens": most})})
    sent = [None, 4390, 10, None, 4060]  # none is set where the client names none and much is left
    assert [body.get("max_tokens") for _, body in provider.seen] == sent
    gateway.close()
    assert [exchange.changes.get("max_tokens") for exchange in gateway.exchanges()] == [None, 4390, None, None, 4060]


def test_a_server_that_takes_no_cap_of_ours_is_asked_without_and_the_client_sees_only_that(
    open_gateway: Open, connect: Connect, provider: Any, chat: Any
) -> None:
    def answer(exchange: Any) -> None:
        if "max_tokens" in exchange.body:
            exchange.error(400, "This model's maximum context length is 8192 tokens. You requested 8193.")
        elif "temperature" in exchange.body:
            exchange.error(400, "temperature is not supported")
        else:
            exchange.say("well")

    provider.answer = answer
    gateway = open_gateway(budget=Budget(tokens=1000))
    client = connect(gateway)
    assert "well" in client.post("chat/completions", json=chat).text
    assert client.post("chat/completions", json={**chat, "max_tokens": 7}).status_code == 400
    gateway.close()
    faults = [exchange.fault for exchange in gateway.exchanges()]
    assert faults == [Fault.MAX_TOKENS, Fault.TEMPERATURE, None, None]
    assert gateway.summary().end.cause is Cause.CONTEXT


def test_a_budget_of_a_provider_that_tells_no_usage_holds(
    open_gateway: Open, connect: Connect, provider: Any, chat: Any
) -> None:
    def silent(exchange: Any) -> None:
        exchange.start()
        exchange.delta("stop", content="x" * 1000)
        exchange.done(usage=False)

    provider.answer = silent
    gateway = open_gateway(budget=Budget(tokens=1000))
    client = connect(gateway)
    answers = [client.post("chat/completions", json=chat).text for _ in range(2)]
    assert "not the model" not in answers[0] and "not the model" in answers[1]
    gateway.close()
    assert gateway.summary().usage.input_tokens is None
    assert "told no usage" in gateway.summary().end.detail


def test_many_requests_at_once_spend_no_more_than_one(
    open_gateway: Open, connect: Connect, provider: Any, chat: Any
) -> None:
    together = Barrier(2)

    def answer(exchange: Any) -> None:
        with suppress(BrokenBarrierError):
            together.wait(timeout=0.5)
        exchange.say("110 tokens")

    provider.answer = answer
    client = connect(open_gateway(budget=Budget(tokens=100)))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: client.post("chat/completions", json=chat).text, range(4)))
    assert len(provider.seen) == 1
    assert sum("not the model" in answer for answer in answers) == 3


def test_a_last_message_asks_for_nothing(open_gateway: Open, connect: Connect, chat: Any) -> None:
    client = connect(open_gateway(budget=Budget(seconds=0)))
    (choice,) = json.loads(client.post("chat/completions", json={**chat, "stream": False}).text)["choices"]
    assert (choice["finish_reason"], set(choice["message"])) == ("stop", {"role", "content"})
