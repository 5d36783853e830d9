"""Errors of javac, alone and as Maven and Gradle print them, and those of the virtual machine at run time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nanobench.model.result import Failure
from nanobench.scoring.errors.error import OTHER, Error, Phrase, first, interface, missing

_COMPILER = (
    *missing(
        r"cannot find symbol\n *(?:@?[a-z]+ +)*(?:<[^>\n]*>)?(?P<symbol>[\w$]+)",
        r"cannot find symbol",
        r"package (?:[\w$]+\.)*(?P<symbol>[\w$]+) does not exist",
    ),
    *interface(
        r"\S+ is not abstract and does not override abstract method (?P<symbol>[\w$]+)",
        r"incompatible types",
        r"(?:method|constructor) (?:<[^>]*>)?(?P<symbol>[\w$]+) in \w+ .*? cannot be applied to given types",
        r"no suitable (?:method|constructor) found for (?P<symbol>[\w$]+)",
        r"method does not override or implement a method from a supertype",
        r".*? cannot (?:override|implement|hide) ",
        r"bad operand types? for ",
        r"\S+ cannot be dereferenced",
        r"\S+ is abstract; cannot be instantiated",
        r".*? has (?:private|protected) access in ",
        r".*? is not public in ",
        r"wrong number of type arguments",
        r"type argument .*? is not within bounds of ",
        r"incomparable types",
        r"unexpected type",
        r"for-each not applicable to expression type",
    ),
)
_RUNTIME: dict[str, tuple[Phrase, ...]] = {
    "NoSuchMethodError": missing(r"[^\n]*?(?<![\w$])(?P<symbol>[\w$]++|<init>)\("),
    "NoSuchFieldError": missing(r"[^\n]*?(?<![\w$])(?P<symbol>[\w$]++)'?\s*$"),
    "NoSuchMethodException": missing(r"[^\n]*?(?<![\w$])(?P<symbol>[\w$]++)\("),
    "NoSuchFieldException": missing(r"(?P<symbol>[\w$]+)"),
    "NoClassDefFoundError": missing(r"(?:[\w$]+[/.])*(?P<symbol>[\w$]+)$"),
    "ClassNotFoundException": missing(r"(?:[\w$]+[/.])*(?P<symbol>[\w$]+)$"),
    **dict.fromkeys(
        ("ClassCastException", "AbstractMethodError", "IncompatibleClassChangeError", "IllegalAccessError"),
        interface(r""),
    ),
}
_PLACED = re.compile(r"(?:\[ERROR\] )?\S{1,1000}?\.java:(?:\[\d{1,9},\d{1,9}\]|\d{1,9}:)(?: error:)? (?P<message>.*)")
_THROWN = re.compile(
    r"(?:\[ERROR\] +)?(?:Exception in thread \"[^\"]{1,100}\" |Caused by: )?"
    r"(?P<type>[\w$.]{1,300}(?:Error|Exception))(?:: (?P<message>.*))?$"
)


def error_of(failure: Failure) -> Error:
    """What the exception says; where its type is not known, the first error in its words."""
    if not failure.type:
        return next(printed(failure.message.splitlines()), OTHER)
    return _thrown(failure.type, failure.message)


def printed(lines: Sequence[str]) -> Iterator[Error]:
    """Every error of the compiler, with its symbol from one of the next lines; and what was thrown."""
    for number, line in enumerate(lines):
        placed = _PLACED.match(line)
        thrown = _THROWN.match(line)
        if placed:
            symbols = (below.partition("symbol: ")[2] for below in lines[number + 1 : number + 5])
            symbol = next(filter(None, symbols), "")
            yield first(_COMPILER, f"{placed['message']}\n{symbol}") or OTHER
        elif thrown:
            yield _thrown(thrown["type"], thrown["message"] or "")


def _thrown(type: str, message: str) -> Error:
    return first(_RUNTIME.get(type.rpartition(".")[2], ()), message) or OTHER
