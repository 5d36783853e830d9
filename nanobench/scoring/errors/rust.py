"""Errors of rustc as cargo prints them, by their codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from nanobench.model.result import Failure
from nanobench.scoring.errors.error import OTHER, Error, Phrase, first, interface, missing

_FIRST = r"[^`]*`(?:[^`]*::)?(?P<symbol>\w+)!?`"
_NAMED = r".* named `(?P<symbol>\w+)`"
_CODES: dict[str, tuple[Phrase, ...]] = {
    # In scope, in a path, in a trait, in a crate.
    **dict.fromkeys(
        (
            *("E0405", "E0407", "E0412", "E0422", "E0423", "E0424", "E0425", "E0432", "E0433", "E0437", "E0438"),
            *("E0463", "E0531", "E0532", "E0574", "E0576", "E0583", "E0220", "E0609"),
        ),
        missing(_FIRST),
    ),
    **dict.fromkeys(("E0026", "E0559", "E0560"), missing(_NAMED)),
    "E0599": (
        # The name is there, a bound is not met.
        *interface(r".* exists for .* but ", r"`[^`]*` is not an iterator"),
        *missing(_FIRST),
    ),
    **dict.fromkeys(("E0046", "E0063", "E0027"), interface(r".*?`(?P<symbol>\w+)`", r"")),
    **dict.fromkeys(
        (
            *("E0023", "E0040", "E0049", "E0050", "E0053", "E0057", "E0060", "E0061", "E0069", "E0107", "E0117"),
            *("E0185", "E0186", "E0191", "E0195", "E0271", "E0276", "E0277", "E0308", "E0317", "E0326", "E0369"),
            *("E0451", "E0600", "E0603", "E0604", "E0605", "E0606", "E0607", "E0608", "E0614", "E0616", "E0618"),
            *("E0624", "E0631"),
        ),
        interface(r""),
    ),
}
_NO_CODE = missing(r"cannot find (?:macro|attribute|derive macro) `(?P<symbol>\w+)`")
_ERROR = re.compile(r"\s{0,100}error(?:\[(?P<code>E\d{4})\])?: (?P<message>.*)")


def error_of(failure: Failure) -> Error:
    """The first error in a test's words."""
    return next(printed(failure.message.splitlines()), OTHER)


def printed(lines: Iterable[str]) -> Iterator[Error]:
    """Every error of the compiler."""
    for line in lines:
        found = _ERROR.match(line)
        if found:
            yield first(_CODES.get(found["code"], ()) if found["code"] else _NO_CODE, found["message"]) or OTHER
