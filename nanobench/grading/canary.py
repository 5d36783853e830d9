"""Canaries: tests with drawn names at the end of the files that a suite runs; one passes, the others must fail.

A patch that makes tests pass which should not, that runs none, or that answers in the runner's stead, is not told
their names: it would have to make them come out right too. They stand in the test files themselves and see what the
project's tests see: where a runner gives every file a process of its own, no other place tells the same.

They are put into the copy of the graded tree in which one suite runs; neither that tree's id, nor any record of its
outcomes, holds them.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from nanobench.grading.interface import CANARIES
from nanobench.model.task import PathRules, Suite
from nanobench.sources.kinds import kind_of
from nanobench.store.plain_file import append_below

_NAMES, _SYLLABLES = 5, 7

_PYTHON = re.compile(r"(.*/)?(test_[^/]*|[^/]*_test)\.py", re.DOTALL)
_BY_NAME = r"(.*[/._-])?(tests?|spec)"
_JAVASCRIPT = re.compile(rf"({_BY_NAME}|(.*/)?__tests__/.*)\.[cm]?[jt]sx?")
_NODE = re.compile(rf"{_BY_NAME}\.[cm]?[jt]sx?")


@frozen(kw_only=True)
class Kind:
    """What a format's canaries look like: the text, which of its names must fail, and the files it fits into."""

    text: str
    failing: tuple[int, ...]
    files: re.Pattern[str]


KINDS: dict[str, Kind] = {
    "pytest": Kind(text="pytest.py.txt", failing=(1, 2, 3), files=_PYTHON),
    "vitest": Kind(text="vitest.js.txt", failing=(1, 2), files=_JAVASCRIPT),
    "jest": Kind(text="jest.js.txt", failing=(1, 2), files=_JAVASCRIPT),
    "mocha": Kind(text="mocha.js.txt", failing=(1, 2), files=_JAVASCRIPT),
    "node-test": Kind(text="node-test.js.txt", failing=(1, 2), files=_NODE),
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
        title = test.partition("::")[2].partition("[")[0]
        return next((name for name in self.names if title.endswith(name)), None)

    def hidden(self, output: bytes) -> bytes:
        """The same output without their names."""
        names = "|".join(sorted(self.names)).encode()
        return re.sub(names, b"canary", output) if names else output


NONE = Canaries(files=frozenset(), passing="", failing=frozenset())
"""No canaries at all."""


def place(workspace: Path, suite: Suite, rules: PathRules) -> Canaries:
    """Put canaries with new names into every test file of the suite's format.

    Args:
        workspace: a tree in which nothing has run yet; changed in place. No link in it is followed.
        rules: the task's overrides of the path rules.
    """
    kind = KINDS[suite.format]
    names = [_name() for _ in range(_NAMES)]
    text = re.sub("@([0-9])@", lambda match: names[int(match[1])], (CANARIES / kind.text).read_text("ascii"))
    files = (path for path in _tests_in(workspace, rules) if kind.files.fullmatch(path))
    return Canaries(
        files=frozenset(path for path in files if append_below(workspace, path, text.encode("ascii"))),
        passing=names[0],
        failing=frozenset(names[number] for number in kind.failing),
    )


def _name() -> str:
    """Letters that could be a word."""
    return "".join(secrets.choice("bdfgklmnprstvz") + secrets.choice("aeiou") for _ in range(_SYLLABLES))


def _tests_in(workspace: Path, rules: PathRules) -> Iterator[str]:
    """The files that the path rules call tests, by their paths below the workspace."""
    for folder, folders, files in os.walk(workspace):
        folders[:] = sorted(set(folders) - {".git", "node_modules"})
        for name in sorted(files):
            path = os.path.relpath(f"{folder}/{name}", workspace)
            if kind_of(os.fsencode(path), rules) == "test":
                yield path
