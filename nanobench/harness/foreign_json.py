"""Strict reading of one JSON value that another program wrote: any number, any depth up to a bound, nothing after it.

Our own documents go through :mod:`nanobench.formats.json`, which forbids floats and ``null``. Here they are data.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

MAX_DEPTH = 128
_SURROGATE = re.compile("[\ud800-\udfff]")
# Possessive, and the closing quote optional: an open string is taken whole, so the scan stays linear.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


def parse(data: bytes, *, limit: int) -> Any:
    """The value in ``data``; every lone surrogate in a string becomes U+FFFD, so that it can be encoded again.

    Raises:
        ValueError: for anything else than one strict JSON value of at most ``limit`` bytes and ``MAX_DEPTH`` levels.
    """
    if len(data) > limit:
        raise ValueError(f"{len(data)} bytes; at most {limit} are read")
    if _depth(data) > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    # Strings of JavaScript may hold half a surrogate pair; JSON.stringify writes it as an escape.
    return json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse)


def _depth(data: bytes) -> int:
    """How deep brackets nest, counted before the recursive parser sees them."""
    depth = deepest = 0
    for token in _TOKEN.finditer(data):
        first = token[0][:1]
        if first in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif first in b"]}":
            depth -= 1
    return deepest


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return {_whole(key): _whole(value) for key, value in pairs}


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    return [_whole(item) for item in value] if isinstance(value, list) else value


def _refuse(spelling: str) -> NoReturn:
    raise ValueError(f"{spelling} is not JSON")
