"""The dominant error of a graded run: what most of the target tests that do not pass fail of. Pure.

Decisions taken here, where the rules leave room:

* A symbol that the solution introduces, tests included, is missing because the agent did not write it: a kind of its
  own, which no rule asks for. So are arguments that do not fit a function whose parameters the solution changes.
* A missing symbol that the required files know is no invention either, and neither is one that nobody names: both are
  other errors.
* A test without a record of its own fails of what it stands in failed of (its suite, its file); without that, of what
  the suites' commands printed, unless its suite was cut.
* Ties go to the earlier of unknown symbol, interface, not implemented, other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import get_args

from attrs import frozen

from nanobench.model.label import Landmarks
from nanobench.model.result import Failure
from nanobench.scoring.errors.error import Error
from nanobench.scoring.errors.recognise import compiler_errors, error_of, place_of, places
from nanobench.scoring.taxonomy import Kind


@frozen(kw_only=True)
class Failing:
    """Why tests fail: records by ``suite|node id``, what the suites' commands printed, and the names that the task
    knows. ``languages`` are by suite; ``cut`` are suites that did not come to their own end."""

    failures: Mapping[str, Failure]
    output: bytes
    languages: Mapping[str, str]
    cut: Collection[str]
    landmarks: Landmarks

    def kinds(self, tests: Iterable[str]) -> tuple[Kind, ...]:
        """What does each of these tests fail of?"""
        marks = self.landmarks
        names, introduced, reshaped = map(frozenset, (marks.names, marks.introduced, marks.reshaped))
        broken = places(self.failures)

        def kind(error: Error) -> Kind:
            if error.kind == "interface":
                return "not_implemented" if error.symbol in introduced | reshaped else "interface"
            return _missing(error, names, introduced)

        @cache
        def printed(language: str) -> Kind:
            return dominant(map(kind, compiler_errors(language, self.output))) or "other"

        def of_test(test: str) -> Kind:
            suite, place = test.partition("|")[0], place_of(test, broken)
            language = self.languages.get(suite, "")
            if place is not None:
                return kind(error_of(language, self.failures[place]))
            return "other" if suite in self.cut else printed(language)

        return tuple(map(of_test, tests))


def dominant(kinds: Iterable[Kind]) -> Kind | None:
    """The most frequent of these; None of none."""
    counts = Counter(kinds)
    ranks = get_args(Kind)
    return min(counts, key=lambda kind: (-counts[kind], ranks.index(kind)), default=None)


def _missing(error: Error, names: frozenset[str], introduced: frozenset[str]) -> Kind:
    if error.kind == "other" or error.symbol is None:
        return "other"
    if error.symbol in introduced:
        return "not_implemented"
    return "other" if error.symbol in names else "unknown_symbol"
