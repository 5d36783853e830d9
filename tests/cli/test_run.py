from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.formats.documents import dump_lock, read_json
from nanobench.image.realise import Locks
from nanobench.model.lock import HarnessLock, TaskLock
from nanobench.model.result import CellResult, RunManifest
from nanobench.project.files import Project
from nanobench.runner.state import RunState


def results(bundle: Path) -> dict[str, CellResult]:
    found = (read_json(path.read_bytes(), CellResult, where=path.name) for path in (bundle / "cells").rglob("*.json"))
    return {result.cell.mode: result for result in found}


def test_the_solution_scores_1_and_the_agents_patch_is_the_golden_one(oracle_bundle: Path, locks: Locks) -> None:
    found = results(oracle_bundle)
    assert set(found) == {"hinted", "navigation"}
    for result in found.values():
        assert result.score is not None
        assert (result.score.value, result.score.resolved, result.cause) == ("1.0", True, "finished")
        assert result.score.targets_passed == len(locks.task.tests.fail_to_pass)
        assert result.blobs.patch == locks.task.source.golden_patch_sha256
        assert result.sampling_pinned
        assert result.usage.steps > 1


def test_an_agent_that_does_nothing_scores_0(nop_bundle: Path) -> None:
    found = results(nop_bundle)
    assert set(found) == {"hinted", "navigation"}
    for result in found.values():
        assert result.score is not None
        assert (result.score.value, result.score.label, result.files_changed) == ("0.0", "Zero Signal", ())
        assert (result.cause, result.usage.steps, result.usage.tool_calls) == ("finished", 1, 0)


def test_only_the_hinted_prompt_names_the_required_files(nop_bundle: Path, locks: Locks) -> None:
    (required,) = locks.task.source.required_files
    for mode, result in results(nop_bundle).items():
        line = json.loads((nop_bundle / "blobs/sha256" / result.blobs.transcript).read_bytes().splitlines()[0])
        said = json.loads(line["request"]["text"])["messages"][-1]["content"]
        assert said.endswith(f"Key files to focus on:\n{required}") == (mode == "hinted")


def test_a_bundle_names_nothing_of_this_machine(oracle_bundle: Path, warm_store: Path, repository: Project) -> None:
    places = {str(warm_store).encode(), str(repository.root).encode(), str(oracle_bundle.parent).encode()}
    for path in oracle_bundle.rglob("*"):
        if path.is_file():
            assert not [place for place in places if place in path.read_bytes()], path


def test_the_plan_of_a_bundle_names_its_locks(oracle_bundle: Path, repository: Project, demo: str) -> None:
    run = read_json((oracle_bundle / "run.json").read_bytes(), RunManifest, where="run.json")
    assert run.provider.kind == "scripted"
    for name in run.locks:
        lock = oracle_bundle / "locks" / f"{name}.lock.toml"
        assert lock.read_bytes() == (repository.root / "locks" / f"{demo}.lock.toml").read_bytes()


@pytest.fixture
def refused(nanobench: Any, copied: Project, tmp_path: Path) -> Any:
    """A run that does not begin: its exit code and error."""

    def ask(*arguments: object, provider: str = "nop") -> tuple[int, Any]:
        out = tmp_path / "runs/bundle"
        where = ("--out", out, "--project", copied.root, "--json")
        done = nanobench("run", "--frozen", *arguments, "--provider", provider, *where)
        assert not list(out.parent.glob("*")) if out.parent.exists() else True
        assert "NB_" in done.err
        error = done.document["error"]
        assert str(error["message"]) in done.err
        return done.code, error

    return ask


def test_a_task_without_a_lock_cannot_be_told(refused: Any, copied: Project, demo: str) -> None:
    (copied.root / f"locks/{demo}.lock.toml").unlink()
    code, error = refused(demo)
    assert (code, error["code"], error["hint"]) == (3, "NB_LOCK_MISSING", f"nanobench lock {demo}")


def test_an_unknown_task_is_told_the_known_ones(refused: Any, demo: str) -> None:
    code, error = refused("unknown")
    assert (code, error["code"]) == (3, "NB_LOCK_MISSING")
    assert error["hint"].startswith("known tasks: ") and demo in error["hint"]


def test_nothing_locked_is_nothing_to_run(refused: Any, copied: Project, demo: str) -> None:
    (copied.root / f"locks/{demo}.lock.toml").unlink()
    assert refused()[0] == 2


def test_a_stale_lock_is_refused_with_every_reason_at_once(refused: Any, copied: Project, demo: str) -> None:
    task = copied.root / f"tasks/{demo}/task.toml"
    task.write_text(task.read_text().replace("complexity_tier = 1", "complexity_tier = 2"))
    (copied.root / f"tasks/{demo}/statement.md").write_text("Something else.\n")
    (environment,) = (copied.root / "environments").glob("python-bookworm.toml")
    text = environment.read_text()
    environment.write_text(text.replace('"pytest>=8"', '"pytest>=7"').replace("cpus = 2", "cpus = 1"))
    harness = copied.lock(HarnessLock, "nanocoder-1.30.0").value
    copied.write_lock(harness.name, evolve(harness, revision=harness.revision + 1))
    code, error = refused(demo)
    assert (code, error["code"]) == (1, "NB_LOCK_STALE")
    for number, expected in enumerate(
        (
            f"tasks/{demo}/task.toml: curation.complexity_tier: locked 1, now 2",
            f"tasks/{demo}/statement.md: locked sha256",
            "environments/python-bookworm.toml: limits differ",
            "locks/harness/nanocoder-1.30.0.lock.toml: locked sha256",
            "environments/python-bookworm.toml: limits.cpus: locked 2, now 1",
            "environments/python-bookworm.toml: python.requirements[0]: locked 'pytest>=8', now 'pytest>=7'",
        )
    ):
        assert sum(expected in line for line in error["details"]) == 1, (number, error["details"])


