"""fairness: what a reviewer should look at, each with its place. Nothing of it stops a lock: people judge fairness.

Whether the statement quotes the solution is the leak gate's to say; here are names only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from nanobench.gates.interface import WARNINGS, Case, Finding
from nanobench.model.fields import Document
from nanobench.symbols.names import Added, added_lines, names_added
from nanobench.symbols.words import unknown_at, words_in

THIN = 5
"""Fewer tests that must stay green than this say little about what a patch breaks."""

MAX_NAMED = 20
"""Warnings of a kind that are written down."""

_IMPORT = re.compile(rb"\s*(from\s+\S+\s+)?import\b|.*\brequire\(|\s*(export|\}).*\bfrom\s+['\"]|\s*use\s")


class FairnessGate:
    """Always passes; its warnings are its evidence."""

    name = "fairness"

    def check(self, case: Case) -> Finding:
        """Compare what tests demand with what base and statement tell, and look at the targets' shape."""
        introduced = unknown_at(case.arena.workspace, names_added(case.change.golden))
        demanded = _demanded(case, introduced)
        told = _told(case, introduced)
        evidence: Document = {
            "introduced": len(introduced),
            "demanded": [f"{line.place}: {name}" for name, line in demanded[:MAX_NAMED]],
            WARNINGS: [
                *_some(_unknown(name, line) for name, line in demanded),
                *_some(_whole_files(case)),
                *_thin(case),
                *_idle_suites(case),
                *_some(told),
            ],
        }
        return Finding(verdict="pass", evidence=evidence)


def _demanded(case: Case, introduced: frozenset[str]) -> list[tuple[str, Added]]:
    """Names of the golden patch that the tests use and nobody was told, each where it first stands."""
    said = words_in(case.statement)
    first: dict[str, Added] = {}
    for line in added_lines(case.change.test, where="test patch"):
        for name in sorted((line.names & introduced) - said):
            first.setdefault(name, line)
    return list(first.items())


def _unknown(name: str, line: Added) -> str:
    # Where an imported name is missing nothing else of the file runs.
    imported = _IMPORT.match(line.text) is not None
    how = "imported by the tests, so their whole file asks for it" if imported else "used by the tests"
    return f"{line.place}: {name} is {how}; it is neither in the base nor in the statement"


def _whole_files(case: Case) -> Iterator[str]:
    """Test files of which nothing passes at base, although several tests do with the golden patch."""
    targets, kept = _by_file(case.targets), _by_file(case.kept)
    for file, tests in sorted(targets.items()):
        if len(tests) > 1 and file not in kept:
            yield f"{file}: all of its {len(tests)} tests are targets: perhaps it cannot even be loaded at base"


def _by_file(tests: Iterable[str]) -> dict[str, list[str]]:
    files: dict[str, list[str]] = {}
    for test in tests:
        file, separator, _ = test.partition("::")
        if separator:
            files.setdefault(file, []).append(test)
    return files


def _thin(case: Case) -> Iterator[str]:
    if case.task.suite and len(case.kept) < THIN:
        yield f"only {len(case.kept)} tests must stay green: hardly anything shows what a patch breaks"


def _idle_suites(case: Case) -> Iterator[str]:
    for suite in case.task.suite:
        if not any(test.startswith(f"{suite.name}|") for test in case.targets):
            yield f"suite {suite.name} ({suite.language}) has no target test"


def _told(case: Case, introduced: frozenset[str]) -> Iterator[str]:
    """Where the statement names a file that must be changed, or what only the golden patch introduces."""
    yield from told_files(case.task.id, case.statement, case.required_files)
    for place, line in _lines(case.task.id, case.statement):
        for name in sorted(words_in(line) & introduced):
            yield f"{place}: names {name}, which only the golden patch introduces"


def told_files(task_id: str, statement: bytes, required_files: Iterable[str]) -> Iterator[str]:
    """Where a statement names a file that must be changed."""
    for place, line in _lines(task_id, statement):
        for file in required_files:
            if file.encode() in line:
                yield f"{place}: names the required file {file}"


def _lines(task_id: str, statement: bytes) -> Iterator[tuple[str, bytes]]:
    for number, line in enumerate(statement.splitlines(), 1):
        yield f"tasks/{task_id}/statement.md:{number}", line


def _some(warnings: Iterable[str]) -> list[str]:
    found = list(warnings)
    more = len(found) - MAX_NAMED
    return [*found[:MAX_NAMED], *([f"and {more} more like these"] if more > 0 else [])]
