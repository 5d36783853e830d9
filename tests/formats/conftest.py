"""Strategies: a valid instance of any document class, built from the same field rules that the reader checks."""

from __future__ import annotations

from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs
import pytest
from hypothesis import strategies as st

from nanobench.formats.documents import KINDS

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=12)
PLAIN = st.recursive(
    st.one_of(st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(TEXT, PLAIN, max_size=4)


def instances(kind: type) -> st.SearchStrategy[Any]:
    """Valid instances; combinations that only a class's own cross-field check forbids are skipped."""
    hints = get_type_hints(kind)
    fields = {a.name: _values(hints[a.name], a.metadata) for a in attrs.fields(kind)}

    def build(values: dict[str, Any]) -> Any:
        try:
            return kind(**values)
        except ValueError:
            return None

    return st.fixed_dictionaries(fields).map(build).filter(lambda value: value is not None)


def _values(hint: Any, rules: Any) -> st.SearchStrategy[Any]:
    hint = getattr(hint, "__supertype__", hint)
    if hint is str:
        return st.from_regex(rules["pattern"], fullmatch=True).filter(_encodable) if "pattern" in rules else TEXT
    if hint is bool:
        return st.booleans()
    if hint is int:
        return st.integers(rules.get("minimum", -(2**40)), rules.get("maximum", 2**40))
    if isinstance(hint, type) and attrs.has(hint):
        return st.deferred(lambda: instances(hint))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    return _generic(hint, rules)


def _generic(hint: Any, rules: Any) -> st.SearchStrategy[Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return st.one_of(*(st.none() if a is NoneType else _values(a, rules) for a in arguments))
    if origin is tuple:
        item_rules = {"pattern": rules["items_pattern"]} if "items_pattern" in rules else {}
        unique = bool(rules.get("unique"))
        size = rules.get("min_items", 0)
        items = st.lists(_values(arguments[0], item_rules), min_size=size, max_size=2 + size, unique=unique)
        return items.map(tuple)
    if arguments == (str, Any):
        return DOCUMENTS
    keys = st.from_regex(rules["keys_pattern"], fullmatch=True) if "keys_pattern" in rules else TEXT
    return st.dictionaries(keys, _values(arguments[1], {}), max_size=3)


def _encodable(text: str) -> bool:
    return not any(0xD800 <= ord(c) <= 0xDFFF for c in text)


@pytest.fixture(scope="session", params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> tuple[type, st.SearchStrategy[Any]]:
    """Each document class of ours with a strategy for its instances."""
    cls = KINDS[request.param]
    return cls, instances(cls)


@pytest.fixture(scope="session")
def documents() -> st.SearchStrategy[dict[str, Any]]:
    """Plain documents: strings, booleans, integers, arrays, tables."""
    return DOCUMENTS
