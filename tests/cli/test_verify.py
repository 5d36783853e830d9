from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from nanobench.project.files import Project


@pytest.mark.parametrize("name", ["folder", "file", "missing"])
def test_what_is_no_bundle_is_wrong_use(nanobench: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    done = nanobench("verify", tmp_path / name, "--json", "--store", tmp_path / "store")
    assert (done.code, done.document["error"]["code"]) == (2, "NB_NO_BUNDLE")


def test_the_verdict_of_the_whole_and_of_each_step_is_told_for_machines(
    nanobench: Any, tmp_path: Path, repository: Project
) -> None:
    (tmp_path / "manifest.json").write_bytes(json.dumps({"files": {}, "schema": 1}, separators=(",", ":")).encode())
    done = nanobench("verify", tmp_path, "--json", "--store", tmp_path / "store", "--project", repository.root)
    assert done.code == 1
    assert (done.document["bundle"], done.document["verdict"]) == (str(tmp_path), "fail")
    assert done.document["steps"]["bytes"]["verdict"] == "fail"
    assert len(done.document["steps"]["bytes"]["reasons"]) == 1


def test_a_verified_bundle_is_exit_0_and_every_step_is_told(
    nanobench: Any, repository: Project, nop_bundle: Path
) -> None:
    done = nanobench("verify", nop_bundle, "--offline", "--project", repository.root)
    assert done.code == 0
    steps = dict(line.split()[:2] for line in done.out.splitlines())
    assert {steps.get(name) for name in ("bytes", "lock", "derive", "rescore", "retest")} == {"pass"}
    assert done.err.count("testing the patch again") == 2


def test_a_damaged_bundle_is_exit_1_and_the_file_is_named(
    nanobench: Any, repository: Project, nop_bundle: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(nop_bundle, tmp_path / "copy"))
    with (copy / "run.json").open("ab") as file:
        file.write(b" ")
    done = nanobench("verify", copy, "--offline", "--project", repository.root, "--json")
    assert done.code == 1
    assert done.document["steps"]["bytes"]["verdict"] == "fail"
    assert "run.json" in done.document["steps"]["bytes"]["reasons"][0]


def test_outside_of_a_project_nothing_is_confirmed_that_was_not_compared(
    nanobench: Any, nop_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    done = nanobench("verify", nop_bundle, "--offline", "--json")
    assert done.code == 3
    assert done.document["steps"]["lock"]["verdict"] == "unknown"
    assert "NB_NO_PUBLISHED_LOCK" in done.document["steps"]["lock"]["reasons"][0]


def test_a_project_that_is_named_and_is_none_is_wrong_usage(nanobench: Any, nop_bundle: Path, tmp_path: Path) -> None:
    done = nanobench("verify", nop_bundle, "--offline", "--project", tmp_path, "--json")
    assert (done.code, done.document["error"]["code"]) == (2, "NB_NO_PROJECT")


def test_an_empty_store_cannot_tell_offline_and_the_rest_is_told(
    nanobench: Any, repository: Project, nop_bundle: Path, tmp_path: Path
) -> None:
    where = ("--store", tmp_path / "store", "--project", repository.root)
    done = nanobench("verify", nop_bundle, "--offline", *where, "--json")
    assert done.code == 3
    verdicts = {name: step["verdict"] for name, step in done.document["steps"].items()}
    assert (verdicts["bytes"], verdicts["lock"], verdicts["rescore"]) == ("pass", "pass", "pass")
    assert verdicts["retest"] == "unknown"
