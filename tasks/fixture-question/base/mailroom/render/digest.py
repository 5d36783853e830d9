"""A day's messages in one text."""

from __future__ import annotations

from collections.abc import Iterable

from mailroom.message import Message
from mailroom.render.columns import aligned


def digest(messages: Iterable[Message]) -> str:
    """A line a message: who, and about what."""
    return aligned([(m.headers.get("from", ""), m.headers.get("subject", "")) for m in messages])
