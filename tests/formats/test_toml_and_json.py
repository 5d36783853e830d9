from __future__ import annotations

import contextlib
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.errors import NanobenchError, Refused
from nanobench.formats import json, toml
from nanobench.formats.digest import document_sha256, from_integrity


def test_dump_is_stable_and_parse_is_its_inverse(documents: st.SearchStrategy[dict[str, Any]]) -> None:
    @settings(deadline=None)
    @given(documents)
    def check(document: dict[str, Any]) -> None:
        assert toml.parse(toml.dump(document), where="t") == document
        assert json.parse(json.dump(document), where="j") == document
        assert json.parse(json.pretty(document), where="j") == document

    check()


def test_the_bytes_are_those_of_rfc_8785(documents: st.SearchStrategy[dict[str, Any]]) -> None:
    @settings(max_examples=100)
    @given(documents)
    def check(document: dict[str, Any]) -> None:
        assert json.dump(document) == rfc8785.dumps(document)

    check()
    # An astral character stands before U+FB33 in UTF-16, and after it by its code point.
    text = "".join(chr(code) for code in range(0x180)) + "\u2028\U0001f600\ufb33"
    assert json.dump({"\ufb33": 1, "\U0001f600": text}) == rfc8785.dumps({"\ufb33": 1, "\U0001f600": text})


def test_what_no_document_holds_is_not_written() -> None:
    with pytest.raises(TypeError):
        json.dump({"a": [1.0]})
    with pytest.raises(UnicodeEncodeError):
        json.dump({"a": "\ud800"})


def test_the_digest_of_a_document_does_not_depend_on_key_order(documents: st.SearchStrategy[dict[str, Any]]) -> None:
    @settings(deadline=None)
    @given(documents)
    def check(document: dict[str, Any]) -> None:
        assert document_sha256(dict(reversed(document.items()))) == document_sha256(document)

    check()


@pytest.mark.parametrize(
    ("source", "path"),
    [
        (b"a = 1.5", "a: a float"),
        (b"[t]\nd = 2026-01-01", "t.d: a date"),
        (b"x = [1, {y = 07:00:00}]", "x[1].y: a time"),
        (b"n = 9007199254740992", "n: the integer"),
        (b"f = inf", "f: a float"),
    ],
)
def test_floats_dates_and_large_integers_in_toml_are_refused_with_their_path(source: bytes, path: str) -> None:
    with pytest.raises(Refused) as refusal:
        toml.parse(source, where="t.toml")
    assert refusal.value.details[0].startswith(path)


@pytest.mark.parametrize(
    "source", [b'{"a":1,"a":2}', b'{"a":1.0}', b'{"a":NaN}', b"[1]", b"", b'{"a":null}', b"\xff"]
)
def test_json_that_is_not_strict_is_refused(source: bytes) -> None:
    with pytest.raises(Refused):
        json.parse(source, where="j")


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_make_the_parsers_raise_anything_but_a_refusal(data: bytes) -> None:
    for parse in (toml.parse, json.parse):
        with contextlib.suppress(NanobenchError):
            parse(data, where="x")


def test_deeply_nested_input_is_refused_not_a_crash() -> None:
    for data, parse in ((b'{"a":' * 5000, json.parse), (b"a = " + b"[" * 5000, toml.parse)):
        with pytest.raises(Refused):
            parse(data, where="deep")


def nested(depth: int) -> dict[str, Any]:
    """A string below this many tables and arrays."""
    value: Any = "x"
    for _ in range(depth - 1):
        value = [value]
    return {"a": value}


def test_64_levels_are_read_and_no_more() -> None:
    for module in (toml, json):
        assert module.parse(module.dump(nested(64)), where="x") == nested(64)
        with pytest.raises(Refused) as refusal:
            module.parse(module.dump(nested(65)), where="x")
        assert refusal.value.code == "NB_VALUE" and "nested deeper than 64" in refusal.value.details[0]


@pytest.mark.parametrize(("module", "source", "code"), [(toml, b"a = 1\n", "NB_TOML"), (json, b'{"a":1}', "NB_JSON")])
def test_a_document_over_the_bound_is_not_parsed(
    module: Any, source: bytes, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", len(source))
    assert module.parse(source, where="x") == {"a": 1}
    with pytest.raises(Refused, match=f"{code}: x: {len(source) + 1} bytes; at most {len(source)} are read"):
        module.parse(source + b"\n", where="x")


def test_an_integrity_without_sha512_is_refused() -> None:
    with pytest.raises(Refused, match="sha512"):
        from_integrity("sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=", where="x")
