"""Looking for many texts at once, in linear time, in any bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from hashlib import sha1

from ahocorasick_rs import BytesAhoCorasick
from attrs import define, field

from nanobench.leaks.runs import squeezed
from nanobench.leaks.wanted import Wanted
from nanobench.sources.question import spoken
from nanobench.sources.vendored_files import ANSWER

_DIFF = b"\n@@ -"
_MARKS = re.compile(rb"^(?:-[^\n]*|[+ ])", re.MULTILINE)
_QUOTED_LINES = 3
"""Line breaks as ``\\n`` in one line, from which on it is a text in quotes."""

_LISTED = re.compile(rb"\\n\",[ \t\r\n]*\"")
"""Between two lines of a text that JSON keeps line by line, as notebooks do."""

_TAGS = re.compile(rb"<[^<>]*>")
_ENTITIES = (
    (b"&lt;", b"<"),
    (b"&gt;", b">"),
    (b"&quot;", b'"'),
    (b"&#39;", b"'"),
    (b"&#x27;", b"'"),
    (b"&amp;", b"&"),
)
_ESCAPES = ((b"\\\\", b"\0"), (b"\\n", b""), (b"\\t", b""), (b"\\r", b""), (b"\\", b""), (b"\0", b"\\"))
"""What quoting did, undone, except for white space."""

_LONG_LINE = 200
"""Bytes a line, on average, from which on a text is minified."""

_LEAST_WORDS = 2


class Texts:
    """A set of texts, found in bytes all at once."""

    def __init__(self, texts: Set[bytes]) -> None:
        self._texts = sorted(texts)
        self._automaton = BytesAhoCorasick(self._texts) if texts else None

    def within(self, data: bytes) -> set[bytes]:
        """Which of them stand in ``data``?"""
        if self._automaton is None:
            return set()
        found = self._automaton.find_matches_as_indexes(data, overlapping=True)
        return {self._texts[index] for index, _, _ in found}


@define
class Search:
    """Everything that is wanted, ready to be looked for."""

    wanted: Wanted
    _runs: Texts = field(init=False)
    _words: Texts = field(init=False)
    _answer: bytes | None = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._runs, self._words = Texts(self.wanted.runs.keys()), Texts(self.wanted.words.keys())
        answer = self.wanted.answer
        self._answer = None if answer is None else squeezed(answer.encode())

    def runs(self, data: bytes) -> set[bytes]:
        """The runs in ``data``: as it stands, quoted in JSON or a source map, added by a patch, shown on a page."""
        return {run for text in _readings(data) for run in self._runs.within(text)}

    def words(self, path: str, data: bytes) -> set[bytes]:
        """The words in a compiled or minified file; none when there are too few to be more than chance."""
        found = self._words.within(data) if _without_lines(path, data) else set()
        return found if len(found) >= _LEAST_WORDS else set()

    def file(self, data: bytes) -> str | None:
        """Which file of the solution is it, byte by byte?"""
        return self.wanted.files.get(blob_id(data))

    def answers(self, path: str, data: bytes) -> bool:
        """Does it give the answer, as an agent would, or as the file that holds it?"""
        if self._answer is None:
            return False
        text = squeezed(data)
        mark = squeezed(spoken("").encode()) + self._answer
        return mark in text or (path.rpartition("/")[2] == ANSWER and text == self._answer)


def blob_id(data: bytes) -> str:
    """Git's name of a file's content."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _readings(data: bytes) -> Iterator[bytes]:
    yield squeezed(data)
    if data.count(b"\\n") >= _QUOTED_LINES:
        yield squeezed(_unquoted(_LISTED.sub(rb"\\n", data)))
    if _DIFF in data:
        yield squeezed(_MARKS.sub(b"", data))
    if b"</pre>" in data:
        yield squeezed(_unmarked(data))


def _unmarked(data: bytes) -> bytes:
    """The text of a page, which may show sources with a tag a word."""
    text = _TAGS.sub(b"", data)
    for entity, char in _ENTITIES:
        text = text.replace(entity, char)
    return text


def _unquoted(data: bytes) -> bytes:
    """The lines that quote whole texts, each as these texts are."""
    text = b"".join(_quoting_lines(data))
    for escape, char in _ESCAPES:
        text = text.replace(escape, char)
    return text


def _quoting_lines(data: bytes) -> Iterator[bytes]:
    at = data.find(b"\\n")
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        line = data[start:] if end < 0 else data[start:end]
        if line.count(b"\\n") >= _QUOTED_LINES:
            yield line
        at = data.find(b"\\n", start + len(line))


def _without_lines(path: str, data: bytes) -> bool:
    """Is it byte code, or text in very long lines?"""
    if path.endswith((".pyc", ".pyo")):
        return True
    return b"\0" not in data and data.count(b"\n") * _LONG_LINE < len(data)
