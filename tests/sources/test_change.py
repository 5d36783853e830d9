from __future__ import annotations

import pytest

from nanobench.errors import Refused
from nanobench.model.task import PathRules
from nanobench.sources.change import split
from nanobench.sources.patch import affected_paths


def section(path: str) -> bytes:
    return (
        f"diff --git a/{path} b/{path}\nindex {'1' * 40}..{'2' * 40} 100644\n--- a/{path}\n+++ b/{path}\n"
        "@@ -1 +1 @@\n-a\n+b\n"
    ).encode()


SOLUTION = section("CHANGELOG.md") + section("pkg/a.py") + section("pyproject.toml") + section("tests/test_a.py")


def test_a_solution_is_split_into_golden_and_test_patch() -> None:
    change = split(SOLUTION, PathRules(), where="task.toml")
    assert change.golden == section("CHANGELOG.md") + section("pkg/a.py") + section("pyproject.toml")
    assert change.test == section("tests/test_a.py")
    assert (change.source_files, change.test_files) == (("pkg/a.py",), ("tests/test_a.py",))


def test_the_tasks_rules_move_a_file() -> None:
    change = split(SOLUTION, PathRules(test=("CHANGELOG.md",), source=("*.toml",)), where="task.toml")
    assert affected_paths(change.test) == ("CHANGELOG.md", "tests/test_a.py")
    assert change.source_files == ("pkg/a.py", "pyproject.toml")


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        (section("pkg/a.py"), "NB_NO_TESTS"),
        (section("README.md") + section("tests/test_a.py"), "NB_NO_SOURCE"),
        (b"", "NB_NO_TESTS"),
    ],
)
def test_a_solution_without_tests_or_source_is_refused(patch: bytes, code: str) -> None:
    with pytest.raises(Refused, match=rf"{code}: task\.toml: ") as refusal:
        split(patch, PathRules(), where="task.toml")
    assert "[paths]" in refusal.value.hint
    assert len(refusal.value.details) == len(affected_paths(patch))
