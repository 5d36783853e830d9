"""Decides where a message goes."""

from __future__ import annotations

from mailroom.message import Message, Stage


def make(options: dict[str, str]) -> Stage:
    default = options.get("default", "inbox")
    rules = {name: folder for name, folder in options.items() if name != "default"}

    def route(message: Message) -> None:
        sender = message.headers.get("from", "")
        message.folder = next((folder for part, folder in rules.items() if part in sender), default)

    return route
