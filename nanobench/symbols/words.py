"""Which words are new to a base? Any word of any file counts, prose too: whoever reads the base has been told it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from nanobench.store.plain_file import read_below

MAX_FILE = 1 << 20
"""Bytes of a file of the base in which words are looked for."""

MIN_NAME = 4
"""Letters of a name that says something: shorter ones are everywhere."""

_WORD = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]{%d,}" % (MIN_NAME - 1))


def words_in(text: bytes) -> set[str]:
    """The words that could be names, of four letters and more."""
    return {word.decode() for word in _WORD.findall(text)}


def unknown_at(base: Path, names: Iterable[str]) -> frozenset[str]:
    """Which of these names, of four letters and more, stand in no file of the base?"""
    left = {name for name in names if len(name) >= MIN_NAME}
    for folder, folders, files in os.walk(base):
        if ".git" in folders:
            folders.remove(".git")
        for name in files:
            if not left:
                return frozenset()
            left -= words_in(_content(base, Path(folder, name)))
    return frozenset(left)


def _content(base: Path, path: Path) -> bytes:
    try:
        return read_below(base, path.relative_to(base).as_posix(), limit=MAX_FILE)
    except OSError:  # a link, or too large: no source file
        return b""
