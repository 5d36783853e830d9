"""adequacy: do the target tests notice when a part of the solution is missing or wrong?

Each hunk of the golden patch is left out in turn, and lines that it adds are changed a little; at least one target
test should turn red each time. What no test notices is published; nothing of it stops a lock.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

from attrs import evolve, frozen

from nanobench.errors import Refused
from nanobench.gates.interface import WARNINGS, Case, Finding
from nanobench.gates.mutations import mutated
from nanobench.grading.many import Attempt, try_all
from nanobench.grading.trial import Arena, Trial
from nanobench.grading.variations import one_cpu
from nanobench.model.fields import Document
from nanobench.scoring.score import passes
from nanobench.sources.hunks import Hunk, hunks_of, with_hunks
from nanobench.sources.kinds import kind_of
from nanobench.sources.patch import Section, joined, sections
from nanobench.sources.quoting import display
from nanobench.store.plain_file import read_below

MAX_HUNKS = 12
MAX_MUTATIONS = 8
"""Runs of the tests that this costs at most; the time of each is bounded by its suite's ``seconds``."""

ENOUGH = 60
"""Percent of what was tried that tests should notice."""

_MAX_FILE = 4 << 20
T = TypeVar("T")


@frozen(kw_only=True)
class Variant:
    """The golden patch with one thing wrong: where, and how (empty: the hunk there is left out)."""

    place: str
    how: str
    patch: bytes


class AdequacyGate:
    """Always passes; the evidence lists what no test notices, and a low share is a warning."""

    name = "adequacy"

    def check(self, case: Case) -> Finding:
        """Grade every variant by the suites that have targets."""
        without, wrong = list(left_out(case)), list(mutants(case))
        tried = [*_spread(without, MAX_HUNKS), *_spread(wrong, MAX_MUTATIONS)]
        if tried:
            case.bench.say(f"running the tests on {len(tried)} broken solutions")
        trials = try_all(_attempts(case, tried), store=case.bench.store)
        unclear = [v for v, trial in zip(tried, trials, strict=True) if isinstance(trial, Refused)]
        unnoticed = [v for v, trial in zip(tried, trials, strict=True) if _unnoticed(case, trial)]
        evidence: Document = {
            "hunks": len(without),
            "mutations": len(wrong),
            "tried": len(tried),
            "noticed": len(tried) - len(unnoticed) - len(unclear),
            "hunks_unnoticed": [v.place for v in unnoticed if not v.how],
            "mutations_unnoticed": [f"{v.place}: {v.how}" for v in unnoticed if v.how],
            "unclear": [v.place for v in unclear],
            WARNINGS: [],
        }
        evidence[WARNINGS] = list(_warnings(evidence))
        return Finding(verdict="pass", evidence=evidence)


def left_out(case: Case) -> Iterator[Variant]:
    """The golden patch without each hunk of a source file."""
    for section, hunks in _sources(case):
        for at, hunk in enumerate(hunks):
            rest = [*hunks[:at], *hunks[at + 1 :]]
            yield Variant(place=_place(section, hunk.new), how="", patch=_with(case, section, rest))


def mutants(case: Case) -> Iterator[Variant]:
    """The golden patch with each line that can be turned around turned around."""
    for section, hunks in _sources(case):
        for at, hunk in enumerate(hunks):
            for line, number, text in hunk.added():
                changed = mutated(text)
                if changed is not None:
                    others = [*hunks[:at], hunk.with_line(line, changed), *hunks[at + 1 :]]
                    how = f"{_shown(text)} → {_shown(changed)}"
                    yield Variant(place=_place(section, number), how=how, patch=_with(case, section, others))


def _sources(case: Case) -> Iterator[tuple[Section, tuple[Hunk, ...]]]:
    for section in sections(case.change.golden, where="golden patch"):
        if section.change != "delete" and kind_of(section.path, case.task.paths) == "source":
            yield section, hunks_of(section)


def _with(case: Case, changed: Section, hunks: Sequence[Hunk]) -> bytes:
    """The golden patch with other hunks of one file."""
    base = b""
    if changed.change != "create":
        base = read_below(case.arena.workspace, changed.path.decode("utf-8", "surrogateescape"), limit=_MAX_FILE)
    data = with_hunks(changed, hunks, base)
    parts = sections(case.change.golden, where="golden patch")
    return joined(evolve(part, data=data) if part == changed else part for part in parts)


def _attempts(case: Case, variants: Sequence[Variant]) -> tuple[Attempt, ...]:
    """One CPU each, so that several run at once: the flakiness gate knows whether outcomes depend on it."""
    named = {test.partition("|")[0] for test in case.targets}
    asserted = {f"{a.name}|{a.type}" for a in case.arena.assertions} & set(case.targets)
    arena: Arena = evolve(
        one_cpu(case.arena),
        suites=tuple(suite for suite in case.arena.suites if suite.name in named),
        assertions=tuple(a for a in case.arena.assertions if f"{a.name}|{a.type}" in asserted),
    )
    return tuple(Attempt(name=v.place, arena=arena, patch=v.patch, said=case.change.said) for v in variants)


def _unnoticed(case: Case, trial: Trial | Refused) -> bool:
    return not isinstance(trial, Refused) and all(passes(trial.grading.outcomes, test) for test in case.targets)


def _spread(all_of_them: Sequence[T], most: int) -> list[T]:
    """At most so many, spread evenly, the same ones everywhere."""
    step = max(1, math.ceil(len(all_of_them) / most))
    return list(all_of_them[::step])


def _warnings(evidence: Document) -> Iterator[str]:
    judged = evidence["tried"] - len(evidence["unclear"])
    if evidence["noticed"] * 100 < ENOUGH * judged:
        yield f"the target tests notice {evidence['noticed']} of {judged} broken solutions"
        yield from (f"{place}: no target test notices a missing hunk" for place in evidence["hunks_unnoticed"])
        yield from (f"{place}: no target test notices" for place in evidence["mutations_unnoticed"])


def _place(section: Section, number: int) -> str:
    return f"{display(section.path)}:{number}"


def _shown(text: bytes) -> str:
    return display(text.strip()[:80])