@pytest.mark.parametrize(
    ("arguments", "provider", "code"),
    [
        (["--mode", "psychic"], "nop", "NB_USAGE"),
        ([], "nobody", "NB_USAGE"),
        (["--base-url", "http://127.0.0.1:9/v1"], "p", "NB_USAGE"),
        (["--base-url", "ftp://x/v1", "--model", "m"], "p", "NB_USAGE"),
        (["--base-url", "http://127.0.0.1:9/v1", "--model", "a b"], "p", "NB_USAGE"),
        (["--base-url", "http://127.0.0.1:9/v1", "--provider", "q", "--model", "m"], "p", "NB_USAGE"),
        (["--provider", "nop"], "nop", "NB_USAGE"),
        (["--matrix", "/no/such.toml"], "nop", "NB_NO_FILE"),
        (["--profile", "small"], "nop", "NB_USAGE"),
        (["--profile", '{name = "small", tools = "few"}'], "nop", "NB_USAGE"),
        (["--base-url", "http://127.0.0.1:9/v1", "--model", "m"], "a b", "NB_USAGE"),
        (["--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--model", "m"], "p", "NB_USAGE"),
        (["--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--key-env", "NO_SUCH_VARIABLE"], "p", "NB_KEY"),
        (["--lock", "/no/such.lock.toml"], "nop", "NB_NO_FILE"),
        (["--mode", "hinted", "--mode", "hinted"], "nop", "NB_USAGE"),
    ],
)
def test_wrong_usage_is_exit_2_and_says_what_is_right(
    refused: Any, demo: str, arguments: list[str], provider: str, code: str
) -> None:
    found, error = refused(demo, *arguments, provider=provider)
    assert (found, error["code"]) == (2, code)


def test_a_name_that_leads_out_of_the_project_is_no_task(refused: Any) -> None:
    code, _ = refused("../../../etc/passwd")
    assert code in (2, 3)


def test_a_lock_of_another_task_is_not_this_ones(refused: Any, copied: Project, demo: str, tmp_path: Path) -> None:
    other = tmp_path / "other.lock.toml"
    other.write_bytes(dump_lock(evolve(copied.lock(TaskLock, demo).value, task="another")))
    code, error = refused(demo, "--lock", other)
    assert (code, error["code"]) == (1, "NB_LOCK_OTHER")


def test_a_lock_file_given_by_hand_is_the_one_that_counts(
    refused: Any, copied: Project, demo: str, tmp_path: Path
) -> None:
    own = tmp_path / "own.lock.toml"
    shutil.move(copied.root / f"locks/{demo}.lock.toml", own)
    (copied.root / f"tasks/{demo}/statement.md").write_text("Something else.\n")
    code, error = refused(demo, "--lock", own)
    assert (code, error["code"], error["where"]) == (1, "NB_LOCK_STALE", str(own))


def test_an_existing_folder_is_never_written_to(
    nanobench: Any, repository: Project, demo: str, nop_bundle: Path
) -> None:
    before = sorted(path.stat().st_mtime_ns for path in nop_bundle.rglob("*"))
    where = ("--out", nop_bundle, "--project", repository.root, "--json")
    done = nanobench("run", "--frozen", demo, "--provider", "nop", *where)
    assert (done.code, done.document["error"]["code"]) == (2, "NB_EXISTS")
    assert sorted(path.stat().st_mtime_ns for path in nop_bundle.rglob("*")) == before


def test_the_state_of_another_plan_is_not_gone_on_with(
    nanobench: Any, repository: Project, demo: str, tmp_path: Path, nop_bundle: Path
) -> None:
    run = read_json((nop_bundle / "run.json").read_bytes(), RunManifest, where="run.json")
    RunState(RunState.place(tmp_path / "bundle"), run)
    where = ("--out", tmp_path / "bundle", "--project", repository.root, "--json")
    done = nanobench("run", "--frozen", demo, "--provider", "nop", *where)
    assert (done.code, done.document["error"]["code"]) == (1, "NB_RUN_DIFFERS")


def test_progress_is_told_on_stderr_and_the_verdict_alone_on_stdout(
    nanobench: Any, repository: Project, demo: str, tmp_path: Path
) -> None:
    where = ("--out", tmp_path / "bundle", "--project", repository.root, "--json")
    done = nanobench("run", "--frozen", demo, "--provider", "nop", *where)
    assert done.code == 0
    assert set(done.document) == {"bundle", "results"}
    (result,) = done.document["results"]
    assert (result["score"]["value"], result["cell"]["repeat"]) == ("0.0", 0)
    assert f"cell 1 of 1: {demo} nanocoder-1.30.0 nop/nop hinted #0: 0.0 Zero Signal" in done.err
    assert "finished, 1 steps): zero_signal (rule 2, level 1), not_implemented\n" in done.err
