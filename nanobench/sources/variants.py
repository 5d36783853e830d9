"""The solution's patch with one thing different: a hunk left out or changed, or other content in one of its files."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Sequence
from hashlib import sha1
from pathlib import Path
from typing import TypeVar

from attrs import evolve, frozen

from nanobench.model.task import PathRules
from nanobench.sources.hunks import Hunk, hunks_of, with_hunks
from nanobench.sources.kinds import kind_of
from nanobench.sources.patch import Section, joined, sections
from nanobench.sources.quoting import display, quote
from nanobench.store.plain_file import read_below

_MAX_FILE = 4 << 20
_CUT = b"\n\\ No newline at end of file\n"
_ABSENT = b"0" * 40
T = TypeVar("T")


@frozen(kw_only=True)
class Variant:
    """The golden patch with one thing wrong: where, and how (empty: the hunk there is left out)."""

    place: str
    how: str
    patch: bytes


def left_out(golden: bytes, base: Path, rules: PathRules) -> Iterator[Variant]:
    """The golden patch without each hunk of a source file, in its order."""
    for section, hunks in source_hunks(golden, rules):
        for at, hunk in enumerate(hunks):
            rest = [*hunks[:at], *hunks[at + 1 :]]
            yield Variant(place=place(section, hunk.new), how="", patch=replaced(golden, section, rest, base))


def source_hunks(golden: bytes, rules: PathRules) -> Iterator[tuple[Section, tuple[Hunk, ...]]]:
    """The sections of source files that stay, with their hunks."""
    for section in sections(golden, where="golden patch"):
        if section.change != "delete" and kind_of(section.path, rules) == "source":
            yield section, hunks_of(section)


def replaced(golden: bytes, changed: Section, hunks: Sequence[Hunk], base: Path) -> bytes:
    """The golden patch with other hunks of one file; ``base`` is the tree that it is for."""
    content = b""
    if changed.change != "create":
        content = read_below(base, changed.path.decode("utf-8", "surrogateescape"), limit=_MAX_FILE)
    data = with_hunks(changed, hunks, content)
    parts = sections(golden, where="golden patch")
    return joined(evolve(part, data=data) if part == changed else part for part in parts)


def spread(all_of_them: Sequence[T], most: int) -> list[T]:
    """At most so many, spread evenly, the same ones everywhere."""
    step = max(1, math.ceil(len(all_of_them) / most))
    return list(all_of_them[::step])


def place(section: Section, number: int) -> str:
    """A line of a file, as messages name it."""
    return f"{display(section.path)}:{number}"


def rewritten(path: bytes, before: bytes | None, after: bytes, *, mode: bytes = b"100644") -> Section:
    """The section that gives a file other content; ``before`` is None when there is no such file."""
    created = before is None
    ids = _ABSENT if before is None else _blob(before), _blob(after)
    old, new, end = quote(b"a/" + path), quote(b"b/" + path), b"\t" if b" " in path else b""
    head = b"diff --git %s %s\n" % (old, new)
    head += b"new file mode %s\nindex %s..%s\n" % (mode, *ids) if created else b"index %s..%s %s\n" % (*ids, mode)
    names = (b"/dev/null" if created else old + end, new + end)
    lines = difflib.diff_bytes(difflib.unified_diff, _lines(before or b""), _lines(after), *names)
    body = b"".join(line if line.endswith(b"\n") else line + _CUT for line in lines)
    return Section(path=path, change="create" if created else "modify", data=head + body)


def _lines(content: bytes) -> list[bytes]:
    lines = content.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _blob(content: bytes) -> bytes:
    return sha1(b"blob %d\0" % len(content) + content).hexdigest().encode()  # noqa: S324 (git's own)
