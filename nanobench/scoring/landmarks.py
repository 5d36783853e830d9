"""What labels must know of a task: which names its required files hold, which ones its solution brings, and which of
their functions it changes. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping

from attrs import evolve

from nanobench.model.label import Function, Landmarks
from nanobench.sources.hunks import applied, hunks_of
from nanobench.sources.patch import Section, sections
from nanobench.sources.quoting import display
from nanobench.symbols.functions import functions_in
from nanobench.symbols.names import names_added, names_in
from nanobench.symbols.signatures import reshaped

MAX_PART = 4 << 20
"""Bytes of one file's part of a patch; in a larger one nobody looks for functions."""


def landmarks(
    base: Mapping[str, bytes], *, golden: bytes, asked: frozenset[str], languages: Iterable[str]
) -> Landmarks:
    """The landmarks of a task.

    Args:
        base: the required files at base: text by path.
        golden: the golden patch.
        asked: the names that the test patch introduces: what it adds and nothing at base has.
        languages: those of the task's suites.
    """
    names = frozenset[str]().union(*(names_in(language, base) for language in languages))
    parts = {display(part.path): part for part in sections(golden)}
    return Landmarks(
        schema=1,
        names=tuple(sorted(names)),
        introduced=tuple(sorted((names_added(golden) | asked) - names)),
        reshaped=tuple(
            sorted({name for path in base if path in parts for name in _reshaped(base[path], parts[path])})
        ),
        functions={path: _functions(path, base[path], parts.get(path)) for path in sorted(base)},
    )


def _reshaped(text: bytes, part: Section) -> frozenset[str]:
    return reshaped(display(part.path), text, applied(hunks_of(part), text))


def _functions(path: str, text: bytes, part: Section | None) -> tuple[Function, ...]:
    functions = [Function(first=first, last=last, changed=False) for first, last in functions_in(path, text)]
    changed = touched(functions, part) if part else frozenset()
    return tuple(evolve(function, changed=function in changed) for function in functions)


def touched(functions: Collection[Function], part: Section) -> frozenset[Function]:
    """Which of a file's functions at base does this part of a patch change, or add a line in or right behind?"""
    if len(part.data) > MAX_PART:
        return frozenset()
    lines = sorted({line for hunk in hunks_of(part) for line in hunk.replaced()})

    def holds_one(function: Function) -> bool:
        at = bisect_left(lines, function.first)
        return at < len(lines) and lines[at] <= function.last

    return frozenset(filter(holds_one, functions))
