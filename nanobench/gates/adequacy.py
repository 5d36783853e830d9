"""adequacy: do the target tests notice when a part of the solution is missing or wrong?

Each hunk of the golden patch is left out in turn, and lines that it adds are changed a little; at least one target
test should turn red each time. What no test notices is published; nothing of it stops a lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve

from nanobench.errors import Refused
from nanobench.gates.interface import WARNINGS, Case, Finding
from nanobench.gates.mutations import mutated
from nanobench.grading.many import Attempt, try_all
from nanobench.grading.trial import Arena, Trial
from nanobench.grading.variations import one_cpu
from nanobench.model.fields import Document
from nanobench.scoring.score import passes
from nanobench.sources.quoting import display
from nanobench.sources.variants import Variant, left_out, place, replaced, source_hunks, spread

MAX_HUNKS = 12
MAX_MUTATIONS = 8
"""Runs of the tests that this costs at most; the time of each is bounded by its suite's ``seconds``."""

ENOUGH = 60
"""Percent of what was tried that tests should notice."""


class AdequacyGate:
    """Always passes; the evidence lists what no test notices, and a low share is a warning."""

    name = "adequacy"

    def check(self, case: Case) -> Finding:
        """Grade every variant by the suites that have targets."""
        without = list(left_out(case.change.golden, case.arena.workspace, case.task.paths))
        wrong = list(mutants(case))
        tried = [*spread(without, MAX_HUNKS), *spread(wrong, MAX_MUTATIONS)]
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


def mutants(case: Case) -> Iterator[Variant]:
    """The golden patch with each line that can be turned around turned around."""
    golden, base = case.change.golden, case.arena.workspace
    for section, hunks in source_hunks(golden, case.task.paths):
        for at, hunk in enumerate(hunks):
            for line, number, text in hunk.added():
                changed = mutated(text)
                if changed is not None:
                    others = [*hunks[:at], hunk.with_line(line, changed), *hunks[at + 1 :]]
                    how = f"{_shown(text)} → {_shown(changed)}"
                    patch = replaced(golden, section, others, base)
                    yield Variant(place=place(section, number), how=how, patch=patch)


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


def _warnings(evidence: Document) -> Iterator[str]:
    judged = evidence["tried"] - len(evidence["unclear"])
    if evidence["noticed"] * 100 < ENOUGH * judged:
        yield f"the target tests notice {evidence['noticed']} of {judged} broken solutions"
        yield from (f"{place}: no target test notices a missing hunk" for place in evidence["hunks_unnoticed"])
        yield from (f"{place}: no target test notices" for place in evidence["mutations_unnoticed"])


def _shown(text: bytes) -> str:
    return display(text.strip()[:80])
