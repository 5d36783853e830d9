"""What of a request goes on with the user's key: nothing that would lead out of the sandbox by way of a provider."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from nanobench.gateway.dialects import DIALECTS
from nanobench.gateway.exchange import Fault
from nanobench.gateway.gateway import Gateway

Open = Callable[..., Gateway]
Connect = Callable[[Gateway], httpx.Client]


@pytest.mark.parametrize(
    ("wire", "more"),
    [
        ("openai-compatible", {"plugins": [{"id": "web"}]}),
        ("openai-compatible", {"web_search_options": {}}),
        ("openai-compatible", {"models": ["dear"]}),
        ("openai-compatible", {"n": 128}),
        ("openai-compatible", {"tools": [{"type": "web_search"}]}),
        ("openai-compatible", {"tools": {"type": "function"}}),
        ("openai-compatible", {"tools": [{"type": ["function"]}]}),
        ("anthropic", {"mcp_servers": [{"type": "url", "url": "https://elsewhere.example"}]}),
        ("anthropic", {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]}),
    ],
)
def test_a_provider_is_asked_for_nothing_but_answers(
    wire: Any, more: dict[str, Any], open_gateway: Open, connect: Connect, provider: Any, chat: Any
) -> None:
    gateway = open_gateway(kind=wire)
    asked = {**chat, "tools": [], **more}
    answer = connect(gateway).post(DIALECTS[wire].endpoint.lstrip("/"), json=asked)
    assert (answer.status_code, provider.seen) == (400, [])
    assert "not forwarded" in answer.text
    gateway.close()
    (exchange,) = gateway.exchanges()
    assert (exchange.fault, gateway.summary().requests) == (Fault.FEATURE, 0)
