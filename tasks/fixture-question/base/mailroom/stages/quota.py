"""Drops what a sender sends beyond a number of messages."""

from __future__ import annotations

from collections import Counter

from mailroom.message import Message, Stage


def make(options: dict[str, str]) -> Stage:
    most = int(options.get("most", "100"))
    seen: Counter[str] = Counter()

    def quota(message: Message) -> None:
        sender = message.headers.get("from", "").rpartition("<")[2].rstrip(">").strip().lower()
        seen[sender] += 1
        message.dropped = seen[sender] > most

    return quota
