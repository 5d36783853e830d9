"""Passes a message through every stage."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from mailroom import stages
from mailroom.config import Settings
from mailroom.message import parse
from mailroom.store import Folders


class Pipeline:
    """The stages in their order, and how many messages each folder got."""

    def __init__(self, settings: Settings) -> None:
        self.stages = [stages.load(name, settings.options.get(name, {})) for name in settings.order]
        self.counts: Counter[str] = Counter()

    def run(self, raw: str, store: Path) -> None:
        message = parse(raw)
        for stage in self.stages:
            stage(message)
            if message.dropped:
                self.counts["(dropped)"] += 1
                return
        Folders(store).keep(message)
        self.counts[message.folder or "(none)"] += 1
