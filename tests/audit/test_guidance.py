"""Whether the project's AGENTS.md was in the agent's prompt is seen in a real first request."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.audit.guidance import guidance
from nanobench.bundle.read import open_bundle
from nanobench.gateway.exchange import Bytes, Exchange
from nanobench.gateway.transcript import read_transcript
from nanobench.model.profile import Profile

GUIDE = "Always use tabs.\n"
SHOWN = f"\n\nAdditional Context...\n\n{GUIDE}"

pytestmark = pytest.mark.network


@pytest.fixture
def told(nop_bundle: Path, tmp_path: Path) -> Callable[..., list[str]]:
    """What is said of the idle agent's run, had its prompt ended so and its profile been this."""
    bundle = open_bundle(nop_bundle)
    result = bundle.result(bundle.run.cells[0])
    first: Exchange = next(read_transcript(nop_bundle / "blobs/sha256" / result.blobs.transcript))

    def ask(added: str, *, on: bool | None, guide: str | None = GUIDE, harness: str | None = None) -> list[str]:
        body: Any = json.loads(first.request.raw())
        body["messages"][0]["content"] += added
        exchange = evolve(first, request=Bytes.of(json.dumps(body).encode()))
        profiles = None if on is None else (Profile(name="p", agents_md=on),)
        cell = evolve(result.cell, profile="p" if profiles else None, harness=harness or result.cell.harness)
        if guide is not None:
            (tmp_path / "AGENTS.md").write_text(guide)
        return list(guidance(evolve(bundle.run, profiles=profiles), cell, [exchange], tmp_path))

    return ask


@pytest.mark.parametrize(("added", "on"), [(SHOWN, True), (SHOWN, None), ("", False)])
def test_a_prompt_as_the_profile_has_it_is_right(told: Any, added: str, on: bool | None) -> None:
    assert told(added, on=on) == []


@pytest.mark.parametrize(("added", "on", "has"), [(SHOWN, False, "holds"), ("", True, "does not hold")])
def test_a_setting_that_was_changed_afterwards_is_named(told: Any, added: str, on: bool, has: str) -> None:
    (problem,) = told(added, on=on)
    assert problem.endswith(f": agents_md: published {str(on).lower()}, and its first request {has} the AGENTS.md")


def test_where_there_is_no_such_file_or_the_agents_words_are_unknown_nothing_is_said(told: Any) -> None:
    assert told(SHOWN, on=False, guide=None) == []
    assert told(SHOWN, on=False, harness="nanocoder-packed") == []
