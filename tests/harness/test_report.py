from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from nanobench.errors import Refused
from nanobench.formats import json as canonical
from nanobench.harness import contract
from nanobench.harness.contract import CONTRACTS, Contract
from nanobench.harness.report import Report, ReportWithUsage

OLD, NEW = CONTRACTS
ROOT = Path(__file__).resolve().parents[2]
GOOD: dict[str, Any] = {
    "kind": "success",
    "exitCode": 0,
    "finalText": "done",
    "reasoning": None,
    "toolCalls": [{"name": "read_file", "arguments": {"path": "a.py"}, "result": "x", "error": None}],
    "filesChanged": ["a.py"],
    "usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5},
}


def encode(document: Any) -> bytes:
    return (json.dumps(document, indent=2) + "\n").encode()


def reasons(data: bytes) -> str:
    with pytest.raises(Refused) as caught:
        NEW.parse(data)
    assert caught.value.code == "NB_REPORT_CONTRACT"
    return str(caught.value)


@pytest.mark.parametrize("each", CONTRACTS, ids=lambda each: each.version)
def test_the_checked_in_schema_is_what_the_classes_say_and_is_a_schema(each: Contract) -> None:
    stored = (ROOT / "schemas" / f"{each.name}.schema.json").read_bytes()
    assert stored == canonical.pretty(each.schema)
    Draft202012Validator.check_schema(each.schema)


def test_what_an_older_report_does_not_tell_is_unknown_and_not_zero() -> None:
    parsed = OLD.parse(encode({key: value for key, value in GOOD.items() if key != "usage"}))
    assert parsed is not None and type(parsed.report) is Report
    assert not hasattr(parsed.report, "usage")
    newer = NEW.parse(encode({key: value for key, value in GOOD.items() if key != "usage"}))
    assert newer is not None and isinstance(newer.report, ReportWithUsage)
    assert newer.report.usage is None


def test_what_a_newer_report_adds_is_named_by_the_older_contract_and_not_read() -> None:
    parsed = OLD.parse(encode(GOOD | {"usage": {"inputTokens": "many"}}))
    assert parsed is not None
    assert parsed.unknown == ("usage",)


def test_a_report_that_keeps_the_contract_is_read_field_by_field() -> None:
    parsed = NEW.parse(encode(GOOD))
    assert parsed is not None
    assert parsed.unknown == ()
    assert parsed.report.toolCalls[0].arguments == {"path": "a.py"}
    assert isinstance(parsed.report, ReportWithUsage) and parsed.report.usage is not None
    assert parsed.report.usage.totalTokens == 5


def test_empty_stdout_is_an_outcome_of_its_own_and_no_error() -> None:
    assert NEW.parse(b"") is None


@pytest.mark.parametrize("name", sorted(set(GOOD) - {"usage"}))
def test_a_missing_field_breaks_the_contract_and_is_named(name: str) -> None:
    assert name in reasons(encode({key: value for key, value in GOOD.items() if key != name}))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("kind", "ok"),
        ("exitCode", "0"),
        ("exitCode", False),
        ("finalText", None),
        ("reasoning", 1),
        ("toolCalls", {}),
        ("filesChanged", [1]),
        ("usage", None),
        ("usage", {"inputTokens": 1, "outputTokens": 1}),
        ("usage", {"inputTokens": "1", "outputTokens": 1, "totalTokens": 2}),
        ("message", None),
    ],
)
def test_a_mistyped_field_breaks_the_contract_and_is_named(name: str, wrong: Any) -> None:
    assert f"$.{name}" in reasons(encode(GOOD | {name: wrong}))


def test_a_mistyped_tool_call_is_named_by_its_index() -> None:
    calls = [*GOOD["toolCalls"], {"name": "x", "arguments": {}, "result": None}]
    assert "$.toolCalls[1]: 'error'" in reasons(encode(GOOD | {"toolCalls": calls}))


@pytest.mark.parametrize(("kind", "needed"), [("error", "message"), ("tool-approval-required", "toolNames")])
def test_each_kind_must_say_what_belongs_to_it(kind: str, needed: str) -> None:
    assert needed in reasons(encode(GOOD | {"kind": kind, "exitCode": 1}))


