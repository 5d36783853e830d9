"""What is looked for: texts that only the solution has, taken from its patches. Pure rules.

A *run* is text of a file after the change: consecutive lines of one hunk, its context included, across which the
change goes. Without white space it has at least :data:`MIN_BYTES` bytes and spans :data:`MIN_LINES` lines (fewer only
if the hunk has no more). Less would be found by chance: in 700 MiB of Debian, Python and npm packages no run of 60
bytes of another project was. By their context, edits of one character have runs too; a hunk with less text than
that is named as too short. A change of white space alone has none.

Compiled and minified files have no lines: *words* are looked for in them, names of two parts that the patch defines
and longer literals. And whole *files*, by the git id of what the patch makes of them, whatever their size.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from attrs import evolve, frozen

from nanobench.formats.digest import document_sha256
from nanobench.model.task import PathRules
from nanobench.sources.change import Change
from nanobench.sources.kinds import Kind, kind_of
from nanobench.sources.patch import Section, sections
from nanobench.sources.quoting import display

MIN_LINES, MIN_BYTES = 3, 60
_MAX_BYTES, _MAX_RUNS = 400, 20_000
"""A longer run is cut; of more runs every second, third … is looked for."""

_LETTERS = 12
"""Different bytes that a run must have: a ruler is no text."""

BLANKS = b" \t\r\n\v\f"

_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+(\d+)")
_MADE = re.compile(rb"^index [0-9a-f]{40}\.\.([0-9a-f]{40})", re.MULTILINE)
_DEFINED = re.compile(
    rb"\b(?:def|class|function\*?|const|let|var|type|interface|enum|struct|trait|fn|func|fun|mod)\s+([A-Za-z_]\w{3,})"
    rb"|\b(?:self|this)\.([A-Za-z_]\w{3,})\s*(?::[^=]+)?=(?!=)"
)
_TWO_PARTS = re.compile(rb"(?=\w{8})\w*(?:[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z])\w*")
_LITERAL = re.compile(rb"\"([^\"\\\n]{16,400})\"|'([^'\\\n]{16,400})'|`([^`\\\n]{16,400})`")
_FILLED = re.compile(rb"\$?\{[^{}]*\}")
_MIN_LITERAL = 16
_BINARY = b"GIT binary patch\n"

Places = Mapping[bytes, str]
"""A text → where in the patches it stands."""


@frozen(kw_only=True)
class Wanted:
    """``names`` are all that the golden patch defines; ``files`` are keyed by git's id of the blob; ``answer`` is a
    question's. ``short`` are the hunks that have no run."""

    runs: Places
    words: Places
    names: Places
    files: Mapping[str, str]
    answer: str | None
    short: tuple[str, ...]

    def identity(self) -> str:
        """The sha256 of everything that a search depends on."""
        runs, words = ({text.hex(): where for text, where in places.items()} for places in (self.runs, self.words))
        return document_sha256({"runs": runs, "words": words, "files": self.files, "answer": self.answer or ""})

    def without(self, *, texts: Collection[bytes], files: Collection[str]) -> Wanted:
        """All but what stands in the base tree anyway."""

        def kept(places: Places) -> Places:
            return {text: where for text, where in places.items() if text not in texts}

        return evolve(
            self,
            runs=kept(self.runs),
            words=kept(self.words),
            names=kept(self.names),
            files={blob: where for blob, where in self.files.items() if blob not in files},
        )


@frozen(kw_only=True)
class _Line:
    """A line after the change, without white space. ``joined``: the change took away what stood before it."""

    text: bytes
    number: int
    added: bool
    joined: bool


