from __future__ import annotations

import json
import urllib.request

from nanobench.formats.documents import dump_json
from nanobench.gateway.upstream import Secret, Upstream
from nanobench.runner.providers import Endpoint, Scripted
from nanobench.sources.change import Change

KEY = "sk-very-secret-key"
NOTHING = Change(golden=b"", test=b"", source_files=(), test_files=())


def test_an_endpoint_is_the_same_for_every_task_and_its_facts_hold_no_key() -> None:
    address = Upstream(name="local", base_url="http://127.0.0.1:9/v1", key=Secret(KEY))
    endpoint = Endpoint(address=address, models=("m",))
    with endpoint.upstream(NOTHING) as upstream:
        assert upstream is address
    assert KEY not in dump_json(endpoint.facts).decode()
    assert KEY not in repr(endpoint)
    assert (endpoint.facts.kind, endpoint.facts.base_url) == ("openai-compatible", "http://127.0.0.1:9/v1")


def test_a_scripted_provider_serves_one_cell_and_is_gone_afterwards() -> None:
    scripted = Scripted(behaviour="nop", models=("nop",))
    with scripted.upstream(NOTHING) as first, scripted.upstream(NOTHING) as second:
        assert first.base_url != second.base_url
        body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]}).encode()
        with urllib.request.urlopen(f"{first.base_url}/chat/completions", data=body) as answer:
            assert b"leave the project as it is" in answer.read()
    assert scripted.facts.kind == "scripted"
    assert scripted.facts.base_url is None
