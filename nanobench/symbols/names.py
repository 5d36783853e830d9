"""Which names do sources know, and which does a patch bring? Looked up as names, never as parts of a text.

A name that stands in code counts, where it is defined and where it is used; words of comments and strings do not.
Keys of objects and what is imported count although they are strings. Texts may be hostile: what is too large, or
nests so deeply that a grammar would take long, gives all its words, the reading that finds the most names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from attrs import frozen

from nanobench.sources.hunks import Hunk, hunks_of
from nanobench.sources.patch import Section, sections
from nanobench.sources.quoting import display
from nanobench.symbols.grammars import SUFFIXES, grammar_of, speaks, spoken

MAX_TEXT = 256 << 10
"""Bytes of one text that a grammar reads."""

MAX_ANGLES = 1000
"""``<`` in one statement: the time that a grammar takes for ``a<a<a<…`` grows with the third power."""

MAX_NAME = 200
_WORD = re.compile(rb"[A-Za-z_$][\w$]*")
_STATEMENT_END = re.compile(rb"[;{}]")


@frozen(kw_only=True)
class Added:
    """A line that a patch adds: its file, its number in the new file, its text, and the names in its code."""

    path: str
    number: int
    text: bytes
    names: frozenset[str]

    @property
    def place(self) -> str:
        """As messages name it."""
        return f"{self.path}:{self.number}"


def names_in(language: str, sources: Mapping[str, bytes]) -> frozenset[str]:
    """Every name that the sources of a language know, their modules' own names among them; any text will do.

    Args:
        language: a suite's; files of other languages are left out.
        sources: text by path.
    """
    found: set[str] = set()
    for path, text in sources.items():
        grammar = grammar_of(path)
        if grammar is not None and speaks(grammar, language):
            found.update(module_name(part) for part in PurePosixPath(path).parts)
            found.update(name for _, name in _spoken(grammar, text))
    return frozenset(found)


def names_added(patch: bytes) -> frozenset[str]:
    """The names in code of every line that the patch adds.

    Raises:
        Refused: ``NB_PATCH`` when it is none.
    """
    return frozenset(name for line in added_lines(patch) for name in line.names)


def added_lines(patch: bytes, *, where: str = "patch") -> Iterator[Added]:
    """Every line that the patch adds, in order.

    Raises:
        Refused: as :func:`names_added`.
    """
    for section in sections(patch, where=where):
        for hunk in hunks_of(section):
            yield from _added(section, hunk)


def module_name(specifier: str) -> str:
    """What a module is called where it is missed: the last part of its path, without the suffix of a source."""
    last = PurePosixPath(specifier.rpartition("/")[2])
    return last.stem if last.suffix in SUFFIXES else last.name


def _added(section: Section, hunk: Hunk) -> Iterator[Added]:
    path = display(section.path)
    grammar = grammar_of(path)
    names: dict[int, set[str]] = {}
    if grammar is not None:
        after = b"".join(line[1:] for line in hunk.lines if line[:1] in b"+ ")
        for row, name in _spoken(grammar, after):
            names.setdefault(row, set()).add(name)
    for _, number, text in hunk.added():
        yield Added(path=path, number=number, text=text, names=frozenset(names.get(number - hunk.new, ())))


def _spoken(grammar: str, text: bytes) -> Iterator[tuple[int, str]]:
    """Each name and the line (from 0) that it stands in."""
    if not readable(text):
        yield from _words(text)
        return
    for each in spoken(grammar, text):
        if len(each.text) <= MAX_NAME:
            name = each.text.decode("utf-8", "replace")
            yield each.row, module_name(name) if each.module else name


def readable(text: bytes) -> bool:
    """Does a grammar read this text in the time that its length is worth?"""
    return len(text) <= MAX_TEXT and all(part.count(b"<") <= MAX_ANGLES for part in _STATEMENT_END.split(text))


def _words(text: bytes) -> Iterator[tuple[int, str]]:
    for row, line in enumerate(text.split(b"\n")):
        yield from ((row, word[:MAX_NAME].decode("ascii")) for word in _WORD.findall(line))
