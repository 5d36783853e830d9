"""What a task file must not say: the rules that hold between its keys."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import Refused
from nanobench.formats.converter import structure
from nanobench.model.task import Task

TASKS = Path(__file__).parents[2] / "tasks"
ANSWER = {"type": "answer", "name": "a"}


def document(name: str) -> dict[str, Any]:
    return tomllib.loads((TASKS / name / "task.toml").read_text())


@pytest.mark.parametrize(
    ("name", "changes", "problem"),
    [
        ("unidiff-1.0.1", {"kind": "fixture"}, 'kind = "fixture" and source.type = "vendored" go together'),
        ("fixture-question", {"kind": "release-pair"}, 'kind = "fixture" and source.type = "vendored" go together'),
        ("unidiff-1.0.1", {"suite": []}, "at least one [[suite]] is needed"),
        ("fixture-question", {"assertion": []}, "a fixture may have an [[assertion]] instead"),
        ("unidiff-1.0.1", {"assertion": [ANSWER]}, "only a fixture has them"),
        ("fixture-single-edit", {"assertion": [{**ANSWER, "name": "python"}]}, "have the same name"),
        ("fixture-question", {"assertion": [{**ANSWER, "path": "x"}]}, "assertion[0].path: unknown key"),
        ("fixture-question", {"assertion": [{"type": "guess", "name": "a"}]}, "assertion[0].type: expected one of"),
        ("unidiff-1.0.1", {"curation.repo": None}, "repo and repo_url are needed"),
    ],
)
def test_what_does_not_go_together_is_refused(name: str, changes: dict[str, Any], problem: str) -> None:
    found = document(name)
    structure(found, Task, where="task.toml")
    for path, value in changes.items():
        *above, key = path.split(".")
        table = found[above[0]] if above else found
        table.pop(key, None)
        if value is not None:
            table[key] = value
    with pytest.raises(Refused) as refused:
        structure(found, Task, where="task.toml")
    assert any(problem in detail for detail in refused.value.details), refused.value.details
