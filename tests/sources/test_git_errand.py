"""The whole errand over HTTP, from a pull request's number to a resolved run: a small repository, the real git, the
demo task's environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.gates import repository
from nanobench.model.lock import TaskLock
from nanobench.project.files import Project
from nanobench.store.store import Store

TASK = "small-7"
SPEC = """
schema = 1
id = "small-7"
kind = "merged-pr"
environment = "python-bookworm"
harness = "nanocoder-1.30.0"

[source]
type = "git"
url = "{url}"
pull_request = 7

[statement]
origin = "curator"

[curation]
repo = "small/small"
repo_url = "{url}"
languages = ["python"]
domain = "arithmetic"
complexity_tier = 1
task_type = "bug-fix"
reasoning_category = "edge-cases"
contributor = "NanoBench"

[[suite]]
name = "py"
language = "python"
format = "pytest"
command = ["python", "-P", "-m", "pytest", "tests"]
seconds = 60
"""
PYPROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "small"
version = "1.0"
[tool.setuptools]
packages = ["small"]
"""
FOREIGN = "3" * 40
BASE = {
    "pyproject.toml": PYPROJECT,
    "small/__init__.py": "def square(n):\n    return n + n\n",
    "tests/test_small.py": "import small\n\n\ndef test_two():\n    assert small.square(2) == 4\n",
    "deps^": FOREIGN,
}
MERGE = {
    **BASE,
    "small/__init__.py": "def square(n):\n    return n * n\n",
    "tests/test_small.py": BASE["tests/test_small.py"] + "\n\ndef test_three():\n    assert small.square(3) == 9\n",
}


@pytest.fixture
def change(forge: Any) -> dict[str, str]:
    """Pull request 7, squashed onto a main line that had moved on and went on; neither side of it is a tip."""
    start = forge.commit(BASE, message="start")
    head = forge.commit(MERGE, start, message="work")
    base = forge.commit({**BASE, "NEWS": "n\n"}, start, message="meanwhile", at=60)
    merge = forge.commit({**MERGE, "NEWS": "n\n"}, base, message="Square (#7)", at=3600)
    forge.ref("refs/pull/7/head", head)
    forge.ref("refs/heads/main", forge.commit(MERGE, merge, message="later", at=7200))
    return {"base": base, "merge": merge}


@pytest.mark.network
def test_a_pull_request_is_locked_from_a_server_that_gives_no_commit_by_name_until_its_history_is_rewritten(
    forge: Any,
    change: dict[str, str],
    serve: Any,
    copied: Project,
    nanobench: Callable[..., Any],
    warm_store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repository, "_needed", lambda _: 1)  # so small a repository would not be worth a task
    url = serve(forge.root, by_name=False)
    place = copied.root / "tasks" / TASK
    place.mkdir()
    (place / "statement.md").write_text("`square` of three is six. It should be nine.\n")
    (place / "task.toml").write_text(SPEC.format(url=url))
    lock = ("lock", TASK, "--project", copied.root, "--json")

    refused = nanobench(*lock)
    assert (refused.code, refused.document["error"]["code"]) == (3, "NB_GIT_ABSENT")
    assert refused.document["error"]["details"] == [f"deps: submodule at {FOREIGN}"]

    (place / "task.toml").write_text(SPEC.format(url=url).replace("= 7", '= 7\nabsent_paths = ["deps"]'))
    done = nanobench(*lock)
    assert done.code == 0, done.err
    assert done.document[TASK]["written"] == [f"locks/{TASK}.lock.toml"]
    made = copied.lock(TaskLock, TASK).value
    assert made.tests.fail_to_pass == ("py|tests/test_small.py::test_three",)
    assert made.tests.pass_to_pass == ("py|tests/test_small.py::test_two",)
    upstream = made.source.upstream
    assert upstream is not None
    assert (upstream.base.commit, upstream.merge.commit) == (change["base"], change["merge"])
    assert (upstream.identity, upstream.merged_at) == ("squash", "2026-06-09T11:13:20Z")
    assert upstream.absent == ("base: deps", "merge: deps")

    again = nanobench(*lock, "--offline")
    assert (again.code, again.document[TASK]["written"]) == (0, []), again.err

    out = ("--out", tmp_path / "run", "--project", copied.root, "--json")
    (result,) = nanobench("run", "--frozen", TASK, "--provider", "oracle", *out).document["results"]
    assert result["score"]["value"] == "1.0"

    # Upstream rewrites its history. What is in the store still counts; elsewhere it cannot be told.
    forge.ref("refs/heads/main", forge.commit({"a": ""}, message="another start"))
    (forge.root / "refs/pull/7/head").unlink()
    assert nanobench(*lock).document[TASK]["written"] == []
    Store(warm_store).blob(upstream.merge.archive).unlink()
    gone = nanobench("gates", TASK, "--project", copied.root, "--json")
    assert (gone.code, gone.document["error"]["code"]) == (3, "NB_GIT_OBJECT")
    assert gone.document["error"]["details"][:2] == [f"missing: {commit}" for commit in sorted(change.values())]
    assert "may have been rewritten" in gone.document["error"]["hint"]
