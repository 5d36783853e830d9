"""flakiness: each test has one outcome, in fresh sandboxes and under other conditions.

Three runs at base and three with the golden patch, the first of each seen by the verification gate; and one more with
the golden patch for each variation. The evidence says which variations an image or a runner could not take.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from attrs import frozen

from nanobench.errors import Refused
from nanobench.gates.interface import Case, Finding, judged
from nanobench.gates.tools import LIBRARY
from nanobench.grading.many import Attempt, try_all
from nanobench.grading.trial import Arena, Trial
from nanobench.grading.variations import SHUFFLED, one_cpu, other_hashes, shuffled, year_later
from nanobench.model.fields import Document
from nanobench.model.result import Outcome
from nanobench.sandbox.interface import Request, SandboxLimits

REPEATS = 2
"""Runs of each state beside the first."""

MAX_NAMED = 50
"""Tests that are named."""

_LIMITS = SandboxLimits(cpus=1, memory_mib=256, pids=16, disk_mib=16, seconds=60)
_ANOTHER_DAY = "@2001-02-03 00:00:00"
"""A clock to look for that is far from any machine's own."""


class FlakinessGate:
    """Compares outcomes test by test; quarantined tests may have any."""

    name = "flakiness"

    def check(self, case: Case) -> Finding:
        """Run, compare with the first run of the same state, and name what differs."""
        moved = _moves(case)
        again = _again(case, moved=moved)
        case.bench.say(f"running the tests {len(again)} times more")
        trials = try_all([each.attempt for each in again], store=case.bench.store)
        differing = _differing(case, again, trials)
        evidence: Document = {
            "runs": {"base": 1 + REPEATS, "golden": 1 + REPEATS},
            "variations": _variations(case, moved=moved),
            "tests": len(_stable(case, case.base).keys() | _stable(case, case.golden).keys()),
            "quarantined": sorted(case.task.quarantine),
            "differing": differing,
        }
        reasons = tuple(
            f"{test}: {', '.join(f'{outcome} in {run}' for run, outcome in runs.items())}"
            for test, runs in list(differing.items())[:MAX_NAMED]
        )
        return judged(evidence, reasons, _remedy(case, tuple(differing)))


@frozen(kw_only=True)
class _Again:
    """A run of a state that was run before (of a question, both states have the same files)."""

    state: str
    first: Trial
    attempt: Attempt


def _again(case: Case, *, moved: bool) -> tuple[_Again, ...]:
    golden, said = case.change.golden, case.change.said
    plain = {f"run {n}": case.arena for n in range(2, 2 + REPEATS)}
    base = (
        _Again(state="base", first=case.base, attempt=Attempt(name=f"base, {name}", arena=arena, patch=b""))
        for name, arena in plain.items()
    )
    solved = (
        _Again(
            state="golden",
            first=case.golden,
            attempt=Attempt(name=f"golden, {name}", arena=arena, patch=golden, said=said),
        )
        for name, arena in (plain | _varied(case, moved=moved)).items()
    )
    return (*base, *solved)


def _varied(case: Case, *, moved: bool) -> dict[str, Arena]:
    arena = case.arena
    arenas = {"one CPU": one_cpu(arena), "another hash seed": other_hashes(arena)}
    if any(suite.format in SHUFFLED for suite in arena.suites):
        arenas["another order"] = shuffled(arena)
    if moved:
        arenas["a year later"] = year_later(arena, case.tools.clock / LIBRARY)
    return arenas


def _variations(case: Case, *, moved: bool) -> Document:
    return {
        "cpus": "one",
        "hash_seed": "another",
        "order": {suite.name: "another" if suite.format in SHUFFLED else "fixed" for suite in case.arena.suites},
        "clock": "a year later" if moved else "cannot be moved in this image",
    }


def _moves(case: Case) -> bool:
    """Does the image's C library take the clock? Asked of the program that says the day."""
    arena = year_later(case.arena, case.tools.clock / LIBRARY)
    with case.bench.store.scratch("clock") as scratch:
        request = Request(
            layers=case.image.trees,
            argv=("date", "-u", "+%Y"),
            limits=_LIMITS,
            stdout=scratch / "out",
            stderr=scratch / "err",
            cwd="/",
            env={**arena.env, "FAKETIME": _ANOTHER_DAY},
            mounts=arena.mounts,
            phase="clock",
        )
        case.bench.engine.run(request)
        return request.stdout.read_bytes()[:20].strip() == _ANOTHER_DAY[1:5].encode()


def _differing(case: Case, again: Sequence[_Again], trials: Sequence[Trial | Refused]) -> dict[str, dict[str, str]]:
    """Each test that is not the same everywhere: its outcome in the first run, and in every run that had another."""
    found: dict[str, dict[str, str]] = {}
    for each, trial in zip(again, trials, strict=True):
        if isinstance(trial, Refused):
            raise trial
        before, after = _stable(case, each.first), _stable(case, trial)
        for test in sorted(before.keys() | after.keys()):
            old, new = (outcomes.get(test, Outcome.ABSENT).value for outcomes in (before, after))
            if old != new:
                found.setdefault(test, {})[f"{each.state}, run 1"] = old
                found[test][each.attempt.name] = new
    return dict(sorted(found.items()))


def _stable(case: Case, trial: Trial) -> Mapping[str, Outcome]:
    left_out = set(case.task.quarantine)
    return {test: outcome for test, outcome in trial.grading.outcomes.items() if test not in left_out}


def _remedy(case: Case, tests: Sequence[str]) -> str:
    """What to write into the task, to be pasted."""
    quarantine = sorted({*case.task.quarantine, *tests})[: MAX_NAMED + len(case.task.quarantine)]
    lines = "".join(f"\n        {json.dumps(test)}," for test in quarantine)
    where = f"tasks/{case.task.id}/task.toml"
    return f"mend the tests' conditions, or quarantine them in {where}:\n    quarantine = [{lines}\n    ]"
