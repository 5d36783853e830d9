"""An error, recognised: its kind and the name that it is about; and the rules by which words are recognised."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from attrs import frozen

Kind = Literal["missing_symbol", "interface", "other"]


@frozen(kw_only=True)
class Error:
    """``missing_symbol``: a name, member, export or module that is not there. ``interface``: types, arguments or
    members that do not fit. ``other``: neither, or nothing that can be told.

    ``symbol`` is the missing name; of an interface error the member that is missing, the argument that nobody
    expects, or the function that takes others. Names are bare: the last part of ``a.b.c`` and of a module's path.
    """

    kind: Kind
    symbol: str | None = None


OTHER = Error(kind="other")


@frozen(kw_only=True)
class Rule:
    """Words at the beginning of a message, and what they say; the group ``symbol`` is the name."""

    kind: Kind
    words: re.Pattern[str]

    def error(self, message: str) -> Error | None:
        """The error that the message is; None when these are not its words."""
        match = self.words.match(message)
        return None if match is None else Error(kind=self.kind, symbol=match.groupdict().get("symbol"))


def missing(*words: str) -> tuple[Rule, ...]:
    """A rule for each, of a name that is not there."""
    return _rules("missing_symbol", words)


def interface(*words: str) -> tuple[Rule, ...]:
    """A rule for each, of what does not fit."""
    return _rules("interface", words)


def neither(*words: str) -> tuple[Rule, ...]:
    """A rule for each, of what looks like one of them and is not."""
    return _rules("other", words)


def first(rules: Iterable[Rule], message: str) -> Error | None:
    """What the first rule that fits says of the message; None when none does."""
    return next((error for rule in rules if (error := rule.error(message)) is not None), None)


def _rules(kind: Kind, words: Iterable[str]) -> tuple[Rule, ...]:
    return tuple(Rule(kind=kind, words=re.compile(each, re.DOTALL)) for each in words)
