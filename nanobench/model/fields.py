"""Field types shared by all documents. The strict converter and the JSON Schema both read these rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NewType

from attrs import Attribute, field

Document = dict[str, Any]
"""A parsed TOML or JSON document, untouched by our classes (what digests of specs are taken over)."""

Digest = NewType("Digest", str)
"""``algorithm:hex``, e.g. ``sha256:…`` or ``sha512:…``."""

ANYTHING = r"[\s\S]+"
IDENTIFIER = r"[a-z0-9][a-z0-9._-]{0,63}"
SHA256 = r"[0-9a-f]{64}"
SHA256_DIGEST = rf"sha256:{SHA256}"
DIGEST = r"(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})"
COMMIT = r"[0-9a-f]{40}"
DATE = r"\d{4}-\d\d-\d\d"
ENV_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
RELATIVE_PATH = r"(?!/)(?!\.\.?(/|$))(?!.*/\.\.?(/|$))(?!.*//)[^\x00\n]+"


class FieldError(ValueError):
    """A value that its field forbids; names the field, so that a message can give the whole path."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def text(pattern: str = ANYTHING, **kwargs: Any) -> Any:
    """A string field that must match ``pattern`` as a whole."""
    return field(validator=_matching(pattern), metadata={"pattern": f"^(?:{pattern})$"}, **kwargs)


def optional_text(pattern: str = ANYTHING) -> Any:
    """Like :func:`text`, absent by default."""
    return field(
        default=None,
        validator=_optional(_matching(pattern)),
        metadata={"pattern": f"^(?:{pattern})$"},
    )


def texts(pattern: str = ANYTHING, *, unique: bool = True, nonempty: bool = False, **kwargs: Any) -> Any:
    """A tuple of strings, each matching ``pattern``; unique unless said otherwise."""
    return field(
        validator=_each(pattern, unique=unique, nonempty=nonempty),
        metadata={"items_pattern": f"^(?:{pattern})$", "unique": unique, "min_items": int(nonempty)},
        **kwargs,
    )


def whole(minimum: int, maximum: int, **kwargs: Any) -> Any:
    """An integer within ``minimum`` and ``maximum``, both included."""

    return field(validator=_within(minimum, maximum), metadata={"minimum": minimum, "maximum": maximum}, **kwargs)


def optional_whole(minimum: int, maximum: int) -> Any:
    """Like :func:`whole`, absent by default."""
    return field(
        default=None,
        validator=_optional(_within(minimum, maximum)),
        metadata={"minimum": minimum, "maximum": maximum},
    )


Validator = Callable[[Any, "Attribute[Any]", Any], None]


def _within(minimum: int, maximum: int) -> Validator:
    def check(_: Any, attribute: Attribute[Any], value: int) -> None:
        if not minimum <= value <= maximum:
            raise FieldError(attribute.name, f"{value} is not within {minimum} and {maximum}")

    return check


def _matching(pattern: str) -> Validator:
    compiled = re.compile(pattern)

    def check(_: Any, attribute: Attribute[Any], value: str) -> None:
        if not compiled.fullmatch(value):
            raise FieldError(attribute.name, f"{value!r:.200} does not match {pattern}")

    return check


def _optional(inner: Validator) -> Validator:
    def check(instance: Any, attribute: Attribute[Any], value: Any) -> None:
        if value is not None:
            inner(instance, attribute, value)

    return check


def _each(pattern: str, *, unique: bool, nonempty: bool) -> Validator:
    one = _matching(pattern)

    def check(instance: Any, attribute: Attribute[Any], value: tuple[str, ...]) -> None:
        for item in value:
            one(instance, attribute, item)
        if unique and len(set(value)) != len(value):
            twice, _ = Counter(value).most_common(1)[0]
            raise FieldError(attribute.name, f"{twice!r:.200} stands twice")
        if nonempty and not value:
            raise FieldError(attribute.name, "at least one is needed")

    return check
