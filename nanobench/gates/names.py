"""Identifiers and where they stand: what a change introduces, what its tests ask for, what a statement gives away."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import frozen

from nanobench.sources.hunks import hunks_of
from nanobench.sources.patch import sections
from nanobench.sources.quoting import display
from nanobench.store.plain_file import read_below

MAX_FILE = 1 << 20
"""Bytes of a file of the base in which names are looked for."""

_NAME = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]{3,}")
_COMMENT = re.compile(rb"\s*(#|//|/?\*).*|\s(#|//)\s.*")
_IN_CODE = re.compile(
    rb"(?:\b(?:class|const|def|enum|fn|func|function|interface|let|struct|trait|type|var)\s+|\.)([A-Za-z_$][\w$]{3,})"
    rb"|([A-Za-z_$][\w$]{3,})(?=\(|\s*=|:\s)"
)
_IMPORT = re.compile(rb"\s*(from\s+\S+\s+)?import\b|.*\brequire\(|\s*(export|\}).*\bfrom\s+['\"]|\s*use\s")


@frozen(kw_only=True)
class Added:
    """A line that a patch adds: its file, its number in the new file, its text."""

    path: str
    number: int
    text: bytes

    @property
    def place(self) -> str:
        """As messages name it."""
        return f"{self.path}:{self.number}"

    @property
    def imports(self) -> bool:
        """Does it import something? Then nothing else of its file runs where that is missing."""
        return _IMPORT.match(self.text) is not None


def added_lines(patch: bytes, *, where: str) -> Iterator[Added]:
    """Every line that the patch adds, in order."""
    for section in sections(patch, where=where):
        for hunk in hunks_of(section):
            for _, number, text in hunk.added():
                yield Added(path=display(section.path), number=number, text=text)


def names_in(text: bytes) -> set[str]:
    """The identifiers of four letters and more."""
    return {name.decode() for name in _NAME.findall(text)}


def names_of_code(line: bytes) -> set[str]:
    """The identifiers that a line defines, calls, sets or takes from something: words of prose are none."""
    found = _IN_CODE.findall(_COMMENT.sub(b"", line))
    return {(defined or used).decode() for defined, used in found}


def unknown_at(base: Path, names: Iterable[str]) -> frozenset[str]:
    """Which of these names stand in no file of the base?"""
    left = set(names)
    for folder, folders, files in os.walk(base):
        if ".git" in folders:
            folders.remove(".git")
        for name in files:
            if not left:
                return frozenset()
            left -= names_in(_content(base, Path(folder, name)))
    return frozenset(left)


def _content(base: Path, path: Path) -> bytes:
    try:
        return read_below(base, path.relative_to(base).as_posix(), limit=MAX_FILE)
    except OSError:  # a link, or too large: no source file
        return b""
