from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

import pytest
from attrs import frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from nanobench.errors import Refused
from nanobench.formats import json, toml
from nanobench.formats.converter import structure, unstructure
from nanobench.formats.schema import emit
from nanobench.model.fields import text, texts, whole

SLOW = settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))


@frozen(kw_only=True)
class Inner:
    size: int = whole(0, 10)
    name: str | None = None


@frozen(kw_only=True)
class Outer:
    schema: Literal[1]
    flag: bool = False
    inner: tuple[Inner, ...] = ()
    names: tuple[str, ...] = texts(r"[a-z]+", default=())
    id: str = text(r"[a-z]+", default="x")


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"schema": True}, "schema: expected one of 1, found a boolean (True)"),
        ({"schema": "1"}, "schema: expected one of 1, found a string ('1')"),
        ({"schema": 1, "flag": 1}, "flag: expected a boolean, found an integer (1)"),
        ({"schema": 1, "inner": [{"size": "1"}]}, "inner[0].size: expected an integer, found a string ('1')"),
        ({"schema": 1, "inner": [{"size": 1}, {"size": True}]}, "inner[1].size: expected an integer"),
        ({"schema": 1, "inner": [{"size": 1.5}]}, "inner[0].size: expected an integer, found a float"),
        ({"schema": 1, "inner": [{"size": 11}]}, "inner[0].size: 11 is not within 0 and 10"),
        ({"schema": 1, "inner": {"size": 1}}, "inner: expected an array, found a table"),
        ({"schema": 1, "inner": [1]}, "inner[0]: expected a table, found an integer"),
        ({"schema": 1, "inner": [{"size": 1, "siez": 2}]}, "inner[0].siez: unknown key"),
        ({"schema": 1, "inner": [{}]}, "inner[0].size: missing"),
        ({}, "schema: missing"),
        ({"schema": 1, "names": "abc"}, "names: expected an array, found a string"),
        ({"schema": 1, "names": ["a", "a"]}, "names: 'a' stands twice"),
        ({"schema": 1, "names": [1]}, "names[0]: expected a string"),
        ({"schema": 1, "id": "a\n"}, "id: 'a\\n' does not match"),
    ],
)
def test_every_wrong_value_is_refused_with_its_path(document: Any, problem: str) -> None:
    with pytest.raises(Refused) as refusal:
        structure(document, Outer, where="x.toml")
    assert refusal.value.code == "NB_SCHEMA"
    assert refusal.value.where == "x.toml"
    assert any(problem in line for line in refusal.value.details), refusal.value.details


@frozen(kw_only=True)
class Wooden:
    type: Literal["wood", "cork"]
    rings: int = whole(0, 10)


@frozen(kw_only=True)
class Iron:
    type: Literal["iron"]
    alloy: str | None = None


@frozen(kw_only=True)
class Thing:
    stuff: Wooden | Iron
    more: tuple[Wooden | Iron, ...] = ()


@pytest.mark.parametrize(
    ("stuff", "problem"),
    [
        ({"type": "stone"}, "stuff.type: expected one of 'wood', 'cork', 'iron', found a string ('stone')"),
        ({"type": 1}, "stuff.type: expected one of 'wood', 'cork', 'iron', found an integer (1)"),
        ({"type": ["iron"]}, "stuff.type: expected one of 'wood', 'cork', 'iron', found an array (['iron'])"),
        ({}, "stuff.type: missing"),
        ("wood", "stuff: expected a table, found a string ('wood')"),
        ({"type": "wood"}, "stuff.rings: missing"),
        ({"type": "cork", "rings": "1"}, "stuff.rings: expected an integer, found a string ('1')"),
        ({"type": "wood", "rings": 11}, "stuff.rings: 11 is not within 0 and 10"),
        ({"type": "iron", "rings": 1}, "stuff.rings: unknown key"),
    ],
)
def test_alternatives_are_told_apart_by_their_type_and_refused_with_their_path(stuff: Any, problem: str) -> None:
    for document, path in (({"stuff": stuff}, ""), ({"stuff": {"type": "iron"}, "more": [stuff]}, "more[0]")):
        with pytest.raises(Refused) as refusal:
            structure(document, Thing, where="x.toml")
        assert refusal.value.details == (problem.replace("stuff", path) if path else problem,)
    schema = Draft202012Validator(emit(Thing, name="thing"))
    paths = {error.json_path for error in schema.iter_errors({"stuff": stuff})}
    assert paths and all(path in ("$.stuff", "$.stuff.type", "$.stuff.rings") for path in paths)


