"""Patches as git writes them, read strictly: which paths does a patch touch, and what are its parts?

The grammar is exactly that of ``git diff-tree -p --binary --full-index --no-renames``. A hunk is read by its
counts, so nothing inside a file's content can be taken for a header. What git would not have written is refused:
a patch may come from a stranger's bundle, and the paths found here must be those that ``git apply`` changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from attrs import frozen

from nanobench.errors import Refused
from nanobench.sources.quoting import display, quote, unquote

Change = Literal["create", "delete", "modify"]

MAX_BYTES = 64 << 20
"""The largest patch that is taken, read or applied."""

_START = b"diff --git "
_FILE_MODE = rb"(100644|100755|120000)"
_OLD_MODE, _NEW_MODE = re.compile(rb"old mode " + _FILE_MODE), re.compile(rb"new mode " + _FILE_MODE)
_CREATED, _DELETED = re.compile(rb"new file mode " + _FILE_MODE), re.compile(rb"deleted file mode " + _FILE_MODE)
_INDEX = re.compile(rb"index [0-9a-f]{40}\.\.[0-9a-f]{40}(?: " + _FILE_MODE + rb")?")
_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: .*)?", re.DOTALL)
_BLOCK = re.compile(rb"(literal|delta) \d{1,12}")
_BASE85 = re.compile(rb"[A-Za-z][0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{5,65}")
_NO_NEWLINE = b"\\ No newline at end of file"


@frozen(kw_only=True)
class Section:
    """One file's part of a patch: its path, what happens to it, and the bytes of the part."""

    path: bytes
    change: Change
    data: bytes


def sections(patch: bytes, *, where: str = "patch") -> tuple[Section, ...]:
    """The parts of ``patch``, in order; they join to its bytes.

    A path stands once, or twice as a deletion followed by a creation (a file that becomes a symbolic link).

    Raises:
        Refused: ``NB_PATCH``, with the line, when it is not what git writes.
    """
    if len(patch) > MAX_BYTES:
        raise Refused("NB_PATCH", f"{len(patch)} bytes; at most {MAX_BYTES} are read", where=where)
    if patch and not patch.endswith(b"\n"):
        raise Refused("NB_PATCH", "the last line is cut", where=where)
    lines = _Lines(patch, where)
    found: list[Section] = []
    while not lines.done:
        section = _section(lines)
        _check_order(found, section, lines)
        found.append(section)
    return tuple(found)


def affected_paths(patch: bytes, *, where: str = "patch") -> tuple[str, ...]:
    """The paths that the patch creates, deletes or changes, as documents show them; sorted, each once."""
    return paths_of(sections(patch, where=where))


def paths_of(parts: Iterable[Section]) -> tuple[str, ...]:
    """The paths of these parts, as documents show them; sorted, each once."""
    return tuple(sorted({display(part.path) for part in parts}))


def joined(parts: Iterable[Section]) -> bytes:
    """The patch made of these parts."""
    return b"".join(part.data for part in parts)


