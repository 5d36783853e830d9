"""Real bundles, damaged and forged; the committed locks are the project's."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.audit.steps import Step, exit_code
from nanobench.audit.verify import Audit, verify
from nanobench.bundle.write import blob_name, cell_name
from nanobench.formats.digest import sha256_hex
from nanobench.formats.documents import dump_json, dump_lock, read_json, read_lock
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.lock import LOCK_REVISION, EnvironmentLock, HarnessLock, TaskLock
from nanobench.model.result import Attempt, Cause, CellResult, GradingRecord, Outcome
from nanobench.project.files import Project
from nanobench.scoring.score import score

Look = Callable[..., dict[str, Step]]
Forge = Callable[[Path], Any]


def verdicts(steps: dict[str, Step]) -> dict[str, str]:
    return {name: step.verdict for name, step in steps.items()}


@pytest.mark.parametrize("provider", ["oracle", "nop"])
def test_what_was_published_is_verified_step_by_step(
    request: pytest.FixtureRequest, retest: Look, provider: str
) -> None:
    steps = retest(request.getfixturevalue(f"{provider}_bundle"))
    assert verdicts(steps) == {"bytes": "pass", "lock": "pass", "derive": "pass", "rescore": "pass", "retest": "pass"}
    assert exit_code(steps.values()) == 0


def test_without_a_sandbox_all_but_the_retest_is_told(oracle_bundle: Path, look: Look) -> None:
    steps = look(oracle_bundle, warm=True)
    told = {"bytes": "pass", "lock": "pass", "rescore": "pass", "retest": "unknown"}
    assert {name: verdict for name, verdict in verdicts(steps).items() if name != "derive"} == told
    assert "NB_ENGINE" in steps["retest"].reasons[0]
    assert exit_code(steps.values()) == 3


def test_without_a_project_the_lock_cannot_be_compared(oracle_bundle: Path, look: Look, tmp_path: Path) -> None:
    for project in (None, Project(tmp_path)):
        step = look(oracle_bundle, project=project)["lock"]
        assert step.verdict == "unknown"
        assert "NB_NO_PUBLISHED_LOCK" in step.reasons[0]


# One byte --------------------------------------------------------------------------------------------------------


def test_one_byte_changed_in_any_file_is_found_and_the_file_is_named(
    oracle_bundle: Path, forge: Forge, look: Look
) -> None:
    root = forge(oracle_bundle).root
    names = sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
    kinds = {name.partition("/")[0] for name in names}
    assert kinds == {"blobs", "cells", "locks", "manifest.json", "run.json"}
    for name in names:
        path = root / name
        whole = path.read_bytes()
        at = len(whole) // 2
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        steps = look(root)
        path.write_bytes(whole)
        assert steps["bytes"].verdict == "fail", name
        assert exit_code(steps.values()) == 1
        assert name == "manifest.json" or any(name in reason for reason in steps["bytes"].reasons), name


def test_a_file_that_is_gone_or_new_and_a_linked_folder_are_named(
    nop_bundle: Path, forge: Forge, look: Look, tmp_path: Path
) -> None:
    root = forge(nop_bundle).root
    gone = next((root / "blobs/sha256").iterdir())
    gone.unlink()
    (root / "cells/note.txt").write_text("hello")
    (root / "link").symlink_to(tmp_path, target_is_directory=True)
    reasons = "\n".join(look(root)["bytes"].reasons)
    for name in (gone.name, "cells/note.txt", "link"):
        assert name in reasons


def test_a_folder_without_an_index_is_no_bundle(tmp_path: Path, look: Look) -> None:
    steps = look(tmp_path)
    assert verdicts(steps) == {"bytes": "fail"}
    assert "NB_BUNDLE" in steps["bytes"].reasons[0]


# Forged, so that every digest fits -----------------------------------------------------------------------------


def test_a_forged_score_is_found_by_rescoring(nop_bundle: Path, forge: Forge, look: Look) -> None:
    forger = forge(nop_bundle)
    forger.each(lambda r: evolve(r, score=evolve(r.score, value="1.0", label="Complete Resolution", resolved=True)))
    steps = look(forger.root)
    assert [steps[name].verdict for name in ("bytes", "lock", "rescore")] == ["pass", "pass", "fail"]
    assert len(steps["rescore"].reasons) == 2
    assert all("score: published" in reason for reason in steps["rescore"].reasons)


def with_outcomes(forger: Any, locks: Locks, change: Callable[[GradingRecord], GradingRecord]) -> None:
    """Change outcomes so that all is resolved, and whatever follows from them."""

    def changed(result: CellResult) -> CellResult:
        record = change(read_json(forger.blob(result.blobs.outcomes), GradingRecord, where="outcomes"))
        return evolve(
            result,
            blobs=evolve(result.blobs, outcomes=forger.put(dump_json(record))),
            score=score(
                outcomes=record.outcomes,
                fail_to_pass=locks.task.tests.fail_to_pass,
                pass_to_pass=locks.task.tests.pass_to_pass,
                files_changed=result.files_changed,
                required_files=locks.task.source.required_files,
                mode=result.cell.mode,
            ),
            failure=None,
        )

    before = {result.blobs.outcomes for result in forger.results()}
    forger.each(changed)
    for digest in before:
        (forger.root / blob_name(digest)).unlink()
    forger.seal()


def test_forged_outcomes_are_found_by_testing_again_and_every_test_is_named(
    nop_bundle: Path, forge: Forge, locks: Locks, retest: Look
) -> None:
    forger = forge(nop_bundle)
    targets = locks.task.tests.fail_to_pass
    with_outcomes(
        forger, locks, lambda r: evolve(r, outcomes={**r.outcomes, **dict.fromkeys(targets, Outcome.PASSED)})
    )
    steps = retest(forger.root)
    assert verdicts(steps) == {"bytes": "pass", "lock": "pass", "derive": "pass", "rescore": "pass", "retest": "fail"}
    assert len(steps["retest"].reasons) == 2 * len(targets)
    for test in targets:
        assert any(f"{test}: published passed, now" in reason for reason in steps["retest"].reasons)


def test_another_patch_is_found_by_its_files_and_when_those_are_forged_too_by_testing_again(
    oracle_bundle: Path, nop_bundle: Path, forge: Forge, look: Look, retest: Look
) -> None:
    forger = forge(oracle_bundle)
    empty = forger.put(b"")
    forger.blobs(lambda _: {"patch": empty})
    found = look(forger.root)["rescore"]
    assert found.verdict == "fail"
    assert all("files_changed: published" in reason or "score:" in reason for reason in found.reasons)
    forger.each(
        lambda r: evolve(r, files_changed=(), score=evolve(r.score, required_touched=())),
    )
    steps = retest(forger.root)
    assert verdicts(steps) == {"bytes": "pass", "lock": "pass", "derive": "pass", "rescore": "pass", "retest": "fail"}


def test_a_patch_that_is_no_difference_to_the_base_is_found(oracle_bundle: Path, forge: Forge, retest: Look) -> None:
    forger = forge(oracle_bundle)
    patch = forger.blob(forger.results()[0].blobs.patch)
    changed = forger.put(patch.replace(b"\n-", b"\n-x", 1))
    forger.blobs(lambda _: {"patch": changed})
    steps = retest(forger.root)
    assert steps["retest"].verdict == "fail"
    assert "NB_PATCH" in steps["retest"].reasons[0]


def test_a_transcript_with_other_figures_is_found(oracle_bundle: Path, forge: Forge, look: Look) -> None:
    forger = forge(oracle_bundle)
    cut = {r.cell.id: forger.put(forger.blob(r.blobs.transcript).split(b"\n", 1)[1]) for r in forger.results()}
    forger.blobs(lambda r: {"transcript": cut[r.cell.id]})
    found = look(forger.root)["rescore"]
    assert found.verdict == "fail"
    said = {reason.split(": ")[1] for reason in found.reasons}
    assert said == {"usage", "served"}


def test_a_transcript_that_is_not_canonical_is_refused_with_its_line(
    oracle_bundle: Path, forge: Forge, look: Look
) -> None:
    forger = forge(oracle_bundle)
    spaced = {
        r.cell.id: forger.put(forger.blob(r.blobs.transcript).replace(b"{", b"{ ", 1)) for r in forger.results()
    }
    forger.blobs(lambda r: {"transcript": spaced[r.cell.id]})
    found = look(forger.root)["rescore"]
    assert found.verdict == "fail"
    assert "NB_TRANSCRIPT" in found.reasons[0]
    assert ":1" in found.reasons[0]


def test_a_lock_with_easier_tests_is_not_the_projects(
    oracle_bundle: Path, forge: Forge, look: Look, locks: Locks
) -> None:
    forger = forge(oracle_bundle)
    tests = evolve(locks.task.tests, fail_to_pass=locks.task.tests.fail_to_pass[:1])
    easier = dump_lock(evolve(locks.task, tests=tests))
    digest = sha256_hex(easier)
    (forger.root / f"locks/{locks.task.task}.lock.toml").write_bytes(easier)
    forger.run(lambda run: evolve(run, locks={locks.task.task: digest}))
    forger.each(lambda r: evolve(r, lock_sha256=digest, score=evolve(r.score, targets=1, targets_passed=1)))
    steps = look(forger.root)
    assert [steps[name].verdict for name in ("bytes", "lock", "rescore")] == ["pass", "fail", "pass"]
    (reason,) = steps["lock"].reasons
    assert f"locks/{locks.task.task}.lock.toml: the bundle's has sha256 {digest}" in reason


def with_lock(forger: Any, locks: Locks, lock: TaskLock) -> str:
    """Put another task lock into the bundle, and whatever follows from it; its digest."""
    data = dump_lock(lock)
    (forger.root / f"locks/{locks.task.task}.lock.toml").write_bytes(data)
    forger.run(lambda run: evolve(run, locks={locks.task.task: sha256_hex(data)}))
    forger.each(lambda r: evolve(r, lock_sha256=sha256_hex(data)))
    return sha256_hex(data)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("tests.fail_to_pass", lambda k: evolve(k, tests=evolve(k.tests, fail_to_pass=k.tests.fail_to_pass[:1]))),
        ("tests.pass_to_pass", lambda k: evolve(k, tests=evolve(k.tests, pass_to_pass=()))),
        ("source.required_files", lambda k: evolve(k, source=evolve(k.source, required_files=("README.md",)))),
        ("source.test_files", lambda k: evolve(k, source=evolve(k.source, test_files=("tests/x.py",)))),
        ("spec_sha256", lambda k: evolve(k, spec_sha256="0" * 64)),
        *(
            (
                f"gate[{n}].evidence_sha256",
                lambda k, n=n: evolve(
                    k, gate=tuple(evolve(g, evidence_sha256="0" * 64) if m == n else g for m, g in enumerate(k.gate))
                ),
            )
            for n in range(6)
        ),
    ],
)
def test_a_lock_that_does_not_follow_from_its_pins_is_found_even_where_it_was_published(
    oracle_bundle: Path,
    forge: Forge,
    copied: Project,
    bench: Workbench,
    locks: Locks,
    key: str,
    change: Callable[[TaskLock], TaskLock],
) -> None:
    forged = change(locks.task)
    forger = forge(oracle_bundle)
    with_lock(forger, locks, forged)
    copied.write_lock(locks.task.task, forged)
    steps = {s.name: s for s in verify(forger.root, Audit(project=copied, bench=bench, online=None))}
    assert steps["lock"].verdict == "pass"
    assert steps["derive"].verdict == "fail"
    assert any(f"locks/{locks.task.task}.lock.toml: {key}" in reason for reason in steps["derive"].reasons)


def test_without_the_statement_the_lock_cannot_be_derived_again(
    oracle_bundle: Path, copied: Project, bench: Workbench, demo: str
) -> None:
    (copied.root / "tasks" / demo / "statement.md").write_text("Something else.\n")
    steps = {s.name: s for s in verify(oracle_bundle, Audit(project=copied, bench=bench, online=None))}
    assert steps["derive"].verdict == "unknown"
    assert "NB_NO_STATEMENT" in steps["derive"].reasons[0]


@pytest.mark.parametrize("kind", ["environments", "harness"])
def test_another_lock_below_the_task_lock_is_found_by_its_digest(
    oracle_bundle: Path, forge: Forge, look: Look, kind: str
) -> None:
    forger = forge(oracle_bundle)
    (path,) = (forger.root / "locks" / kind).iterdir()
    document = {"environments": EnvironmentLock, "harness": HarnessLock}[kind]
    path.write_bytes(
        dump_lock(evolve(read_lock(path.read_bytes(), document, where=path.name), revision=LOCK_REVISION + 1))
    )
    forger.seal()
    step = look(forger.root)["lock"]
    assert step.verdict == "fail"
    assert "NB_BUNDLE_LOCK" in step.reasons[0]
    assert {"environments": "environment.sha256", "harness": "harness.sha256"}[kind] in step.reasons[0]


def test_a_lock_whose_gate_did_not_pass_is_named(oracle_bundle: Path, forge: Forge, look: Look, locks: Locks) -> None:
    forger = forge(oracle_bundle)
    first, *rest = locks.task.gate
    worse = dump_lock(evolve(locks.task, gate=(evolve(first, verdict="fail"), *rest)))
    (forger.root / f"locks/{locks.task.task}.lock.toml").write_bytes(worse)
    forger.run(lambda run: evolve(run, locks={locks.task.task: sha256_hex(worse)}))
    assert any(f"gate {first.name}: fail" in reason for reason in look(forger.root)["lock"].reasons)


@pytest.mark.parametrize("field", ["lock_sha256", "harness_sha256", "image_manifest", "nanocoder"])
def test_a_result_of_other_inputs_is_named_with_both(nop_bundle: Path, forge: Forge, look: Look, field: str) -> None:
    forger = forge(nop_bundle)
    other = {"image_manifest": "sha256:" + "5" * 64, "nanocoder": "1.29.0"}.get(field, "5" * 64)
    forger.each(lambda r: evolve(r, **{field: other}))
    step = look(forger.root)["lock"]
    assert step.verdict == "fail"
    assert all(f"{field}: the result says {other}" in reason for reason in step.reasons)


# The plan ------------------------------------------------------------------------------------------------------


def test_a_cell_that_is_left_out_of_the_plan_is_missed(
    oracle_bundle: Path, forge: Forge, look: Look, tmp_path: Path
) -> None:
    forger = forge(oracle_bundle)
    forger.run(lambda run: evolve(run, cells=run.cells[:1]))
    (reason,) = look(forger.root)["bytes"].reasons
    assert "not in the plan" in reason


def test_a_plan_with_a_hole_and_a_plan_that_counts_a_cell_twice_are_none(
    oracle_bundle: Path, forge: Forge, look: Look
) -> None:
    forger = forge(oracle_bundle)
    first, second = forger.results()
    extra = evolve(first, cell=evolve(first.cell, repeat=1))
    forger.replace(extra)
    forger.run(lambda run: evolve(run, cells=(*run.cells, extra.cell)))
    assert look(forger.root)["bytes"].reasons == ("run.json: 3 cells where 4 different ones make the plan",)
    (forger.root / cell_name(extra.cell.id)).unlink()
    forger.run(lambda run: evolve(run, cells=(first.cell, second.cell, first.cell)))
    assert look(forger.root)["bytes"].reasons == ("run.json: 3 cells where 2 different ones make the plan",)


def test_cells_of_another_provider_than_the_run_names_are_found(nop_bundle: Path, forge: Forge, look: Look) -> None:
    forger = forge(nop_bundle)
    forger.run(lambda run: evolve(run, provider=evolve(run.provider, name="famous", models=("large",))))
    reasons = look(forger.root)["bytes"].reasons
    assert len(reasons) == 1
    assert "famous" in reasons[0]


def test_a_result_under_another_cells_name_is_found(nop_bundle: Path, forge: Forge, look: Look) -> None:
    forger = forge(nop_bundle)
    first, second = forger.results()
    shutil.copy(forger.root / cell_name(first.cell.id), forger.root / cell_name(second.cell.id))
    forger.seal()
    step = look(forger.root)["bytes"]
    assert any("holds another cell" in reason for reason in step.reasons)


def test_a_result_without_attempts_is_refused_not_a_bug(nop_bundle: Path, forge: Forge, look: Look) -> None:
    forger = forge(nop_bundle)
    for result in forger.results():
        path = forger.root / cell_name(result.cell.id)
        data = path.read_bytes()
        start, end = data.index(b'"attempts":[') + len(b'"attempts":['), data.index(b'],"blobs"')
        path.write_bytes(data[:start] + data[end:])
    forger.seal()
    steps = look(forger.root)
    assert steps["bytes"].verdict == "fail"
    assert any("attempts" in reason for reason in steps["rescore"].reasons)


def test_a_failure_of_the_grader_that_is_none_is_found(nop_bundle: Path, forge: Forge, retest: Look) -> None:
    forger = forge(nop_bundle)
    forger.each(
        lambda r: evolve(
            r,
            cause=Cause.GRADER,
            attempts=(Attempt(number=1, cause=Cause.GRADER), Attempt(number=2, cause=Cause.GRADER)),
            score=None,
            blobs=evolve(r.blobs, outcomes=None, test_output=None),
        )
    )
    steps = retest(forger.root)
    assert steps["retest"].verdict == "fail"
    assert all("its patch can be graded" in reason for reason in steps["retest"].reasons)


def test_a_task_that_the_project_does_not_know_is_no_verdict(
    nop_bundle: Path, look: Look, copied: Project, demo: str
) -> None:
    copied.lock_path(TaskLock, demo).unlink()
    assert look(nop_bundle, project=copied)["lock"].verdict == "unknown"
