"""What a patch does line by line: its hunks, and the same patch without one of them or with a line changed.

Rules without I/O. A patch made here has the object ids that git would give it, so that it is one as git writes it,
unless git would now line the two sides up in another way; whoever applies it finds out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import sha1

from attrs import evolve, frozen

from nanobench.sources.patch import Section

_HEADER = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)\n", re.DOTALL)
_INDEX = re.compile(rb"(?m)^(index [0-9a-f]{40}\.\.)[0-9a-f]{40}")
_CUT = b"\\"
"""How the line begins that says that the one before has no line end."""


@frozen(kw_only=True)
class Hunk:
    """A run of lines: where it begins on both sides, the rest of its header, and its lines with their marks."""

    old: int
    new: int
    tail: bytes
    lines: tuple[bytes, ...]

    def count(self, marks: bytes) -> int:
        """How many lines have one of these marks?"""
        return sum(line[:1] in marks for line in self.lines)

    def added(self) -> Iterator[tuple[int, int, bytes]]:
        """Each added line: its place among the lines, its number in the new file, and its text."""
        number = self.new
        for at, line in enumerate(self.lines):
            if line[:1] == b"+":
                yield at, number, line[1:].rstrip(b"\r\n")
            number += line[:1] in b"+ "

    def replaced(self) -> Iterator[int]:
        """The number in the old file of each line that goes, and of the line before each that comes."""
        number = self.old + (self.count(b" -") == 0)
        for line in self.lines:
            if line[:1] == b"+":
                yield number - 1
            elif line[:1] in b" -":
                if line[:1] == b"-":
                    yield number
                number += 1

    def with_line(self, at: int, text: bytes) -> Hunk:
        """The same hunk with another text of the added line at that place."""
        line = self.lines[at]
        end = line[len(line.rstrip(b"\r\n")) :]
        return evolve(self, lines=(*self.lines[:at], b"+" + text + end, *self.lines[at + 1 :]))


def hunks_of(section: Section) -> tuple[Hunk, ...]:
    """The hunks of a section that was read from a patch; none when it is binary or changes a mode alone."""
    lines = [line + b"\n" for line in section.data.split(b"\n")[:-1]]
    start = next((at for at, line in enumerate(lines) if line.startswith(b"@@ ")), len(lines))
    if b"GIT binary patch\n" in lines[:start]:
        return ()
    found: list[Hunk] = []
    while start < len(lines):
        hunk = _hunk(lines, start)
        found.append(hunk)
        start += 1 + len(hunk.lines)
    return tuple(found)


def with_hunks(section: Section, hunks: Sequence[Hunk], base: bytes) -> bytes:
    """The section with these of its hunks, in order, maybe changed; nothing without any.

    Args:
        base: the file's content before the patch (empty when there is none).
    """
    if not hunks:
        return b""
    content = applied(hunks, base)
    blob = sha1(b"blob %d\0" % len(content) + content).hexdigest().encode()  # noqa: S324 (git's own)
    head = section.data[: section.data.index(b"\n@@ ") + 1]
    if section.change != "delete":
        head = _INDEX.sub(rb"\g<1>" + blob, head, count=1)
    shift, parts = 0, [head]
    for hunk in hunks:
        parts.append(_rendered(hunk, shift))
        shift += hunk.count(b"+") - hunk.count(b"-")
    return b"".join(parts)


def applied(hunks: Sequence[Hunk], base: bytes) -> bytes:
    """The content that the hunks make of ``base``, for which they are."""
    lines = base.split(b"\n")
    before = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    after: list[bytes] = []
    at = 0
    for hunk in hunks:
        start = hunk.old - (hunk.count(b" -") > 0)
        after += (*before[at:start], *_new_side(hunk))
        at = start + hunk.count(b" -")
    return b"".join((*after, *before[at:]))


def _hunk(lines: Sequence[bytes], start: int) -> Hunk:
    header = _HEADER.fullmatch(lines[start])
    assert header is not None, "the patch was read before"
    old, new = (1 if count is None else int(count) for count in header.group(2, 4))
    at = start + 1
    while old > 0 or new > 0 or (at < len(lines) and lines[at].startswith(_CUT)):
        mark = lines[at][:1]
        old -= mark in (b" ", b"-")
        new -= mark in (b" ", b"+")
        at += 1
    return Hunk(old=int(header[1]), new=int(header[3]), tail=header[5], lines=tuple(lines[start + 1 : at]))


def _rendered(hunk: Hunk, shift: int) -> bytes:
    """The hunk's text. Its new side begins where its old one does, moved by what the hunks before it added."""
    old, new = hunk.count(b" -"), hunk.count(b" +")
    # A side without lines begins at the line before it.
    start = hunk.old + shift + (old == 0) - (new == 0)
    header = b"@@ -%s +%s @@" % (_side(hunk.old, old), _side(start, new))
    return header + hunk.tail + b"\n" + b"".join(hunk.lines)


def _side(start: int, count: int) -> bytes:
    return b"%d" % start if count == 1 else b"%d,%d" % (start, count)


def _new_side(hunk: Hunk) -> Iterator[bytes]:
    for line, following in zip(hunk.lines, (*hunk.lines[1:], b""), strict=True):
        if line[:1] in b"+ ":
            yield line[1:-1] if following.startswith(_CUT) else line[1:]
