"""The strict converter: what a document says is what the model holds, or there is an error with its path.

cattrs is lax by default ("1" becomes 1, 1.9 becomes 1, true becomes 1). Here every primitive is checked by
exact type, unknown keys are refused, and the problems of all parts of a document are reported at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import attrs
from cattrs import Converter
from cattrs.cols import homogenous_tuple_structure_factory, mapping_structure_factory
from cattrs.errors import ClassValidationError, ForbiddenExtraKeysError, IterableValidationError
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from nanobench.errors import MAX_DETAILS, Refused
from nanobench.model.fields import Document, FieldError

T = TypeVar("T")
_NAMES = {
    str: "a string",
    int: "an integer",
    bool: "a boolean",
    float: "a float",
    dict: "a table",
    list: "an array",
    type(None): "null",
}


class WrongType(ValueError):
    """A value of another type than the model asks for."""


def structure(document: Document, kind: type[T], *, where: str) -> T:
    """The model object that ``document`` describes.

    Args:
        document: a parsed document (see :func:`nanobench.formats.plain.check_plain`).
        kind: a frozen attrs class of :mod:`nanobench.model`.
        where: what the document is, for messages (a file name).

    Raises:
        Refused: ``NB_SCHEMA``, one line a problem, each with its path in the document.
    """
    try:
        return _CONVERTER.structure(document, kind)
    except Exception as error:
        problems = tuple(islice(_problems(error, ""), MAX_DETAILS))
        raise Refused(
            "NB_SCHEMA",
            f"not a valid {kind.__name__}",
            where=where,
            details=problems,
            hint="mend the keys named above; schemas/ has the JSON Schema of every document",
        ) from error


def unstructure(value: Any) -> Document:
    """The document of a model object: keys in the order of the class, absent optionals left out."""
    return cast(Document, _CONVERTER.unstructure(value))


def _problems(error: BaseException, path: str) -> Iterator[str]:
    if isinstance(error, ClassValidationError | IterableValidationError):
        for inner, place in _parts(error):
            yield from _problems(inner, f"{path}{place}".lstrip("."))
    elif isinstance(error, ForbiddenExtraKeysError):
        for key in sorted(error.extra_fields):
            yield f"{path}.{key}".lstrip(".") + ": unknown key"
    elif isinstance(error, KeyError):
        yield f"{path}: missing"
    elif isinstance(error, FieldError):
        yield f"{path}.{error.field}".lstrip(".") + f": {error}"
    else:
        yield f"{path or '(top)'}: {error}"


def _parts(error: ClassValidationError | IterableValidationError) -> Iterator[tuple[BaseException, str]]:
    if isinstance(error, ClassValidationError):
        fields, bare = error.group_exceptions()
        yield from ((inner, f".{note.name}") for inner, note in fields)
    else:
        items, bare = error.group_exceptions()
        yield from ((inner, f"[{note.index}]") for inner, note in items)
    yield from ((inner, "") for inner in bare)


def _named(value: Any) -> str:
    return f"{_NAMES.get(type(value), type(value).__name__)} ({value!r:.60})"


def _expect(kind: type, value: Any) -> None:
    if type(value) is not kind:
        raise WrongType(f"expected {_NAMES[kind]}, found {_named(value)}")


def _exact(kind: type) -> Any:
    def hook(value: Any, _: Any) -> Any:
        _expect(kind, value)
        return value

    return hook


def _literal(value: Any, kind: Any) -> Any:
    for choice in get_args(kind):
        if type(choice) is type(value) and choice == value:
            return value
    raise WrongType(f"expected one of {', '.join(map(repr, get_args(kind)))}, found {_named(value)}")


def _enum(value: Any, kind: type[StrEnum]) -> StrEnum:
    _expect(str, value)
    try:
        return kind(value)
    except ValueError:
        raise WrongType(f"expected one of {', '.join(m.value for m in kind)}, found {value!r}") from None


def _origin(kind: Any) -> Any:
    # The checker takes get_origin of Any for a ParamSpec.
    return get_origin(kind)


def _plain_document(value: Any, _: Any) -> Document:
    _expect(dict, value)
    return cast(Document, value)


def _expecting(container: type, hook: Any) -> Any:
    def checked(value: Any, kind: Any) -> Any:
        _expect(container, value)
        return hook(value, kind)

    return checked


def alternatives(kind: Any) -> tuple[type, ...]:
    """The classes of a union of nothing but classes; empty for everything else."""
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else ()
    return members if members and all(attrs.has(member) for member in members) else ()


def names_of(member: type) -> tuple[str, ...]:
    """What ``type`` says in a document of this class of a union; empty for a class told by its first key."""
    return get_args(get_type_hints(member).get("type"))


def first_key(member: type) -> str:
    """The key that only this class of its union has."""
    return attrs.fields(member)[0].name  # type: ignore[no-any-return]


def _structure_alternative(converter: Converter, kind: Any) -> Any:
    members = alternatives(kind)
    named = {name: member for member in members for name in names_of(member)}
    keyed = {first_key(member): member for member in members}

    def by_type(value: Any) -> type:
        if "type" not in value:
            raise FieldError("type", "missing")
        name = value["type"]
        if type(name) is not str or name not in named:
            raise FieldError("type", f"expected one of {', '.join(map(repr, named))}, found {_named(name)}")
        return named[name]

    def by_key(value: Any) -> type:
        found = [key for key in keyed if key in value]
        if len(found) != 1:
            raise WrongType(f"expected exactly one of {', '.join(keyed)}, found {' and '.join(found) or 'none'}")
        return keyed[found[0]]

    def hook(value: Any, _: Any) -> Any:
        _expect(dict, value)
        return converter.structure(value, by_type(value) if named else by_key(value))

    return hook


def _make() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=True, prefer_attrib_converters=False)
    for kind in (str, int, bool):
        converter.register_structure_hook(kind, _exact(kind))
    # Without these the hooks for str would serve every StrEnum too, and leave it a plain string.
    converter.register_structure_hook(StrEnum, _enum)
    converter.register_unstructure_hook(StrEnum, lambda member: member.value)
    converter.register_structure_hook_func(lambda t: _origin(t) is Literal, _literal)

    @converter.register_structure_hook_factory(attrs.has)
    def _(kind: type) -> Any:
        return _expecting(dict, make_dict_structure_fn(kind, converter, _cattrs_forbid_extra_keys=True))

    @converter.register_structure_hook_factory(lambda t: _origin(t) is tuple)
    def _(kind: Any) -> Any:
        return _expecting(list, homogenous_tuple_structure_factory(kind, converter))

    @converter.register_structure_hook_factory(lambda t: _origin(t) is dict)
    def _(kind: Any) -> Any:
        return _expecting(dict, mapping_structure_factory(kind, converter))

    converter.register_structure_hook_factory(
        lambda t: bool(alternatives(t)), lambda t: _structure_alternative(converter, t)
    )
    converter.register_structure_hook_func(lambda t: t == Document, _plain_document)

    @converter.register_unstructure_hook_factory(attrs.has)
    def _(kind: type) -> Any:
        absent = {a.name: override(omit_if_default=True) for a in attrs.fields(kind) if a.default is None}
        return make_dict_unstructure_fn(kind, converter, **absent)  # type: ignore[arg-type]

    @converter.register_unstructure_hook_factory(lambda t: _origin(t) is tuple)
    def _(kind: Any) -> Any:
        return lambda value: [converter.unstructure(item) for item in value]

    @converter.register_unstructure_hook_factory(lambda t: _origin(t) is dict and t != Document)
    def _(kind: Any) -> Any:
        return lambda value: {key: converter.unstructure(item) for key, item in value.items()}

    return converter


_CONVERTER = _make()
