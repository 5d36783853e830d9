"""Budgets of whole runs: the real agent against a server that counts, and what the bundle then says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from attrs import evolve

from nanobench.bundle.read import open_bundle
from nanobench.gateway.scripted.reply import Reply, ToolCall, events
from nanobench.model.provider import Budgets
from nanobench.project.files import Project

USAGE = {"prompt_tokens": 900_000, "completion_tokens": 100_000, "total_tokens": 1_000_000}
FILE = """\
schema = 1
[[provider]]
name = "counted"
base_url = "{}"
models = ["m"]
[[provider.price]]
model = "m"
input = "1"
output = "10"
"""


async def work(request: web.Request) -> web.StreamResponse:
    """A model that always wants another look, at 1.90 USD a turn."""
    asked = await request.json()
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    look = ToolCall(name="execute_bash", arguments={"command": "touch seen"})
    turn = sum(message["role"] == "assistant" for message in asked["messages"])
    for event in events(Reply(calls=(look,)), {**asked, "stream_options": None}, turn=turn):
        if event == b"data: [DONE]\n\n":
            await response.write(b"data: " + json.dumps({"choices": [], "usage": USAGE}).encode() + b"\n\n")
        await response.write(event)
    await response.write_eof()
    return response


@pytest.fixture
def run(serve: Callable[..., str], nanobench: Any, repository: Project, demo: str, tmp_path: Path) -> Any:
    def ask(*options: object) -> Any:
        (tmp_path / "providers.toml").write_text(FILE.format(serve(work)))
        provider = ("--provider", "counted", "--providers", tmp_path / "providers.toml")
        place = ("--offline", "--jobs", "1", "--out", tmp_path / "bundle", "--project", repository.root)
        return nanobench("run", demo, *provider, *place, *options)

    return ask


def test_spent_tokens_end_the_agent_softly_and_its_patch_is_graded(run: Any, tmp_path: Path) -> None:
    done = run("--max-tokens", 1_500_000, "--json")
    assert done.code == 0, done.err
    assert "tokens: at most 1500000" in done.err
    assert "cost: at most 15 USD" in done.err
    assert "spent: 3.8 USD" in done.err
    (result,) = done.document["results"]
    assert (result["cause"], result["score"]["value"], result["usage"]["steps"]) == ("token_budget", "0.0", 2)
    assert result["attempts"][0]["detail"] == "2000000 of 1500000 tokens are used"
    assert result["files_changed"] == ["seen"]
    report = json.loads((tmp_path / f"bundle/blobs/sha256/{result['blobs']['report']}").read_bytes())
    assert "[NanoBench, not the model]" in report["finalText"]
    facts = json.loads((tmp_path / "bundle/run.json").read_bytes())
    assert facts["budgets"] == {"max_tokens": 1_500_000}
    assert facts["provider"]["price"] == [{"model": "m", "input": "1", "output": "10"}]


def test_spent_money_cuts_the_cell_at_work_short_and_lists_the_others_as_not_run(run: Any, tmp_path: Path) -> None:
    done = run("--max-cost", "2", "--repeats", "3", "--json")
    assert done.code == 0, done.err
    first, *others = done.document["results"]
    assert (first["cause"], first["score"]["value"], first["usage"]["steps"]) == ("cost_budget", "0.0", 2)
    assert [other["cause"] for other in others] == ["not_run", "not_run"]
    assert not any("score" in other for other in others)
    assert "not scored, and no part of any figure: 2 not_run" in done.err
    bundle = open_bundle(tmp_path / "bundle")
    assert list(bundle.integrity_problems()) == []
    unbound = evolve(bundle, run=evolve(bundle.run, budgets=Budgets()))
    assert sum("though the run's cost had no bound" in problem for problem in unbound.integrity_problems()) == 3


def test_seconds_that_are_over_end_the_agent_softly_too(run: Any, tmp_path: Path) -> None:
    done = run("--max-seconds", 1, "--json")
    (result,) = done.document["results"]
    assert (result["cause"], "score" in result) == ("time_limit", True), done.err
    assert result["attempts"][0]["detail"] == "the 1 seconds are over"
    assert "report" in result["blobs"]


def test_a_dry_run_says_what_a_plan_uses_at_most_and_starts_nothing(run: Any, tmp_path: Path) -> None:
    done = run("--dry-run", "--max-tokens", 1000, "--max-cost", "0.025", "--repeats", "3", "--json")
    assert done.document["cells"] == 3
    assert (done.document["tokens"], done.document["cost"]) == (3000, "0.025")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["providers.toml"]


def test_money_that_cannot_be_counted_cannot_be_bounded(nanobench: Any, repository: Project, demo: str) -> None:
    place = ("--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--project", repository.root)
    done = nanobench("run", demo, *place, "--max-cost", "1")
    assert (done.code, "NB_PRICE: --max-cost: no price is known of m" in done.err) == (2, True)
    for wrong in ("-1", "1e3", "0x1", "1,50", "nan"):
        assert nanobench("run", demo, *place, "--max-cost", wrong).code == 2
