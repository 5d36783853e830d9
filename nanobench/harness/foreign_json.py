"""Strict reading of one JSON value that another program wrote: any number, nothing after it, no key twice.

Our own documents go through :func:`nanobench.formats.json.parse`, which forbids floats and ``null``. Here they are
data.
"""

from __future__ import annotations

import re
from typing import Any

from nanobench.formats import json

_SURROGATE = re.compile("[\ud800-\udfff]")


def parse(data: bytes, *, limit: int) -> Any:
    """The value in ``data``; every lone surrogate in a string becomes U+FFFD, so that it can be encoded again.

    Raises:
        ValueError: for anything else than one strict JSON value of at most ``limit`` bytes, within the bounds of
            :func:`nanobench.formats.json.foreign`.
    """
    if len(data) > limit:
        raise ValueError(f"{len(data)} bytes; at most {limit} are read")
    # Strings of JavaScript may hold half a surrogate pair; JSON.stringify writes it as an escape.
    return _whole(json.foreign(data, object_pairs_hook=json.unique))


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value
