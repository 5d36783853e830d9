"""Errors of V8 and of what resolves modules (Node, vite, jest), and of the TypeScript compiler inside a runner.

Decision: what is read from ``undefined`` or ``null`` is ``other``: a value is absent, and which name is to blame for
it is not said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attrs import evolve

from nanobench.model.result import Failure
from nanobench.scoring.errors.error import OTHER, Error, Phrase, first, interface, missing, neither
from nanobench.scoring.errors.typescript import by_words, diagnostics
from nanobench.symbols.names import module_name

_QUOTED = r"['\"](?P<symbol>[^'\"]+)['\"]"
_NAME = r"(?<![\w$#])(?P<symbol>(?!\d)[\w$#][\w$]*+)"  # whole, so that a long word is looked at once
_MODULES = missing(
    rf"Cannot find (?:module|package) {_QUOTED}",
    rf"Failed to resolve import {_QUOTED}",
    r"Failed to load url (?P<symbol>\S+)",
    rf"Missing {_QUOTED} specifier in ",
    rf"Package subpath {_QUOTED} is not defined ",
)
_WORDS: dict[str, tuple[Phrase, ...]] = {
    "ReferenceError": missing(r"(?P<symbol>[\w$]+) is not defined"),
    "TypeError": (
        *neither(r"(?:\w+ ){0,3}(?:undefined|null) is not "),
        *missing(
            rf"\([^()\n]*?, (?:[\w$]+\.)*{_NAME}\) is not a (?:function|constructor)\b",
            rf"[^\n]*?{_NAME} is not a (?:function|constructor)\b",
        ),
        *interface(
            r"[^\n]*? is not (?:a function|a constructor|iterable)\b",
            r"Class constructor \S+ cannot be invoked without 'new'",
            r"The [^\n]*? (?:argument|property) must be ",
            r"Cannot mix BigInt and other types",
            r"Cannot convert (?!undefined or null)",
            r"Cannot use 'in' operator to search for ",
            r"Right-hand side of 'instanceof' is not ",
            r"[^\n]*? called on (?:incompatible receiver|non-object)",
        ),
    ),
    "SyntaxError": missing(
        rf"The requested module .*? does not provide an export named {_QUOTED}",
        rf"Named export {_QUOTED} not found",
    ),
    "Error": missing(
        rf"{_QUOTED} is not exported by ",
        rf"No matching export in .*? for import {_QUOTED}",
        rf"\[vitest\] No {_QUOTED} export is defined on ",
        r"Property `(?P<symbol>[^`]+)` does not exist in the provided object",
        rf"The property {_QUOTED} is not defined on the object",
    ),
}
_THROWN = re.compile(
    r"\s*(?:Uncaught |Caused by: )?(?P<type>\w{0,100}Error)(?: \[\w{1,100}\])?: (?P<message>.*)", re.DOTALL
)


def error_of(failure: Failure) -> Error:
    """What a thrown value says, and the first of what the compiler says in it."""
    compiled = list(diagnostics(failure.message.splitlines()))
    if compiled:
        return next((error for error in compiled if error.kind != "other"), OTHER)
    if failure.type.startswith("TypeCheck"):
        return by_words(failure.message) or OTHER
    return _thrown(failure.type, failure.message)


def printed(lines: Iterable[str]) -> Iterator[Error]:
    """The compiler's errors, and whatever was thrown where no test caught it."""
    for line in lines:
        compiled = next(diagnostics([line]), None)
        thrown = _THROWN.match(line)
        if compiled is not None:
            yield compiled
        elif thrown:
            yield _thrown(thrown["type"], thrown["message"])


def _thrown(type: str, message: str) -> Error:
    named = _THROWN.match(message)
    if named and (type == "Error" or not type.endswith("Error")):
        type, message = named["type"], named["message"]
    module = first(_MODULES, message)
    if module is not None and module.symbol:
        return evolve(module, symbol=module_name(module.symbol))
    return first(_WORDS.get(type, ()), message) or OTHER
