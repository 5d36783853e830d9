"""An error, recognised: its kind and the name that it is about; and the phrases by which it is recognised."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from attrs import frozen

ErrorKind = Literal["missing_symbol", "interface", "other"]


@frozen(kw_only=True)
class Error:
    """``missing_symbol``: a name, member, export or module that is not there. ``interface``: types, arguments or
    members that do not fit. ``other``: neither, or nothing that can be told.

    ``symbol`` is the missing name; of an interface error the member that is missing, the argument that nobody
    expects, or the function that takes others. Names are bare: the last part of ``a.b.c`` and of a module's path.
    """

    kind: ErrorKind
    symbol: str | None = None


OTHER = Error(kind="other")


@frozen(kw_only=True)
class Phrase:
    """Words at the beginning of a message, and what they say; the group ``symbol`` is the name."""

    kind: ErrorKind
    words: re.Pattern[str]

    def error(self, message: str) -> Error | None:
        """The error that the message is; None when these are not its words."""
        match = self.words.match(message)
        return None if match is None else Error(kind=self.kind, symbol=match.groupdict().get("symbol"))


def missing(*words: str) -> tuple[Phrase, ...]:
    """A phrase for each, of a name that is not there."""
    return _phrases("missing_symbol", words)


def interface(*words: str) -> tuple[Phrase, ...]:
    """A phrase for each, of what does not fit."""
    return _phrases("interface", words)


def neither(*words: str) -> tuple[Phrase, ...]:
    """A phrase for each, of what looks like one of them and is not."""
    return _phrases("other", words)


def first(phrases: Iterable[Phrase], message: str) -> Error | None:
    """What the first phrase that fits says of the message; None when none does."""
    return next((error for phrase in phrases if (error := phrase.error(message)) is not None), None)


def _phrases(kind: ErrorKind, words: Iterable[str]) -> tuple[Phrase, ...]:
    return tuple(Phrase(kind=kind, words=re.compile(each, re.DOTALL)) for each in words)
