"""JSON Schemas (draft 2020-12) generated from the attrs classes, so that editors and CI read the same rules."""

from __future__ import annotations

import inspect
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs

from nanobench.formats.converter import alternatives, first_key, names_of
from nanobench.model.fields import Document

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_PRIMITIVES: dict[Any, Document] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    Any: {},
}


def emit(kind: type, *, name: str, open_world: bool = False) -> Document:
    """The schema of an attrs class.

    Args:
        name: the document kind, for the schema's title.
        open_world: whether unknown keys are allowed (foreign reports that may grow).
    """
    definitions: dict[str, Document] = {}
    root = _class_schema(kind, definitions, open_world=open_world)
    return {"$schema": DRAFT, "title": name, **root, **({"$defs": definitions} if definitions else {})}


def _class_schema(kind: type, definitions: dict[str, Document], *, open_world: bool) -> Document:
    hints = get_type_hints(kind)
    properties: dict[str, Document] = {}
    required: list[str] = []
    for attribute in attrs.fields(kind):
        schema = _type_schema(hints[attribute.name], definitions, open_world=open_world)
        properties[attribute.name] = {**schema, **_constraints(attribute.metadata, schema)}
        if attribute.default is attrs.NOTHING:
            required.append(attribute.name)
    result: Document = {
        "type": "object",
        "description": inspect.cleandoc(kind.__doc__ or ""),
        "properties": properties,
    }
    if required:
        result["required"] = required
    return result if open_world else {**result, "additionalProperties": False}


def _type_schema(hint: Any, definitions: dict[str, Document], *, open_world: bool) -> Document:
    hint = getattr(hint, "__supertype__", hint)
    if hint in _PRIMITIVES:
        return dict(_PRIMITIVES[hint])
    if isinstance(hint, type) and attrs.has(hint):
        if hint.__name__ not in definitions:
            definitions[hint.__name__] = {}
            definitions[hint.__name__] = _class_schema(hint, definitions, open_world=open_world)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    return _generic_schema(hint, definitions, open_world=open_world)


def _generic_schema(hint: Any, definitions: dict[str, Document], *, open_world: bool) -> Document:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    inner = [_type_schema(a, definitions, open_world=open_world) for a in arguments if a not in (NoneType, Ellipsis)]
    if origin in (Union, UnionType):
        nullable = [{"type": "null"}] if open_world and NoneType in arguments else []
        choices = inner + nullable
        if alternatives(hint):
            return _alternatives(arguments, inner)
        return choices[0] if len(choices) == 1 else {"anyOf": choices}
    if origin is tuple:
        return {"type": "array", "items": inner[0]}
    if origin is dict:
        return {"type": "object", **({"additionalProperties": inner[1]} if inner[1] else {})}
    raise TypeError(f"no JSON Schema for {hint!r}")


def _alternatives(members: tuple[type, ...], schemas: list[Document]) -> Document:
    """A table whose ``type``, or whose key that only one class has, says whose rules hold, so that a validator names
    the key that breaks them."""
    named = [list(names_of(member)) for member in members]
    if not any(named):
        keys = [{"required": [first_key(member)]} for member in members]
        rules = [{"if": key, "then": schema} for key, schema in zip(keys, schemas, strict=True)]
        return {"type": "object", "oneOf": keys, "allOf": rules}
    rules = [
        {"if": {"properties": {"type": {"enum": own}}, "required": ["type"]}, "then": schema}
        for own, schema in zip(named, schemas, strict=True)
    ]
    every = [name for own in named for name in own]
    return {"type": "object", "required": ["type"], "properties": {"type": {"enum": every}}, "allOf": rules}


def _constraints(metadata: Any, schema: Document) -> Document:
    found: Document = {key: metadata[key] for key in ("pattern", "minimum", "maximum") if key in metadata}
    if "items_pattern" in metadata:
        found["items"] = {**schema.get("items", {}), "pattern": metadata["items_pattern"]}
    if metadata.get("unique"):
        found["uniqueItems"] = True
    if metadata.get("min_items"):
        found["minItems"] = metadata["min_items"]
    if "keys_pattern" in metadata:
        found["propertyNames"] = {"pattern": metadata["keys_pattern"]}
    return found
