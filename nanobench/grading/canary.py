"""Canaries: tests with drawn names at the end of the files that a suite runs; one passes, the others must fail.

A patch that makes tests pass which should not, that runs none, or that answers in the runner's stead, is not told
their names: it would have to make them come out right too. They stand in the test files themselves and see what the
project's tests see: where a runner gives every file a process of its own, no other place tells the same.

They are put into the copy of the graded tree in which one suite runs; neither that tree's id, nor any record of its
outcomes, holds them.
"""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from nanobench.grading.interface import CANARIES
from nanobench.model.task import Suite
from nanobench.store.plain import append_below

_NAMES, _LETTERS = 5, 14

_PYTHON = re.compile(r"(test_.*|.*_test)\.py")
_JAVASCRIPT = re.compile(r"(.*[._-]tests?|.*[._-]spec|test|test[-_.].*)\.[cm]?[jt]sx?")


@frozen(kw_only=True)
class Kind:
    """What a format's canaries look like: the text, which of its names must fail, and the files it fits into."""

    text: str
    failing: tuple[int, ...]
    files: re.Pattern[str]


KINDS: dict[str, Kind] = {
    "pytest": Kind(text="pytest.py.txt", failing=(1, 2, 3), files=_PYTHON),
    **{
        name: Kind(text=f"{name}.js.txt", failing=(1, 2), files=_JAVASCRIPT)
        for name in ("vitest", "jest", "mocha", "node-test")
    },
}
"""By the format of a suite."""


@frozen(kw_only=True)
class Canaries:
    """Where they are (paths below the workspace), and their names: the one that passes, those that must fail."""

    files: frozenset[str]
    passing: str
    failing: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """All names, if there are any."""
        return frozenset({self.passing, *self.failing} - {""})

    def name_in(self, test: str) -> str | None:
        """The canary that the id of a test means; ``None`` when it is one of the project's own."""
        match = re.search(r"([a-z]+)(\[[^\]]*\])?\Z", test)
        return match[1] if match and match[1] in self.names else None

    def hidden(self, output: bytes) -> bytes:
        """The same output without their names."""
        names = "|".join(sorted(self.names)).encode()
        return re.sub(names, b"canary", output) if names else output


NONE = Canaries(files=frozenset(), passing="", failing=frozenset())
"""No canaries at all."""


def place(workspace: Path, suite: Suite, *tiers: Iterable[str]) -> Canaries:
    """Put canaries with new names into the test files of the suite's format.

    Args:
        workspace: a tree in which nothing has run yet; changed in place.
        tiers: paths of files in it; those of the first tier that has any are taken. What is no regular file, or has a
            link above it, is passed over.
    """
    kind = KINDS[suite.format]
    names = ["".join(secrets.choice(string.ascii_lowercase) for _ in range(_LETTERS)) for _ in range(_NAMES)]
    text = re.sub("@([0-9])@", lambda match: names[int(match[1])], (CANARIES / kind.text).read_text("ascii"))
    fitting = ([path for path in tier if kind.files.fullmatch(path.rpartition("/")[2])] for tier in tiers)
    return Canaries(
        files=frozenset(
            path for path in next(filter(None, fitting), []) if append_below(workspace, path, text.encode("ascii"))
        ),
        passing=names[0],
        failing=frozenset(names[number] for number in kind.failing),
    )
