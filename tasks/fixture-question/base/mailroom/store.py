"""Folders of messages on disk."""

from __future__ import annotations

import re
from pathlib import Path

from mailroom.message import Message


class Folders:
    """One folder of the disk, with a folder for each of the mail's."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def keep(self, message: Message) -> Path:
        place = self.root / (message.folder or "inbox")
        place.mkdir(parents=True, exist_ok=True)
        file = _free_name(place, message.headers.get("subject", "message"))
        file.write_text(message.text, "utf-8")
        return file


def _free_name(folder: Path, title: str) -> Path:
    """A file of the folder that is not there yet, named after a title."""
    stem = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "message"
    names = (f"{stem}.txt", *(f"{stem}-{number}.txt" for number in range(2, 10_000)))
    return next(folder / name for name in names if not (folder / name).exists())