def wanted_of(change: Change, rules: PathRules) -> Wanted:
    """Everything that is looked for, before the base tree was asked."""
    golden, tests = _parts(change.golden, "golden patch"), _parts(change.test, "test patch")
    # What tools write (lockfiles, metadata) is no solution, unless there is nothing else.
    told = _of_kind(golden, rules, "source", "docs") or golden
    code = (*_of_kind(golden, rules, "source"), *tests)
    runs: dict[bytes, str] = {}
    short: list[str] = []
    for where, hunk in ((where, hunk) for where, part in (*told, *tests) for hunk in _hunks(part.data)):
        found = _runs(hunk, where)
        for text, place in found.items():
            runs.setdefault(text, place)
        if not found and any(line.added or line.joined for line in hunk):
            short.append(f"{where}:{hunk[0].number}")
    names = dict(_each(_DEFINED, told))
    words = {name: where for name, where in _each(_DEFINED, code) if _TWO_PARTS.fullmatch(name)}
    return Wanted(
        runs=dict(list(runs.items())[:: len(runs) // _MAX_RUNS + 1]),
        words=words | {part: where for text, where in _each(_LITERAL, code) for part in _fixed(text)},
        names=names,
        files=dict(_files((*golden, *tests))),
        answer=change.answer,
        short=tuple(short),
    )


def squeezed(data: bytes) -> bytes:
    """All of it but white space: how lines are indented, broken and joined does not matter."""
    return data.translate(None, BLANKS)


def _hunks(data: bytes) -> Iterator[list[_Line]]:
    """The new side of every hunk, without its empty lines; the patch was read strictly before."""
    hunk: list[_Line] = []
    number, removed, inside = 0, False, False
    for line in data.split(b"\n"):
        header = _HUNK.match(line)
        if header:
            yield hunk
            hunk, number, removed, inside = [], int(header[1]), False, True
        elif inside and line[:1] in (b"+", b" ", b"-"):
            text, added = squeezed(line[1:]), line.startswith(b"+")
            if line.startswith(b"-"):
                removed = removed or bool(text)
                continue
            if text:
                hunk.append(_Line(text=text, number=number, added=added, joined=removed))
                removed = False
            number += 1
    yield hunk


def _parts(patch: bytes, name: str) -> list[tuple[str, Section]]:
    """Every file of a patch, with its name for people."""
    return [(f"{name}: {display(part.path)}", part) for part in sections(patch, where=name)]


def _of_kind(parts: Iterable[tuple[str, Section]], rules: PathRules, *kinds: Kind) -> list[tuple[str, Section]]:
    return [(where, part) for where, part in parts if kind_of(part.path, rules) in kinds]


def _runs(hunk: list[_Line], where: str) -> dict[bytes, str]:
    found: dict[bytes, str] = {}
    lines = min(MIN_LINES, len(hunk))
    for start, first in enumerate(hunk):
        text, changed = b"", False
        for count, line in enumerate(hunk[start:], 1):
            text += line.text
            changed = changed or line.added or (line.joined and count > 1)
            if count >= lines and len(text) >= MIN_BYTES:
                if changed and len(set(text)) >= _LETTERS:
                    found.setdefault(text[:_MAX_BYTES], f"{where}:{first.number}")
                break
    return found


def _each(pattern: re.Pattern[bytes], parts: Iterable[tuple[str, Section]]) -> Iterator[tuple[bytes, str]]:
    """What the pattern finds in added lines; of each text the last place."""
    for where, part in parts:
        for line in part.data.split(b"\n"):
            if line.startswith(b"+") and not line.startswith(b"+++ "):
                for match in pattern.finditer(line):
                    yield match[match.lastindex or 0], where


def _fixed(literal: bytes) -> Iterator[bytes]:
    """What of a literal stands between the places that are filled in; a compiler keeps these parts."""
    return (part for part in _FILLED.split(literal) if len(part) >= _MIN_LITERAL)


def _files(parts: Iterable[tuple[str, Section]]) -> Iterator[tuple[str, str]]:
    """What the patches make of whole files; a new one with less text than a run could be anybody's."""
    for where, part in parts:
        made = _MADE.search(part.data)
        if made is None or part.change == "delete":
            continue
        text = sum(len(line.text) for hunk in _hunks(part.data) for line in hunk)
        if part.change == "modify" or text >= MIN_BYTES or _BINARY in part.data:
            yield made[1].decode(), where
