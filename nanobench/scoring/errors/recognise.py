"""What does a failure say? Asked of a test's record, or of what the suite's command printed when there is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from attrs import evolve, frozen

from nanobench.model.result import Failure
from nanobench.scoring.errors import go, java, javascript, python, rust
from nanobench.scoring.errors.error import OTHER, Error

MAX_OUTPUT = 4 << 20
"""Bytes of an output that are read, from its end: what stopped a command stands there."""

MAX_ERRORS = 1000

MAX_LINE = 4000
"""Characters of a line or message that are read."""

_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")


@frozen(kw_only=True)
class _Language:
    error_of: Callable[[Failure], Error]
    printed: Callable[[Sequence[str]], Iterator[Error]]


_LANGUAGES = {
    name: _Language(error_of=module.error_of, printed=module.printed)
    for name, module in (
        ("go", go),
        ("java", java),
        ("javascript", javascript),
        ("python", python),
        ("rust", rust),
        ("typescript", javascript),
    )
}
LANGUAGES = frozenset(_LANGUAGES)
"""Languages of suites whose errors are recognised; every error of another is ``other``."""

_HOOK = re.compile(r'"(?:before|after) (?:all|each)" hook\b')


def error_of(language: str, failure: Failure) -> Error:
    """What a test's failure says. Any text will do."""
    known = _LANGUAGES.get(language)
    message = _COLOUR.sub("", failure.message[:MAX_LINE])
    return OTHER if known is None else known.error_of(evolve(failure, message=message))


def compiler_errors(language: str, output: bytes) -> tuple[Error, ...]:
    """The missing names and mismatches that a command printed, in order and as often as it did: of a compiler all of
    them, of a runtime those that a traceback ended with. Any bytes will do."""
    known = _LANGUAGES.get(language)
    if known is None:
        return ()
    text = _COLOUR.sub("", output[-MAX_OUTPUT:].decode("utf-8", "replace"))
    lines = [line[:MAX_LINE] for line in text.splitlines()]
    told = (error for error in known.printed(lines) if error.kind != "other")
    return tuple(islice(told, MAX_ERRORS))


def failure_of(test: str, failures: Mapping[str, Failure]) -> Failure | None:
    """Why did the test (``suite|node id``) fail? Its own record, or else that of the closest thing that it stands in
    and that broke before it ran: a suite of tests, its hook, its class, its file, its folder."""
    if test in failures:
        return failures[test]
    around = [name for name in failures if _holds(name, test)]
    return failures[max(around, key=len)] if around else None


def _holds(name: str, test: str) -> bool:
    hook = _HOOK.search(name)
    if hook is not None:
        return test.startswith(name[: hook.start()])
    file, separator, title = name.partition("::")
    if separator and title.endswith(file.partition("|")[2]):  # Node's runner names a test after a file that broke
        return test.startswith(f"{file}::")
    return test.startswith(name) and (name.endswith("::") or test[len(name) :].startswith(("::", " > ", "/")))
