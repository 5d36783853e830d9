"""What may stand in any document at all, before a model looks at it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from nanobench.errors import MAX_DETAILS, Refused
from nanobench.model.fields import Document

_SAFE_INTEGER = 2**53 - 1
MAX_DEPTH = 64


def check_plain(document: Any, *, where: str, null: bool = False) -> Document:
    """``document`` if it holds only strings, booleans, integers within ±(2^53-1), arrays and tables.

    Floats, dates and larger integers do not survive every TOML and JSON implementation unchanged, and a digest
    must not depend on one.

    Raises:
        Refused: ``NB_VALUE``, naming the path of every forbidden value.
    """
    problems = list(islice(_problems(document, "", 0, null=null), MAX_DETAILS))
    if not isinstance(document, dict):
        problems = [f"(top): expected a table, found {type(document).__name__}"]
    if problems:
        raise Refused(
            "NB_VALUE",
            "values that no document of ours may hold",
            where=where,
            details=tuple(problems),
            hint="use strings, integers, booleans, arrays and tables; write dates and fractions as strings",
        )
    result: Document = document
    return result


def _problems(value: Any, path: str, depth: int, *, null: bool) -> Iterator[str]:
    if depth > MAX_DEPTH:
        yield f"{path}: nested deeper than {MAX_DEPTH}"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _scalar(key, f"{path} (a key)", null=False)
            yield from _problems(item, f"{path}.{key}".lstrip("."), depth + 1, null=null)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _problems(item, f"{path}[{index}]", depth + 1, null=null)
    else:
        yield from _scalar(value, path, null=null)


def _scalar(value: Any, path: str, *, null: bool) -> list[str]:
    if isinstance(value, bool) or (null and value is None):
        return []
    if isinstance(value, int):
        return [] if abs(value) <= _SAFE_INTEGER else [f"{path}: the integer exceeds ±(2^53-1)"]
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return [f"{path}: a lone surrogate in {value[:60]!r:.60}"]
        return []
    return [f"{path}: a {type(value).__name__} ({value!s:.60}) is not allowed"]
