"""The two runs that tell a solution from its base, remembered by everything that they depend on.

Only what a lock came of is remembered: a run that a busy machine cut, or a test that failed by chance, is run again
by the next ``lock``.
"""

from __future__ import annotations

from nanobench.formats.converter import structure, unstructure
from nanobench.formats.digest import document_sha256, sha256_hex
from nanobench.grading.interface import grading_sha256
from nanobench.grading.suites import Grading
from nanobench.grading.trial import Arena, Trial, try_patch
from nanobench.image.task import BuiltTask
from nanobench.image.workbench import Workbench
from nanobench.model.lock import RECIPE
from nanobench.model.result import GradingRecord
from nanobench.store.store import Store


def known_trial(
    arena: Arena,
    image: BuiltTask,
    patch: bytes,
    *,
    said: str | None = None,
    name: str,
    bench: Workbench,
    afresh: bool = False,
) -> Trial:
    """What came of a patch (and a final text) in the same image with the same tests, suites and limits; where that is
    not known, or everything is wanted ``afresh``, grade it now."""
    recipe = _recipe(arena, image, patch, said)
    known = None if afresh else bench.store.recall(recipe)
    if known is not None:
        record = structure(known["record"], GradingRecord, where=f"recipe {recipe}")
        return Trial(grading=Grading(record=record, failures={}, output=b""), tree=known["tree"])
    bench.say(f"running the tests: {name}")
    with bench.store.scratch("trial") as scratch:
        return try_patch(arena, patch, said=said, scratch=scratch)


def remember_trial(
    arena: Arena, image: BuiltTask, patch: bytes, trial: Trial, *, said: str | None = None, store: Store
) -> None:
    """Know it from now on."""
    known = {"record": unstructure(trial.grading.record), "tree": trial.tree}
    store.remember(_recipe(arena, image, patch, said), known)


def _recipe(arena: Arena, image: BuiltTask, patch: bytes, said: str | None) -> str:
    asserted = {
        "assertions": [unstructure(assertion) for assertion in arena.assertions],
        "answer": [text for text in (arena.answer, said) if text is not None],
    }
    return document_sha256(
        {
            **(asserted if arena.assertions else {}),
            "trial": sha256_hex(patch),
            "tests": sha256_hex(arena.tests),
            "image": image.image.manifest_digest,
            "suites": [unstructure(suite) for suite in arena.suites],
            "rules": unstructure(arena.rules),
            "limits": unstructure(arena.limits),
            "env": dict(arena.env),
            "solution_files": sorted(arena.solution_files),
            "grading": grading_sha256(),
            "recipe": RECIPE,
        }
    )
