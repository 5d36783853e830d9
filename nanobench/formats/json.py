"""Canonical JSON (RFC 8785) and strict reading: no duplicate keys, no floats, no NaN."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import rfc8785

from nanobench.errors import Refused
from nanobench.formats.plain import check_plain
from nanobench.model.fields import Document

MAX_BYTES = 256 << 20


def parse(data: bytes, *, where: str, null: bool = False) -> Document:
    """The document in ``data``.

    Args:
        null: whether ``null`` may stand in it (foreign reports use it; documents of ours never do).

    Raises:
        Refused: ``NB_JSON`` when it is not strict JSON, ``NB_VALUE`` for values that no document may hold.
    """
    if len(data) > MAX_BYTES:
        raise Refused("NB_JSON", f"{len(data)} bytes; at most {MAX_BYTES} are read", where=where)
    try:
        document = json.loads(
            data.decode("utf-8"), object_pairs_hook=_unique, parse_float=_refuse, parse_constant=_refuse
        )
    except (ValueError, RecursionError) as error:
        raise Refused("NB_JSON", f"not strict JSON: {error}", where=where) from None
    return check_plain(document, where=where, null=null)


def dump(document: Any) -> bytes:
    """The RFC 8785 bytes of ``document``: what every digest of a document is taken over."""
    return rfc8785.dumps(document)


def pretty(document: Any) -> bytes:
    """The same document for people's eyes: sorted keys, two spaces, one final newline."""
    return (json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands twice")
    return table


def _refuse(spelling: str) -> NoReturn:
    raise ValueError(f"the float {spelling} is not allowed")