def test_fields_that_the_contract_does_not_know_are_kept_and_named() -> None:
    call = {**GOOD["toolCalls"][0], "id": "call_1"}
    parsed = NEW.parse(encode(GOOD | {"steps": 4, "toolCalls": [call], "usage": {**GOOD["usage"], "cached": 1}}))
    assert parsed is not None
    assert parsed.unknown == ("steps", "toolCalls[].id", "usage.cached")


def test_a_report_of_unknown_fields_alone_is_named_in_bounds() -> None:
    parsed = NEW.parse(encode(GOOD | {f"{number:05d}" + "x" * 5000: 1 for number in range(1000)}))
    assert parsed is not None
    assert len("".join(parsed.unknown)) <= 20 * 100
    nameless = NEW.parse(encode(GOOD | {"": 1}))
    assert nameless is not None and nameless.unknown == ("(empty)",)


@pytest.mark.parametrize("extra", [b"{}", b" x", b"\x00", b"[1]", encode(GOOD)])
def test_anything_after_the_object_breaks_the_contract(extra: bytes) -> None:
    assert "not one JSON object" in reasons(encode(GOOD) + extra)


@pytest.mark.parametrize(
    "data",
    [b"\n", b"null", b"[]", b"1", b'{"a":1,"a":2}', b'{"a":NaN}', b'{"a":-Infinity}', b"\xff", b"{", b'{"a":"\n"}'],
)
def test_what_is_not_one_strict_json_object_breaks_the_contract(data: bytes) -> None:
    reasons(data)


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"\\"":['])
def test_nesting_without_end_is_refused_before_it_is_parsed(opening: bytes) -> None:
    assert "nested deeper" in reasons(opening * 200_000)


def test_quotes_and_brackets_inside_strings_do_not_count_as_nesting() -> None:
    parsed = NEW.parse(encode(GOOD | {"finalText": '["\\{' * 10_000}))
    assert parsed is not None


def test_a_string_that_never_ends_costs_no_more_than_its_length() -> None:
    # Without the possessive pattern this takes hours.
    reasons(b'"' + b'\\"' * 2_000_000)


def test_a_report_over_the_size_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "MAX_BYTES", 100)
    assert "at most 100" in reasons(encode(GOOD))


def test_half_a_surrogate_pair_from_a_model_neither_crashes_nor_breaks_the_contract() -> None:
    high, low = chr(0xD800), chr(0xDFFF)
    call = {"name": "x", "arguments": {high: [low, "\U0001f600"], low: 1}, "result": None, "error": "e"}
    parsed = NEW.parse(encode(GOOD | {"finalText": f"a{high}b", "toolCalls": [call]}))
    assert parsed is not None
    assert parsed.report.finalText == "a\ufffdb"
    assert parsed.report.toolCalls[0].arguments.keys() == {"\ufffd"}
    str(parsed.report).encode()


def test_terminal_escapes_are_data() -> None:
    parsed = NEW.parse(encode(GOOD | {"finalText": "\x1b[2J\x1b]0;title\x07"}))
    assert parsed is not None
    assert parsed.report.finalText == "\x1b[2J\x1b]0;title\x07"
    assert "\x1b" not in reasons(encode(GOOD | {"kind": "\x1b[2J"}))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_the_arguments_of_a_call_may_be_any_json_that_a_model_writes(arguments: Any) -> None:
    call = {"name": "x", "arguments": arguments, "result": None, "error": None}
    parsed = NEW.parse(encode(GOOD | {"toolCalls": [call]}))
    assert parsed is not None
    assert parsed.report.toolCalls[0].arguments == arguments


@given(st.binary(max_size=200) | JSON.map(encode))
def test_no_bytes_at_all_get_past_the_contract_in_any_other_way(data: bytes) -> None:
    try:
        parsed = NEW.parse(data)
    except Refused as error:
        assert error.code == "NB_REPORT_CONTRACT"
    else:
        assert parsed is None and data == b""
