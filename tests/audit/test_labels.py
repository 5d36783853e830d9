"""Labels of real bundles: what is forged is found, and what was published before there were labels still verifies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.audit.retest import retest
from nanobench.audit.steps import Step
from nanobench.bundle.read import open_bundle
from nanobench.bundle.write import blob_name
from nanobench.formats.documents import dump_json, read_json
from nanobench.grading.locked import LockedArena
from nanobench.grading.trial import fair_trial
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.label import Labelled, Landmarks
from nanobench.model.result import CellResult, FailureRecord
from nanobench.project.files import Project
from nanobench.scoring.score import score
from nanobench.sources.patch import affected_paths

Look = Callable[..., dict[str, Step]]
Forge = Callable[[Path], Any]

INVENTED = Labelled(
    label="hallucinated_api",
    rule=3,
    level="4",
    signals=("test_not_updated", "correct_file_wrong_function", "reported_files_differ"),
)
UNKNOWN = evolve(INVENTED, label="unclassified", rule=None, level=None)


@pytest.fixture
def invented(
    nop_bundle: Path, forge: Forge, place: LockedArena, locks: Locks, edited: Any, tmp_path: Path
) -> Callable[..., Any]:
    """A bundle as if the idle agent had called what does not exist, with this label; its failures maybe changed."""
    patch = edited("unidiff/patch.py", "self._parse(data,", "self.parse_lines_of(data,")
    (tmp_path / "grade").mkdir()
    grading = fair_trial(place.arena, patch, scratch=tmp_path / "grade").grading
    tests, files = locks.task.tests, affected_paths(patch)

    def publish(label: Labelled, **changed: str) -> Any:
        forger = forge(nop_bundle)
        failures = {test: evolve(grading.failures[test], **changed) for test in tests.fail_to_pass}

        def edit(result: CellResult) -> CellResult:
            blobs = evolve(
                result.blobs,
                patch=forger.put(patch),
                outcomes=forger.put(dump_json(grading.record)),
                test_output=forger.put(grading.output),
                failures=forger.put(dump_json(FailureRecord(schema=1, failures=failures))),
            )
            scored = score(
                outcomes=grading.outcomes,
                fail_to_pass=tests.fail_to_pass,
                pass_to_pass=tests.pass_to_pass,
                files_changed=files,
                required_files=locks.task.source.to_change,
                mode=result.cell.mode,
            )
            return evolve(result, blobs=blobs, files_changed=files, score=scored, failure=label)

        forger.each(edit)
        return forger

    return publish


def named(step: Step, *words: str) -> bool:
    """Whether the step fails, and every reason says this: there is one a cell."""
    said = [all(word in reason for word in words) for reason in step.reasons]
    return step.verdict == "fail" and all(said) and len(said) == 2


@pytest.fixture
def tested(bench: Workbench, repository: Project) -> Callable[[Path], list[str]]:
    """What comes out different when every patch is tested again: one reason a cell, or none."""

    def ask(root: Path) -> list[str]:
        return list(map(str, retest(open_bundle(root), repository, online=None, bench=bench)))

    return ask


def test_a_label_follows_from_the_failures_and_from_testing_again(
    invented: Any, look: Look, tested: Callable[[Path], list[str]]
) -> None:
    root = invented(INVENTED).root
    assert (look(root)["rescore"].verdict, tested(root)) == ("pass", [])


def test_another_label_than_the_raw_files_give_is_named(invented: Any, look: Look) -> None:
    assert named(look(invented(UNKNOWN).root)["rescore"], "failure: published Labelled(label='unclassified'")


def test_a_label_that_was_left_out_is_named(nop_bundle: Path, forge: Forge, look: Look) -> None:
    forger = forge(nop_bundle)
    forger.each(lambda result: evolve(result, failure=None))
    assert all(
        "failure: published None, computed Labelled" in reason for reason in look(forger.root)["rescore"].reasons
    )


def test_failures_that_the_patch_does_not_have_are_found_by_testing_again(
    invented: Any, look: Look, tested: Callable[[Path], list[str]]
) -> None:
    root = invented(UNKNOWN, type="builtins.AssertionError", message="1 != 2").root
    assert look(root)["rescore"].verdict == "pass"
    assert ["now Labelled(label='hallucinated_api'" in reason for reason in tested(root)] == [True, True]


def test_landmarks_that_are_not_the_images_are_found(
    nop_bundle: Path, forge: Forge, look: Look, tested: Callable[[Path], list[str]]
) -> None:
    forger = forge(nop_bundle)

    def fewer(result: CellResult) -> dict[str, str]:
        landmarks = read_json(forger.blob(result.blobs.landmarks), Landmarks, where="landmarks")
        return {"landmarks": forger.put(dump_json(evolve(landmarks, names=landmarks.names[1:])))}

    assert len({result.blobs.landmarks for result in forger.results()}) == 1, "all cells of a task share them"
    forger.blobs(fewer)
    assert look(forger.root)["rescore"].verdict == "pass"
    assert ["landmarks: not those of the locked" in reason for reason in tested(forger.root)] == [True, True]


def test_a_bundle_of_before_labels_still_verifies(
    nop_bundle: Path, forge: Forge, look: Look, tested: Callable[[Path], list[str]]
) -> None:
    forger = forge(nop_bundle)
    gone = {digest for r in forger.results() for digest in (r.blobs.failures, r.blobs.landmarks)}
    forger.each(lambda r: evolve(r, failure=None, blobs=evolve(r.blobs, failures=None, landmarks=None)))
    for digest in gone:
        (forger.root / blob_name(digest)).unlink()
    forger.seal()
    steps = look(forger.root)
    assert [steps[name].verdict for name in ("bytes", "lock", "rescore")] == ["pass", "pass", "pass"]
    assert tested(forger.root) == []


def test_a_label_without_the_records_that_it_is_read_from_is_none(nop_bundle: Path, forge: Forge, look: Look) -> None:
    forger = forge(nop_bundle)
    forger.blobs(lambda _: {"failures": None})
    assert named(look(forger.root)["rescore"], "failure: published Labelled", "computed None")
