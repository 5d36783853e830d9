from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import httpx
import pytest

from nanobench.errors import Misuse, Refused
from nanobench.formats.documents import dump_json
from nanobench.gateway.scripted.behaviours import BEHAVIOURS
from nanobench.gateway.scripted.scene import Scene, Worth
from nanobench.gateway.upstream import Secret, Upstream
from nanobench.model.task import PathRules
from nanobench.runner.providers import Endpoint, Scripted
from nanobench.sources.change import Change

KEY = "sk-very-secret-key"
NOWHERE = Scene(
    change=Change(golden=b"", test=b"", source_files=(), test_files=()),
    base=Path("/nonexistent"),
    rules=PathRules(),
    required=(),
    targets={},
    worth=lambda _: Worth(passed=0, targets=1, broken=0),
)


def test_an_endpoint_is_the_same_for_every_task_and_its_facts_hold_no_key() -> None:
    address = Upstream(name="local", base_url="http://127.0.0.1:9/v1", key=Secret(KEY))
    endpoint = Endpoint(address=address, models=("m",))
    with endpoint.upstream(NOWHERE, "m") as upstream:
        assert upstream is address
    assert KEY not in dump_json(endpoint.facts).decode()
    assert KEY not in repr(endpoint)
    assert (endpoint.facts.kind, endpoint.facts.base_url) == ("openai-compatible", "http://127.0.0.1:9/v1")


def test_a_scripted_provider_serves_one_cell_and_is_gone_afterwards() -> None:
    scripted = Scripted(behaviour="nop", models=("m",))
    with scripted.upstream(NOWHERE, "m") as first, scripted.upstream(NOWHERE, "m") as second:
        assert first.base_url != second.base_url
        body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]}).encode()
        with urllib.request.urlopen(f"{first.base_url}/chat/completions", data=body) as answer:
            assert b"leave the project as it is" in answer.read()
    assert scripted.facts.kind == "scripted"
    assert scripted.facts.base_url is None


def test_the_scripted_provider_plays_what_its_model_is_called_and_says_which_parts_there_are() -> None:
    scripted = Scripted(models=("refused", "no-such"))
    body = {"model": "refused", "stream": True, "messages": []}
    with scripted.upstream(NOWHERE, "refused") as upstream:
        assert httpx.post(f"{upstream.base_url}/chat/completions", json=body).status_code == 401
    with pytest.raises(Misuse, match="no-such") as caught, scripted.upstream(NOWHERE, "no-such"):
        pass
    assert (caught.value.code, scripted.facts.name) == ("NB_BEHAVIOUR", "scripted")
    assert all(name in caught.value.hint for name in BEHAVIOURS)


def test_a_part_that_does_not_fit_a_task_says_why() -> None:
    scripted = Scripted(models=("hallucinate",))
    with pytest.raises(Refused, match="holds a function") as caught, scripted.upstream(NOWHERE, "hallucinate"):
        pass
    assert caught.value.code == "NB_PART"
