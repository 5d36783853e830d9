"""A message: headers, text, and where it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Message:
    """What the stages work on; ``folder`` is None while nobody has decided."""

    headers: dict[str, str]
    text: str
    folder: str | None = None
    dropped: bool = False


Stage = Callable[[Message], None]


def parse(raw: str) -> Message:
    """Headers up to the first empty line, then the text."""
    head, _, text = raw.partition("\n\n")
    pairs = (line.partition(":") for line in head.splitlines())
    return Message(headers={name.strip().lower(): value.strip() for name, _, value in pairs}, text=text)
