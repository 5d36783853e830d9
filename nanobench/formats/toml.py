"""Canonical TOML: tables in the order of the model, LF, one spelling for every value (tomli-w).

And, within bounds, any TOML that another program wrote.
"""

from __future__ import annotations

import re
import tomllib

import tomli_w

from nanobench.errors import Refused
from nanobench.formats.plain import MAX_DEPTH, check_plain
from nanobench.model.fields import Document

MAX_BYTES = 32 << 20

_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*+(?:{_PART}\.[ \t]*+){{{MAX_DEPTH}}}", re.MULTILINE)


def parse(data: bytes, *, where: str) -> Document:
    """The document in ``data`` (UTF-8 TOML without floats or dates).

    Raises:
        Refused: ``NB_TOML`` when it is not TOML, ``NB_VALUE`` for values that no document may hold.
    """
    if len(data) > MAX_BYTES:
        raise Refused("NB_TOML", f"{len(data)} bytes; at most {MAX_BYTES} are read", where=where)
    try:
        document = foreign(data.decode("utf-8"))
    except ValueError as error:
        raise Refused("NB_TOML", f"not TOML: {error}", where=where, hint="mend the syntax at that place") from None
    return check_plain(document, where=where)


def foreign(text: str) -> Document:
    """The document in ``text``, floats and dates too.

    Raises:
        ValueError: it is not TOML, or nested too deep: the parser's time grows with the square of a dotted key.
    """
    if _LONG_KEY.search(text):
        raise ValueError(f"a key of more than {MAX_DEPTH} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def dump(document: Document) -> bytes:
    """The one spelling of ``document``; ``parse(dump(d)) == d`` and ``dump(parse(dump(d))) == dump(d)``."""
    return tomli_w.dumps(document).encode("utf-8")
