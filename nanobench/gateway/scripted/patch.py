"""Which parts of a patch can be carried out as text edits? The rest stays raw bytes.

A section becomes an :class:`Edit`, a :class:`Creation` or a :class:`Deletion` only when it is plain: UTF-8, one
unquoted path, no change of mode, no binary hunk. Everything else is left to ``git apply``.
"""

from __future__ import annotations

import re

from attrs import Factory, define, frozen

from nanobench.sources import patch as git


@frozen(kw_only=True)
class Hunk:
    """Lines (with their ends) at 1-based line ``at`` of the old file that become other lines."""

    at: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@frozen(kw_only=True)
class Edit:
    """A change inside a text file; ``before`` and ``after`` are git's blob ids, maybe shortened.

    ``raw`` is the section itself, for whoever cannot see the file whole.
    """

    path: str
    before: str
    after: str
    hunks: tuple[Hunk, ...]
    raw: bytes


@frozen(kw_only=True)
class Creation:
    """A new text file of mode 644."""

    path: str
    content: str


@frozen(kw_only=True)
class Deletion:
    """A file that goes."""

    path: str


Section = Edit | Creation | Deletion | bytes
"""One file's part of a patch; bytes when it is not plain."""

_PLAIN_PATH = r"[A-Za-z0-9_.+@%,=-][A-Za-z0-9_.+@%,=/-]*"
_HEAD = re.compile(
    r"diff --git a/(?P<path>" + _PLAIN_PATH + r") b/(?P=path)\n"
    r"(?:(?P<kind>new|deleted) file mode (?P<mode>100\d{3})\n)?"
    r"index (?P<before>[0-9a-f]{7,64})\.\.(?P<after>[0-9a-f]{7,64})(?: 100\d{3})?\n"
    r"(?:--- [^\n]+\n\+\+\+ [^\n]+\n(?P<hunks>@@ .*))?",
    re.DOTALL,
)
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@[^\n]*\n")


def sections(patch: bytes) -> tuple[Section, ...]:
    """The sections of ``patch`` in their order.

    Where paths clash (a file becomes a link, a directory or back) the order matters, so those stay raw together.

    Raises:
        Refused: ``NB_PATCH`` when it is not what git writes.
    """
    parts = git.sections(patch)
    paths = [part.path for part in parts]
    return tuple(part.data if _clashes(part.path, paths) else _plain(part.data) or part.data for part in parts)


def _clashes(path: bytes, paths: list[bytes]) -> bool:
    inside = any(path.startswith(other + b"/") or other.startswith(path + b"/") for other in paths)
    return inside or paths.count(path) > 1


def _plain(section: bytes) -> Edit | Creation | Deletion | None:
    try:
        match = _HEAD.fullmatch(section.decode("utf-8"))
    except UnicodeDecodeError:
        return None
    if match is None:
        return None
    if match["kind"] == "deleted":
        return Deletion(path=match["path"])
    hunks = _hunks(match["hunks"] or "")
    if match["kind"] == "new":
        return _creation(match, hunks)
    if not hunks or any(not hunk.old for hunk in hunks):
        return None
    return Edit(path=match["path"], before=match["before"], after=match["after"], hunks=hunks, raw=section)


def _creation(match: re.Match[str], hunks: tuple[Hunk, ...] | None) -> Creation | None:
    if match["mode"] != "100644" or hunks is None or len(hunks) > 1:
        return None
    return Creation(path=match["path"], content="".join(hunks[0].new) if hunks else "")


def _hunks(text: str) -> tuple[Hunk, ...] | None:
    """The hunks in ``text``; None when it is not made of well-formed ones."""
    found: list[_Growing] = []
    for line in re.findall(r"[^\n]*\n", text):
        head = _HUNK.fullmatch(line)
        if head is not None:
            found.append(_Growing(at=int(head[1]), counts=(int(head[2] or 1), int(head[3] or 1))))
        elif not found or not found[-1].add(line[0], line[1:]):
            return None
    if any((len(hunk.old), len(hunk.new)) != hunk.counts for hunk in found):
        return None
    return tuple(Hunk(at=hunk.at, old=tuple(hunk.old), new=tuple(hunk.new)) for hunk in found)


@define
class _Growing:
    at: int
    counts: tuple[int, int]
    old: list[str] = Factory(list)
    new: list[str] = Factory(list)
    last: str = " "

    def add(self, sign: str, line: str) -> bool:
        """Take a line of the hunk; False when no hunk has such a line."""
        sides = {" ": [self.old, self.new], "-": [self.old], "+": [self.new]}
        if sign == "\\":
            for side in sides[self.last]:
                side[-1:] = [end.removesuffix("\n") for end in side[-1:]]
            return True
        for side in sides.get(sign, ()):
            side.append(line)
        self.last = sign
        return sign in sides
