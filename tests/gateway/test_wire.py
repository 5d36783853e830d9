"""What ended a run, as seen on the wire: every row is played by a provider over TCP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from nanobench.gateway.answer import ApiError
from nanobench.gateway.gateway import Gateway
from nanobench.gateway.wire import cause_of
from nanobench.model.result import Cause


def test_a_run_that_recovers_from_a_rate_limit_has_finished(
    gateway: Gateway, client: httpx.Client, chat: Any, provider: Any
) -> None:
    provider.answer = lambda exchange: exchange.say("ok") if exchange.turn else exchange.error(429, "slow down")
    assert [client.post("chat/completions", json=chat).status_code for _ in range(2)] == [429, 200]
    gateway.close()
    summary = gateway.summary()
    assert (summary.end.cause, summary.usage.steps, summary.requests) == (Cause.FINISHED, 1, 2)


def test_how_long_to_wait_reaches_the_client(client: httpx.Client, chat: Any, provider: Any) -> None:
    provider.answer = lambda exchange: exchange.whole(429, b"{}", Retry_After="3", Retry_After_Ms="1", X_Other="no")
    headers = client.post("chat/completions", json=chat).headers
    assert (headers["Retry-After"], headers["Retry-After-Ms"], headers.get("X-Other")) == ("3", "1", None)


def test_the_client_s_own_mistakes_end_no_run(
    gateway: Gateway, client: httpx.Client, chat: Any, provider: Any
) -> None:
    client.post("chat/completions", json=chat)
    client.get("models")
    gateway.close()
    assert gateway.summary().end.cause is Cause.FINISHED


def test_a_run_without_a_request_shows_no_end(gateway: Gateway) -> None:
    gateway.close()
    summary = gateway.summary()
    assert (summary.end.cause, summary.usage.steps, summary.usage.input_tokens) == (None, 0, None)
    assert (summary.had_tools, summary.last_had_tools) == (False, False)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ApiError(status=400, message="prompt is too long: 210000 tokens > 200000 maximum"), Cause.CONTEXT),
        (
            ApiError(status=400, message="The input token count (9) exceeds the maximum number of tokens"),
            Cause.CONTEXT,
        ),
        (ApiError(status=200, message="Rate limit reached mid-stream"), Cause.RATE_LIMIT),
        (ApiError(status=403, message="rate limit of your plan"), Cause.PROVIDER_REFUSED),
        (ApiError(status=400, code="insufficient_quota"), Cause.PROVIDER_REFUSED),
        (ApiError(status=300), Cause.PROVIDER_REFUSED),
        (ApiError(status=499), Cause.PROVIDER_REFUSED),
        (ApiError(status=500), Cause.PROVIDER_FAILED),
        (ApiError(), Cause.PROVIDER_FAILED),
    ],
)
def test_the_words_of_other_providers_are_known(error: ApiError, cause: Cause) -> None:
    assert cause_of(error) is cause
