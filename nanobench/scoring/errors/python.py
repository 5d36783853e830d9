"""Errors of CPython, by the exception's type and words.

Decision: an attribute of ``None`` and a type error about ``None`` are ``other``: a value is absent, and neither a
name nor an interface is said to be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from nanobench.model.result import Failure
from nanobench.scoring.errors.error import OTHER, Error, Phrase, first, interface, missing, neither

_NAMES: dict[str, tuple[Phrase, ...]] = {
    "NameError": missing(r"name '(?P<symbol>[^']+)' is not defined"),
    "AttributeError": (
        *neither(r"'NoneType' object has no attribute "),
        *missing(r".*?(?:has no attribute|does not have the attribute) '(?P<symbol>[^']+)'"),
    ),
    "ImportError": missing(r"cannot import name '(?P<symbol>[^']+)'"),
    # `No module named 'a.b'` is said when `a` is there.
    "ModuleNotFoundError": missing(r"No module named '(?:[^']*\.)?(?P<symbol>[^'.]+)'"),
    "TypeError": (
        *interface(
            r".*?got an unexpected keyword argument '(?P<symbol>[^']+)'",
            r".*?got multiple values for (?:keyword )?argument '(?P<symbol>[^']+)'",
            r"(?:[\w<>]+\.)*(?P<symbol>\w+)\(\) (?:missing|takes) ",
            r"Can't instantiate abstract class \S+ .*?abstract methods? '?(?P<symbol>\w+)",
        ),
        *neither(r".*\bNoneType\b"),
        *interface(r""),
    ),
}
_RAISED = re.compile(r"(?:E\s+)?(?:[\w.]{0,200}\.)?(?P<type>[A-Z]\w{0,100}): (?P<message>.*)")


def error_of(failure: Failure) -> Error:
    """What the exception says; where its type is not known, what its words do."""
    if not failure.type:
        return next(printed(failure.message.splitlines()), OTHER)
    return _error(failure.type, failure.message)


def printed(lines: Iterable[str]) -> Iterator[Error]:
    """The exceptions at the ends of printed tracebacks, also those that pytest marks with ``E``."""
    for line in lines:
        raised = _RAISED.match(line)
        if raised:
            yield _error(raised["type"], raised["message"])


def _error(type: str, message: str) -> Error:
    return first(_NAMES.get(type.rpartition(".")[2], ()), message) or OTHER