class _Lines:
    """The lines of a patch; ``at`` is the byte where the next one begins."""

    def __init__(self, data: bytes, where: str) -> None:
        self._data, self._where, self.at = data, where, 0

    @property
    def done(self) -> bool:
        return self.at >= len(self._data)

    def since(self, start: int) -> bytes:
        return self._data[start : self.at]

    def peek(self) -> bytes | None:
        return None if self.done else self._data[self.at : self._data.index(b"\n", self.at)]

    def skip(self) -> None:
        self.at = self._data.index(b"\n", self.at) + 1

    def take(self, wanted: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """The match of the next line, which is then behind us; ``None`` when it is something else."""
        line = self.peek()
        match = None if line is None else wanted.fullmatch(line)
        if match:
            self.skip()
        return match

    def need(self, wanted: bytes) -> None:
        if self.peek() != wanted:
            raise self.refuse(f"expected {wanted[:200]!r}")
        self.skip()

    def refuse(self, message: str) -> Refused:
        line = self.peek()
        found = "the end" if line is None else repr(line[:80])
        number = self._data.count(b"\n", 0, self.at) + 1
        message = f"not a patch as git writes it: {message}, found {found}"
        return Refused("NB_PATCH", message, where=f"{self._where}: line {number}")


def _section(lines: _Lines) -> Section:
    start = lines.at
    path = _path(lines)
    named = lines.at
    change = _modes(lines)
    if lines.take(_INDEX):
        _content(lines, path, change)
    elif lines.at == named or change != "modify":
        raise lines.refuse("expected what changes in the file")
    return Section(path=path, change=change, data=lines.since(start))


def _path(lines: _Lines) -> bytes:
    line = lines.peek() or b""
    if not line.startswith(_START):
        raise lines.refuse("expected the start of a file")
    names = line.removeprefix(_START)
    # Without renames both names are the same path behind a/ and b/, so the first is exactly the first half.
    name = unquote(names[: len(names) // 2]) or b""
    path = name[2:]
    if not _safe(path):
        raise lines.refuse("a path that git would not write")
    lines.need(_START + quote(b"a/" + path) + b" " + quote(b"b/" + path))
    return path


def _safe(path: bytes) -> bool:
    parts = path.split(b"/")
    return b"\0" not in path and not any(p in (b"", b".", b"..") or p.lower() == b".git" for p in parts)


def _modes(lines: _Lines) -> Change:
    if lines.take(_CREATED):
        return "create"
    if lines.take(_DELETED):
        return "delete"
    if lines.take(_OLD_MODE) and not lines.take(_NEW_MODE):
        raise lines.refuse("expected the new mode")
    return "modify"


def _content(lines: _Lines, path: bytes, change: Change) -> None:
    line = lines.peek()
    if line == b"GIT binary patch":
        lines.skip()
        _binary_block(lines)
        _binary_block(lines)
    elif line is not None and line.startswith(b"--- "):
        _names(lines, path, change)
        _hunks(lines)
    elif change == "modify":
        raise lines.refuse("expected what changes in the file")


def _names(lines: _Lines, path: bytes, change: Change) -> None:
    for mark, side, absent in ((b"--- ", b"a/", "create"), (b"+++ ", b"b/", "delete")):
        name = b"/dev/null" if change == absent else quote(side + path)
        lines.need(mark + name + (b"\t" if b" " in name else b""))


def _hunks(lines: _Lines) -> None:
    if not _hunk(lines):
        raise lines.refuse("expected a hunk")
    while _hunk(lines):
        pass


def _hunk(lines: _Lines) -> bool:
    header = lines.take(_HUNK)
    if header is None:
        return False
    old, new = (1 if count is None else int(count) for count in header.group(2, 4))
    while old > 0 or new > 0:
        line = lines.peek() or b""
        old -= line[:1] in (b" ", b"-")
        new -= line[:1] in (b" ", b"+")
        if line[:1] not in (b" ", b"-", b"+") or old < 0 or new < 0:
            raise lines.refuse("a hunk that is not as long as it says")
        lines.skip()
        if lines.peek() == _NO_NEWLINE:
            lines.skip()
    return True


def _binary_block(lines: _Lines) -> None:
    if not lines.take(_BLOCK):
        raise lines.refuse("expected a binary block")
    while lines.take(_BASE85):
        pass
    lines.need(b"")


def _check_order(found: list[Section], section: Section, lines: _Lines) -> None:
    same = [s for s in found[-1:] if s.path == section.path]
    if same and (same[0].change, section.change) != ("delete", "create"):
        raise lines.refuse(f"{display(section.path):.200} stands twice")
    # Git writes paths in the byte order of the index, so a repeated path can only be the one before.
    if found and not same and not found[-1].path < section.path:
        raise lines.refuse(f"{display(section.path):.200} is out of order")
