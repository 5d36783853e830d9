"""Drops messages with words that nobody wants."""

from __future__ import annotations

from mailroom.message import Message, Stage
from mailroom.stages.fold import folded


def make(options: dict[str, str]) -> Stage:
    unwanted = {folded(word) for word in options.get("words", "").split(",") if word.strip()}

    def spam(message: Message) -> None:
        message.dropped = any(folded(word) in unwanted for word in message.text.split())

    return spam
