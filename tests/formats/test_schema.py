from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nanobench.formats.converter import unstructure
from nanobench.formats.documents import KINDS
from nanobench.formats.schema import emit

ROOT = Path(__file__).parents[2]


def test_every_valid_document_satisfies_its_schema(kind: tuple[type, st.SearchStrategy[Any]]) -> None:
    cls, strategy = kind
    name = next(n for n, c in KINDS.items() if c is cls)
    validator = jsonschema.Draft202012Validator(emit(cls, name=name))

    @settings(deadline=None, max_examples=20, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def check(value: Any) -> None:
        validator.validate(unstructure(value))

    check()


@pytest.mark.parametrize("name", sorted(KINDS))
def test_the_schemas_themselves_are_valid_and_closed(name: str) -> None:
    document = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_bytes())
    jsonschema.Draft202012Validator.check_schema(document)
    assert document["additionalProperties"] is False
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"no-such-key": 1}, document)
