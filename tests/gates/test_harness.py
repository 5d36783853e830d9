"""The real agent in the demo task's image, driven by the provider that only talks."""

from __future__ import annotations

import pytest
from attrs import evolve

from nanobench.gates import harness
from nanobench.gates.harness import HarnessGate
from nanobench.gates.interface import Case
from nanobench.gateway.scripted.reply import Messages, Reply, ToolCall
from nanobench.model.fields import Digest


def meddling(messages: Messages) -> Reply:
    """Writes a file before it talks."""
    call = ToolCall(name="write_file", arguments={"path": "meddled.txt", "content": "x"})
    return Reply(text="done") if any(m.get("role") == "tool" for m in messages) else Reply(calls=(call,))


def test_the_locked_agent_passes_and_the_evidence_is_the_same_everywhere(case: Case) -> None:
    finding = HarnessGate().check(case)
    assert (finding.verdict, finding.reasons) == ("pass", ())
    assert finding.evidence == {
        "version": case.harness.nanocoder,
        "cause": "finished",
        "steps": 1,
        "report_schema_sha256": case.harness.report_schema_sha256,
        "unknown_fields": [],
        "shadowed": [],
        "recorded": [],
    }


def test_another_version_a_changed_file_and_a_hidden_required_file_are_three_reasons(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "nop", meddling)
    build = evolve(case.harness.original, tarball=Digest(f"sha256:{'0' * 64}"))
    locked = evolve(case.harness, nanocoder="1.31.0", original=build)
    task = evolve(case.task, required_files=("unidiff/patch.py", ".mcp.json"))
    finding = HarnessGate().check(evolve(case, harness=locked, task=task))
    assert finding.verdict == "fail"
    version, changed, hidden = finding.reasons
    assert f"it says version '{case.harness.nanocoder}', locked is 1.31.0" == version
    assert changed == "the idle run changed meddled.txt"
    assert hidden == "required file .mcp.json is never shown to the agent"
    assert "--upgrade-input harness" in finding.remedy
    assert not list((case.bench.store.root / "scratch").glob("harness-*"))
