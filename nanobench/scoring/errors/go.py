"""Errors of the Go compiler and of the ``go`` command, plain or as ``go test -json`` wraps them, and panics."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from attrs import evolve

from nanobench.model.result import Failure
from nanobench.scoring.errors.error import OTHER, Error, first, interface, missing
from nanobench.symbols.names import module_name

_PACKAGES = missing(
    r"no required module provides package (?P<symbol>[^\s;]+)",
    r"package (?P<symbol>\S+) is not in ",
    r"cannot find (?:package|module providing package) \"?(?P<symbol>[^\s\":]+)",
)
_WORDS = (
    *interface(r".*? does not (?:implement|satisfy) .*?\(missing method (?P<symbol>\w+)\)"),
    *interface(r".*?interface conversion: .*?: missing method (?P<symbol>\w+)"),
    *missing(
        r"undefined: (?:\w+\.)*(?P<symbol>\w+)",
        r"\S+ undefined \(.*? has no (?:field or method|field|method) (?P<symbol>\w+)",
        r"unknown field (?P<symbol>\w+) in struct literal",
        r"name (?P<symbol>\w+) not exported by package ",
    ),
    *interface(
        r"cannot use .* as .* value in ",
        r"(?:not enough|too many) arguments in call to (?:.*\.)?(?P<symbol>\w+)",
        r"(?:not enough|too many) (?:arguments in call|return values|values in struct literal)",
        r"too few values in struct literal",
        r"assignment mismatch: ",
        r"cannot convert ",
        r"cannot call non-function ",
        r"invalid operation: ",
        r"impossible type (?:assertion|switch case): ",
        r".*? \(no value\) used as value",
        r".*? does not (?:implement|satisfy) ",
        r"(?:panic: )?interface conversion: ",
        r"wrong type for method ",
        r"(?:got \d+ type arguments|not enough type arguments|too many type arguments)",
    ),
)
_PLACED = re.compile(r"(?:vet: )?\S{1,1000}?\.go:\d{1,9}(?::\d{1,9})?: (?P<message>.*)")


def error_of(failure: Failure) -> Error:
    """The first error in a test's words."""
    return next(printed(failure.message.splitlines()), OTHER)


def printed(lines: Iterable[str]) -> Iterator[Error]:
    """Every error with its place, and every panic."""
    for wrapped in lines:
        line = _unwrapped(wrapped)
        placed = _PLACED.match(line)
        if placed:
            yield _error(placed["message"])
        elif line.startswith(("panic: ", "no required module", "package ", "cannot find ")):
            yield _error(line)


def _error(message: str) -> Error:
    package = first(_PACKAGES, message)
    if package is not None and package.symbol:
        return evolve(package, symbol=module_name(package.symbol))
    return first(_WORDS, message) or OTHER


def _unwrapped(line: str) -> str:
    """What stands in an event of ``go test -json``."""
    if not line.startswith("{"):
        return line
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return line
    said = event.get("Output") if isinstance(event, dict) else None
    return said.rstrip("\n") if isinstance(said, str) else ""
