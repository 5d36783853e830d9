"""Canonical TOML: tables in the order of the model, LF, one spelling for every value (tomli-w)."""

from __future__ import annotations

import tomllib

import tomli_w

from nanobench.errors import Refused
from nanobench.formats.plain import check_plain
from nanobench.model.fields import Document

MAX_BYTES = 32 << 20


def parse(data: bytes, *, where: str) -> Document:
    """The document in ``data`` (UTF-8 TOML without floats or dates).

    Raises:
        Refused: ``NB_TOML`` when it is not TOML, ``NB_VALUE`` for values that no document may hold.
    """
    if len(data) > MAX_BYTES:
        raise Refused("NB_TOML", f"{len(data)} bytes; at most {MAX_BYTES} are read", where=where)
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise Refused("NB_TOML", f"not TOML: {error}", where=where, hint="mend the syntax at that place") from None
    return check_plain(document, where=where)


def dump(document: Document) -> bytes:
    """The one spelling of ``document``; ``parse(dump(d)) == d`` and ``dump(parse(dump(d))) == dump(d)``."""
    return tomli_w.dumps(document).encode("utf-8")
