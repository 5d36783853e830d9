"""What Nanocoder's versions differ in, seen in real runs: every payload is held against the checked-in schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nanobench.gateway.scripted.reply import Reply, ToolCall
from nanobench.harness.contract import CONTRACTS
from nanobench.model.result import Cause

pytestmark = pytest.mark.network

SCHEMAS = Path(__file__).parents[2] / "schemas"
FIX = {"path": "calc.py", "old_str": "a - b", "new_str": "a + b"}
WORK = (
    Reply(calls=(ToolCall(name="read_file", arguments={"path": "calc.py"}),)),
    Reply(calls=(ToolCall(name="string_replace", arguments=FIX),)),
    Reply(calls=(ToolCall(name="write_file", arguments={"path": "new.txt", "content": "new\n"}),)),
    Reply(calls=(ToolCall(name="execute_bash", arguments={"command": "echo x > by-shell.txt; exit 3"}),)),
    Reply(calls=(ToolCall(name="read_file", arguments={"path": "missing.py"}),)),
    Reply(text="Done."),
)
REPORTED = {"1.29.0": ("calc.py",), "1.30.0": ("calc.py", "new.txt")}


def payload_problems(stdout: bytes, version: str) -> list[str]:
    schema = json.loads((SCHEMAS / f"nanocoder-{version}-report.schema.json").read_bytes())
    return [error.message for error in Draft202012Validator(schema).iter_errors(json.loads(stdout))]


def test_a_version_keeps_its_contract_and_git_and_gateway_know_what_it_does_not_tell(each_agent: Any) -> None:
    run, _ = each_agent.talk(*WORK)
    version = each_agent.contract.version
    assert run.ending.cause is Cause.FINISHED, run.stderr
    assert payload_problems(run.stdout, version) == []
    parsed = run.ending.report
    assert parsed.unknown == ()
    assert [(call.name, call.error is None) for call in parsed.report.toolCalls] == [
        ("read_file", True),
        ("string_replace", True),
        ("write_file", True),
        ("execute_bash", True),
        ("read_file", False),
    ]
    # What each reports as changed is another list, and neither is what git sees.
    assert parsed.report.filesChanged == REPORTED[version]
    assert run.patch.files_changed == ("by-shell.txt", "calc.py", "new.txt")
    assert (getattr(parsed.report, "usage", None) is not None) == (version != "1.29.0")
    assert run.summary.usage.steps == 6
    assert run.summary.usage.input_tokens > 0 and run.summary.usage.output_tokens > 0


def test_a_version_says_why_it_failed_in_its_contracts_words(each_agent: Any) -> None:
    run, _ = each_agent.talk(Reply(text=""))
    assert run.ending.report.report.kind == "error"
    assert run.ending.report.report.message
    assert payload_problems(run.stdout, each_agent.contract.version) == []


def test_a_payload_that_lacks_a_field_is_seen_by_the_checked_in_schema_of_every_version() -> None:
    for contract in CONTRACTS:
        assert payload_problems(b'{"kind": "success", "exitCode": 0}', contract.version)