def test_an_alternative_is_written_as_it_was_read() -> None:
    document = {"stuff": {"type": "cork", "rings": 1}, "more": [{"type": "iron"}, {"type": "wood", "rings": 2}]}
    thing = structure(document, Thing, where="x")
    assert (type(thing.stuff), [type(one) for one in thing.more]) == (Wooden, [Iron, Wooden])
    assert unstructure(thing) == document
    Draft202012Validator(emit(Thing, name="thing")).validate(document)


@frozen(kw_only=True)
class Square:
    side: int


@frozen(kw_only=True)
class Circle:
    radius: int
    filled: bool = False


@frozen(kw_only=True)
class Drawn:
    shape: Square | Circle


@pytest.mark.parametrize(
    ("shape", "problem"),
    [
        ({}, "shape: expected exactly one of side, radius, found none"),
        ({"side": 1, "radius": 2}, "shape: expected exactly one of side, radius, found side and radius"),
        ({"side": 1, "filled": True}, "shape.filled: unknown key"),
        ({"radius": "2"}, "shape.radius: expected an integer, found a string ('2')"),
        ([], "shape: expected a table, found an array ([])"),
    ],
)
def test_alternatives_without_a_type_are_told_apart_by_their_first_key(shape: Any, problem: str) -> None:
    with pytest.raises(Refused) as refusal:
        structure({"shape": shape}, Drawn, where="x.toml")
    assert refusal.value.details == (problem,)
    schema = Draft202012Validator(emit(Drawn, name="drawn"))
    assert not schema.is_valid({"shape": shape})
    for document in ({"shape": {"side": 1}}, {"shape": {"radius": 2, "filled": True}}):
        schema.validate(document)
        assert unstructure(structure(document, Drawn, where="x"))["shape"].items() >= document["shape"].items()


class Colour(StrEnum):
    RED = "red"


@frozen(kw_only=True)
class Painted:
    one: Colour
    many: dict[str, Colour]


def test_an_enum_is_an_enum_after_reading_and_a_plain_string_after_writing() -> None:
    read = structure({"one": "red", "many": {"a": "red"}}, Painted, where="x")
    assert type(read.one) is Colour
    assert type(read.many["a"]) is Colour
    written = unstructure(read)
    assert type(written["one"]) is str
    assert type(written["many"]["a"]) is str
    with pytest.raises(Refused) as refusal:
        structure({"one": "blue", "many": {"a": "blue"}}, Painted, where="x")
    assert [line.split(":")[0] for line in refusal.value.details] == ["one", "many[a]"]


def test_all_problems_of_a_document_are_named_at_once() -> None:
    with pytest.raises(Refused) as refusal:
        structure({"schema": 2, "flag": "no", "inner": [{"size": -1}], "other": 1}, Outer, where="x")
    assert len(refusal.value.details) == 4


def test_parse_after_dump_is_the_same_object_in_toml_and_json(kind: tuple[type, st.SearchStrategy[Any]]) -> None:
    cls, strategy = kind

    @SLOW
    @given(strategy)
    def check(value: Any) -> None:
        written = toml.dump(unstructure(value))
        again: Any = structure(toml.parse(written, where="t"), cls, where="t")
        assert again == value
        assert toml.dump(unstructure(again)) == written
        assert structure(json.parse(json.dump(unstructure(value)), where="j"), cls, where="j") == value

    check()


def test_an_unknown_key_in_any_document_is_refused(kind: tuple[type, st.SearchStrategy[Any]]) -> None:
    cls, strategy = kind

    @settings(SLOW, max_examples=5)
    @given(strategy)
    def check(value: Any) -> None:
        document = {**unstructure(value), "no-such-key": 1}
        with pytest.raises(Refused, match="no-such-key: unknown key"):
            raise_details(document)

    def raise_details(document: Any) -> None:
        try:
            structure(document, cls, where="d")
        except Refused as refusal:
            raise Refused(refusal.code, "; ".join(refusal.details)) from refusal

    check()
