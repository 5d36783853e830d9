from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, Literal

import attrs
import pytest

from nanobench.bundle.read import MAX_FILE, open_bundle
from nanobench.bundle.write import write_bundle
from nanobench.errors import Misuse, NanobenchError, Refused
from nanobench.formats.digest import sha256_hex
from nanobench.formats.documents import dump_lock
from nanobench.gateway.transcript import MAX_LINE
from nanobench.gateway.upstream import Bounds
from nanobench.model.lock import Reference, TaskLock
from nanobench.model.profile import Profile
from nanobench.model.result import CellResult, ProviderFacts, RunManifest

ZERO = "0" * 64
Change = dict[str, Any]


def test_a_fresh_bundle_has_no_problems_and_reads_back(bundle: Path, task_lock: TaskLock) -> None:
    opened = open_bundle(bundle)
    assert list(opened.integrity_problems()) == []
    assert opened.task_lock("x").value == task_lock
    assert opened.result(opened.run.cells[0]).score is not None


def test_one_changed_byte_in_any_file_is_found_and_the_place_is_named(bundle: Path, tmp_path: Path) -> None:
    files = sorted(p.relative_to(bundle).as_posix() for p in bundle.rglob("*") if p.is_file())
    assert len(files) == 5
    for name in files:
        copy = tmp_path / "copy"
        shutil.copytree(bundle, copy)
        data = bytearray((copy / name).read_bytes())
        data[len(data) // 2] ^= 1
        (copy / name).write_bytes(bytes(data))
        try:
            problems = list(open_bundle(copy).integrity_problems())
        except NanobenchError as error:
            problems = [str(error)]
        assert any(name in problem for problem in problems) or name == "manifest.json"
        assert problems
        shutil.rmtree(copy)


def test_a_missing_cell_and_a_planted_file_are_found(bundle: Path) -> None:
    cell = next((bundle / "cells").rglob("*.json"))
    cell.unlink()
    (bundle / "extra").write_text("x")
    problems = list(open_bundle(bundle).integrity_problems())
    assert any(p.startswith("extra: not in the manifest") for p in problems)
    assert any(p.startswith(f"cells/x/{cell.name}") for p in problems)


def test_a_symlink_in_place_of_a_file_is_not_followed(bundle: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"patch")
    blob = next((bundle / "blobs/sha256").iterdir())
    blob.unlink()
    blob.symlink_to(secret)
    assert any(blob.name in p for p in open_bundle(bundle).integrity_problems())


def test_a_fifo_in_place_of_a_file_does_not_hang(bundle: Path) -> None:
    blob = next((bundle / "blobs/sha256").iterdir())
    blob.unlink()
    os.mkfifo(blob)
    assert any(blob.name in p for p in open_bundle(bundle).integrity_problems())


def test_a_manifest_name_that_leads_out_is_refused(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"x")
    opened = open_bundle(bundle)
    evil = attrs.evolve(opened, manifest=attrs.evolve(opened.manifest, files={"../outside": sha256_hex(b"x")}))
    with pytest.raises(Refused, match="leads out"):
        evil.read("../outside")


def test_an_existing_folder_is_never_overwritten_and_a_failure_leaves_nothing(
    bundle: Path, cell_result: CellResult, tmp_path: Path
) -> None:
    run = open_bundle(bundle).run
    with pytest.raises(Misuse, match="already exists"):
        write_bundle(bundle, run, [], {}, {}, building=tmp_path / "building")
    with pytest.raises(FileNotFoundError):
        write_bundle(
            tmp_path / "new",
            run,
            [cell_result],
            {},
            {"0" * 64: tmp_path / "missing"},
            building=tmp_path / "building",
        )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["blob", "bundle"]


def test_repeats_are_counted_from_zero(bundle: Path) -> None:
    opened = open_bundle(bundle)
    (cell,) = opened.run.cells
    late = attrs.evolve(opened, run=attrs.evolve(opened.run, cells=(attrs.evolve(cell, repeat=3),)))
    problems = list(late.integrity_problems())
    assert "run.json: 1 cells where 4 different ones make the plan" in problems


def test_a_plan_has_every_harness_for_every_task_or_each_tasks_own(
    tmp_path: Path, cell_result: CellResult, task_lock: TaskLock
) -> None:
    own = {"x": "old", "y": "new"}
    locks = {
        t: dump_lock(attrs.evolve(task_lock, task=t, harness=Reference(name=h, sha256=ZERO))) for t, h in own.items()
    }
    facts = ProviderFacts(name="p", kind="scripted", models=("m/1:b",))

    def problems(*pairs: tuple[str, str]) -> list[str]:
        cells = tuple(attrs.evolve(cell_result.cell, task=task, harness=harness) for task, harness in pairs)
        results = [attrs.evolve(cell_result, cell=cell) for cell in cells]
        run = RunManifest(
            schema=1,
            nanobench="0",
            provider=facts,
            locks={t: sha256_hex(lock) for t, lock in locks.items()},
            cells=cells,
        )
        files = {f"{task}.lock.toml": lock for task, lock in locks.items()}
        place = tmp_path / str(len(list(tmp_path.iterdir())))
        opened = open_bundle(write_bundle(place, run, results, files, {}, building=tmp_path / "new"))
        return [problem for problem in opened.integrity_problems() if problem.startswith("run.json")]

    every = [(task, harness) for task in own for harness in own.values()]
    assert problems(*own.items()) == problems(*every) == problems(("x", "old"), ("y", "old")) == []
    crossed = problems(("x", "new"), ("y", "old"))
    assert crossed == ["run.json: 2 cells where 4 different ones make the plan"]
    assert problems(*every[:3]) == ["run.json: 3 cells where 4 different ones make the plan"]


def test_a_plan_has_every_arm_of_the_run_and_no_other(bundle: Path) -> None:
    opened = open_bundle(bundle)
    (cell,) = opened.run.cells
    small = Profile(name="small")
    other = ProviderFacts(name="q", kind="scripted", models=("m", "n"))

    def problems(*changes: Change, **axes: Any) -> list[str]:
        cells = tuple(attrs.evolve(cell, **change) for change in changes)
        run = attrs.evolve(opened.run, cells=cells, **axes)
        found = attrs.evolve(opened, run=run).integrity_problems()
        return [problem for problem in found if problem.startswith("run.json")]

    every: list[Change] = [{}, {"provider": "q", "model": "m"}, {"provider": "q", "model": "n"}]
    assert problems(*every, other_providers=(other,)) == []
    assert problems(*every[:2], other_providers=(other,)) == [
        "run.json: its models are p/m/1:b, q/m, q/n, those of its cells p/m/1:b, q/m"
    ]
    assert problems(*every) == ["run.json: its models are p/m/1:b, those of its cells p/m/1:b, q/m, q/n"]
    assert problems({"profile": "small"}, profiles=(small,)) == []
    assert problems({"profile": "large"}, profiles=(small,)) == [
        "run.json: its profiles are small, those of its cells large"
    ]
    crossed = problems(*every[1:], {"profile": "small"}, other_providers=(other,), profiles=(small,))
    assert crossed == ["run.json: 3 cells where 6 different ones make the plan"]


def test_a_run_of_one_provider_reads_as_it_was_written_before_there_could_be_several(bundle: Path) -> None:
    document = json.loads((bundle / "run.json").read_bytes())
    assert document.keys() == {"schema", "nanobench", "provider", "budgets", "locks", "harnesses", "cells"}
    run = open_bundle(bundle).run
    assert [facts.name for facts in run.providers] == ["p"]
    assert (run.provider_of(run.cells[0]), run.profile_of(run.cells[0])) == (run.provider, None)


def test_a_cell_of_nobody_is_refused_not_a_bug(bundle: Path) -> None:
    run = open_bundle(bundle).run
    changes: list[Change] = [{"provider": "q"}, {"profile": "small"}]
    for change in changes:
        cell = attrs.evolve(run.cells[0], **change)
        with pytest.raises(Refused, match="the run has none of the name"):
            run.provider_of(cell), run.profile_of(cell)
    with pytest.raises(ValueError, match="two providers have the same name"):
        attrs.evolve(run, other_providers=(run.provider,))


def test_one_transcript_of_two_repeats_of_a_real_model_is_named(
    bundle: Path, tmp_path: Path, cell_result: CellResult, task_lock: TaskLock
) -> None:
    opened = open_bundle(bundle)
    (first,) = (opened.result(cell) for cell in opened.run.cells)
    second = attrs.evolve(first, cell=attrs.evolve(first.cell, repeat=1))
    lock = {"x.lock.toml": dump_lock(task_lock)}
    blobs = {first.blobs.patch: tmp_path / "blob"}

    def problems(name: str, kind: Literal["openai-compatible", "scripted"]) -> list[str]:
        provider = attrs.evolve(opened.run.provider, kind=kind)
        run = attrs.evolve(opened.run, cells=(first.cell, second.cell), provider=provider)
        place = write_bundle(tmp_path / name, run, [first, second], lock, blobs, building=tmp_path / "new")
        return list(open_bundle(place).integrity_problems())

    assert problems("scripted", "scripted") == []
    (problem,) = problems("real", "openai-compatible")
    assert problem == f"blobs/sha256/{first.blobs.patch}: is the transcript of {first.cell.id}, {second.cell.id}"


@pytest.mark.parametrize("name", ["a\0b", "loop", "loop/x", "n" * 300])
def test_a_name_that_can_be_no_file_is_refused_not_a_bug(bundle: Path, name: str) -> None:
    (bundle / "loop").symlink_to("loop")
    opened = open_bundle(bundle)
    evil = attrs.evolve(opened, manifest=attrs.evolve(opened.manifest, files={name: "0" * 64}))
    with pytest.raises(Refused, match="NB_BUNDLE"):
        evil.read(name)


def test_a_transcript_that_may_be_recorded_may_be_published() -> None:
    assert Bounds().transcript_bytes + MAX_LINE <= MAX_FILE
