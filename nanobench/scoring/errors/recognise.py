"""What does a failure say? Asked of a test's record, or of what the suite's command printed when there is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


def places(names: Iterable[str]) -> dict[str, str]:
    """How the ids begin of what each of these records is about, and the record's name (``suite|node id``): a test, or
    what tests stand in and what broke before they ran: a suite of tests, its hook, a class, a file, a folder."""
    return {_beginning(name): name for name in sorted(names)}


def place_of(test: str, broken: Mapping[str, str]) -> str | None:
    """Which record says why the test failed? Its own, or else that of the closest thing that it stands in.

    Args:
        broken: as :func:`places` gives them.
    """
    ends = (end for end in range(len(test), 0, -1) if test[:end] in broken and _ends(test, end))
    return next((broken[test[:end]] for end in ends), None)


def _beginning(name: str) -> str:
    hook = _HOOK.search(name)
    if hook is not None:
        return name[: hook.start()]
    file, _, title = name.partition("::")
    path, named = f"/{file.partition('|')[2]}", f"/{title.lstrip('/')}"
    by_file = title and (named.endswith(path) or path.endswith(named))
    return f"{file}::" if by_file else name  # Node's runner names a test after a file that broke


def _ends(test: str, end: int) -> bool:
    """May what is around the test end here? A hook's suite ends with a blank."""
    return end == len(test) or test[:end].endswith(("::", " ")) or test[end:].startswith(("::", " > ", "/"))
