from __future__ import annotations

import json
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
