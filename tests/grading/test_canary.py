"""Canaries in test files: where they go, and what becomes of them in a real pytest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.formats.documents import dump_json
from nanobench.grading.canary import KINDS, place
from nanobench.grading.suites import FORMATS, Grader, Grading
from nanobench.model.environment import Limits
from nanobench.model.result import Outcome
from nanobench.model.task import PathRules, Suite
from tests.grading.conftest import PYTHON, SITE

Watched = Callable[[dict[str, str]], Grading]

FILES = {
    "tests/test_a.py": "import pytest\ndef test_a(): pass\n@pytest.mark.skip\ndef test_b(): pass",
    "tests/unit/b_test.py": "def test_c(): assert 0",
}


def suite(format: str = "pytest") -> Suite:
    command = (PYTHON, "-P", "-m", "pytest", "-p", "no:randomly", "tests")
    return Suite(name="py", language="python", format=format, command=command)  # type: ignore[arg-type]


@pytest.fixture
def watched(engine: object, layer: Path, scratch: Path, grow: Callable[[dict[str, str]], Path]) -> Watched:
    """Grades a tree of these files with canaries in it."""

    def run(files: dict[str, str]) -> Grading:
        workspace = grow(files)
        canaries = place(workspace, suite(), PathRules())
        engine.own(workspace)  # type: ignore[attr-defined]
        env = {"PYTHONPATH": str(SITE), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        grader = Grader(engine=engine, layers=(layer,), limits=Limits(memory_mib=1024), env=env, scratch=scratch)  # type: ignore[arg-type]
        return grader.grade(workspace, suite(), canaries)

    return run


def test_every_format_has_canaries() -> None:
    assert KINDS.keys() == FORMATS.keys()


def test_the_record_is_the_same_bytes_though_the_names_are_drawn(watched: Watched) -> None:
    first, second = watched(FILES), watched(FILES)
    assert first.outcomes == {
        "py|tests/test_a.py::test_a": Outcome.PASSED,
        "py|tests/test_a.py::test_b": Outcome.SKIPPED,
        "py|tests/unit/b_test.py::test_c": Outcome.FAILED,
    }
    assert dump_json(first.record) == dump_json(second.record)
    (end,) = first.record.suite
    assert (end.exit_code, end.complete, end.vouched, end.disagreement) == (1, True, 2, None)
    assert first.failures.keys() == {"py|tests/unit/b_test.py::test_c"}
    assert b"test_canary" in first.output


def test_a_first_failure_does_not_end_the_suite(watched: Watched) -> None:
    grading = watched({**FILES, "pytest.ini": "[pytest]\naddopts = -x\n"})
    assert len(grading.outcomes) == 3 and grading.disagreements == ()


def test_they_go_into_files_that_are_tests_by_name_and_rule_and_through_no_link(tmp_path: Path) -> None:
    names = ("tests/test_a.py", "tests/helper.py", "src/test_b.py", "node_modules/x/test_c.py", "src/other_test.py")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "tests/test_link.py").symlink_to("../src/test_b.py")
    (tmp_path / "linked").symlink_to("src")
    found = place(tmp_path, suite(), PathRules(source=("src/other_test.py",)))
    assert found.files == {"tests/test_a.py", "src/test_b.py"}
    assert (tmp_path / "src/other_test.py").read_text() == (tmp_path / "tests/helper.py").read_text() == ""
    assert (tmp_path / "src/test_b.py").read_text().count(found.passing) == 1


@pytest.mark.parametrize(
    ("format", "fitting", "others"),
    [
        ("vitest", "src/a.test.ts src/b.spec.mts __tests__/c.tsx test.js", "src/a.ts test/setup.ts a.test-d.ts"),
        ("node-test", "test/a.test.js b-test.mjs c_test.cts test.js", "test/helper.js __tests__/c.js contest.js"),
        ("pytest", "a/test_b.py b_test.py", "tests.py contest.py test_a.pyi"),
    ],
)
def test_which_names_are_test_files(format: str, fitting: str, others: str) -> None:
    files = KINDS[format].files
    assert all(map(files.fullmatch, fitting.split())) and not any(map(files.fullmatch, others.split()))
