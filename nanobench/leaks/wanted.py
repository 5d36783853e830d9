"""What is looked for: what only the solution has, taken from its patches. Pure rules.

Runs of its lines (:mod:`.runs`). Whole files, by git's id of what the patches make of them. And, since compiled and
minified files have no lines, *words*: names of two parts that the patches define, and longer literals.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from attrs import evolve, frozen

from nanobench.formats.digest import document_sha256
from nanobench.leaks.runs import MIN_BYTES, new_side, runs_of
from nanobench.model.task import PathRules
from nanobench.sources.change import Change
from nanobench.sources.hunks import hunks_of
from nanobench.sources.kinds import Kind, kind_of
from nanobench.sources.patch import Section, sections
from nanobench.sources.quoting import display

_MAX_RUNS = 20_000
"""Of more, every second, third … is looked for."""

_MADE = re.compile(rb"^index [0-9a-f]{40}\.\.([0-9a-f]{40})", re.MULTILINE)
_DEFINED = re.compile(
    rb"\b(?:def|class|function\*?|const|let|var|type|interface|enum|struct|trait|fn|func|fun|mod)\s+(\w+)"
    rb"|\b(?:self|this)\.(\w+)\s*(?::[^=]+)?=(?!=)"
)
_TWO_PARTS = re.compile(rb"(?=\w{8})\w*(?:[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z])\w*")
_LITERAL = re.compile(rb"\"([^\"\\]{16,400})\"|'([^'\\]{16,400})'|`([^`\\]{16,400})`")
_FILLED = re.compile(rb"\$?\{[^{}]*\}")
_MIN_LITERAL = 16
_BINARY = b"\nGIT binary patch\n"

Places = Mapping[bytes, str]
"""A text → where in the patches it stands."""

_Part = tuple[str, Section]
"""A file of a patch, named for people."""


@frozen(kw_only=True)
class Wanted:
    """``files`` are by git's id of the blob, ``answer`` is a question's. ``short`` are the hunks without a run."""

    runs: Places
    words: Places
    files: Mapping[str, str]
    answer: str | None
    short: tuple[str, ...]

    def identity(self) -> str:
        """The sha256 of everything that a search depends on."""
        runs, words = ({text.hex(): where for text, where in places.items()} for places in (self.runs, self.words))
        return document_sha256({"runs": runs, "words": words, "files": self.files, "answer": self.answer or ""})

    def without(self, *, texts: Collection[bytes], files: Collection[str]) -> Wanted:
        """All but what stands in the base tree anyway."""
        return evolve(
            self,
            runs={text: where for text, where in self.runs.items() if text not in texts},
            words={text: where for text, where in self.words.items() if text not in texts},
            files={blob: where for blob, where in self.files.items() if blob not in files},
        )


def wanted_of(change: Change, rules: PathRules) -> Wanted:
    """Everything that is looked for, before the base tree was asked."""
    golden, tests = _parts(change.golden, "golden patch"), _parts(change.test, "test patch")
    # What tools write (lockfiles, metadata) is no solution, unless there is nothing else.
    told = _of_kind(golden, rules, "source", "docs") or golden
    code = (*_of_kind(golden, rules, "source"), *tests)
    runs: dict[bytes, str] = {}
    short: list[str] = []
    for where, lines in ((where, new_side(hunk)) for where, part in (*told, *tests) for hunk in hunks_of(part)):
        found = list(runs_of(lines))
        for text, number in found:
            runs.setdefault(text, f"{where}:{number}")
        if not found and any(line.added or line.joined for line in lines):
            short.append(f"{where}:{lines[0].number}")
    return Wanted(
        runs=dict(list(runs.items())[:: len(runs) // _MAX_RUNS + 1]),
        words=dict(_words(code)),
        files=dict(_files((*golden, *tests))),
        answer=change.answer,
        short=tuple(short),
    )


def _parts(patch: bytes, name: str) -> list[_Part]:
    return [(f"{name}: {display(part.path)}", part) for part in sections(patch, where=name)]


def _of_kind(parts: Iterable[_Part], rules: PathRules, *kinds: Kind) -> list[_Part]:
    return [(where, part) for where, part in parts if kind_of(part.path, rules) in kinds]


def _words(parts: Iterable[_Part]) -> Iterator[tuple[bytes, str]]:
    for where, part in parts:
        for line in (text for hunk in hunks_of(part) for _, _, text in hunk.added()):
            names = (match[match.lastindex or 0] for match in _DEFINED.finditer(line))
            literals = (match[match.lastindex or 0] for match in _LITERAL.finditer(line))
            # A compiler keeps what stands between the places that are filled in.
            fixed = (text for literal in literals for text in _FILLED.split(literal))
            yield from ((name, where) for name in names if _TWO_PARTS.fullmatch(name))
            yield from ((text, where) for text in fixed if len(text) >= _MIN_LITERAL)


def _files(parts: Iterable[_Part]) -> Iterator[tuple[str, str]]:
    """What the patches make of whole files; a new one with less text than a run could be anybody's."""
    for where, part in parts:
        made, hunks = _MADE.search(part.data), hunks_of(part)
        if made is None or part.change == "delete":
            continue
        text = sum(len(line.text) for hunk in hunks for line in new_side(hunk))
        if part.change == "modify" or text >= MIN_BYTES or _BINARY in part.data:
            yield made[1].decode(), where
