"""Doubles for the two states' outcomes; base, patches and statement are written here, and read as any are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.gates.fairness import FairnessGate
from nanobench.gates.interface import Case
from nanobench.grading.suites import Grading
from nanobench.grading.trial import Trial
from nanobench.model.result import GradingRecord, Outcome

BASE = {"src/shop.py": "def total(items):\n    return sum(items)\n"}
GOLDEN = ["def total(items, discount_rate=0):", "    return apply_discount(items, discount_rate)"]
SEEN = [f"tests/test_old.py::test_{n}" for n in range(6)]


def patch(path: str, lines: list[str]) -> bytes:
    """A new file, as git writes it."""
    body = "".join(f"+{line}\n" for line in lines)
    count = f"1,{len(lines)}" if len(lines) > 1 else "1"
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex {'0' * 40}..{'1' * 40}\n"
    return f"{head}--- /dev/null\n+++ b/{path}\n@@ -0,0 +{count} @@\n{body}".encode()


def state(trial: Trial, *passed: str, failed: tuple[str, ...] = ()) -> Trial:
    outcomes = {f"python|{test}": Outcome.PASSED for test in passed}
    outcomes |= {f"python|{test}": Outcome.FAILED for test in failed}
    record = GradingRecord(schema=1, suite=(), outcomes=outcomes)
    return evolve(trial, grading=Grading(record=record, failures={}, output=b""))


@pytest.fixture
def toy(case: Case, tmp_path: Path) -> Any:
    for name, text in BASE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def make(test: list[str], *, statement: str = "Add a discount.", **changes: Any) -> tuple[str, ...]:
        change = evolve(case.change, golden=patch("src/shop.py", GOLDEN), test=patch("tests/test_new.py", test))
        new = "tests/test_new.py::test_it"
        made = evolve(
            case,
            task=evolve(case.task, required_files=("src/shop.py",), suite=changes.pop("suite", case.task.suite)),
            arena=evolve(case.arena, workspace=tmp_path),
            change=change,
            statement=statement.encode(),
            base=changes.pop("base", state(case.base, *SEEN, failed=(new,))),
            golden=changes.pop("golden", state(case.golden, *SEEN, new)),
        )
        assert not changes
        finding = FairnessGate().check(made)
        assert finding.verdict == "pass"
        return finding.warnings

    return make


def test_a_task_that_demands_what_was_told_has_no_warning(toy: Any) -> None:
    assert toy(["assert total([1]) == 1"]) == ()


def test_names_that_only_the_solution_has_are_shown_where_the_tests_use_them(toy: Any) -> None:
    assert toy(["from shop import apply_discount", "", "assert total([1], discount_rate=2)"]) == (
        "tests/test_new.py:1: apply_discount is imported by the tests, so their whole file asks for it; "
        "it is neither in the base nor in the statement",
        "tests/test_new.py:3: discount_rate is used by the tests; it is neither in the base nor in the statement",
    )


def test_telling_the_name_helps_and_is_itself_shown(toy: Any) -> None:
    said = "Add a discount.\n\n`total` takes `discount_rate`, see src/shop.py.\n"
    assert toy(["total([1], discount_rate=2)"], statement=said) == (
        "tasks/unidiff-1.0.1/statement.md:3: names the required file src/shop.py",
        "tasks/unidiff-1.0.1/statement.md:3: names discount_rate, which only the golden patch introduces",
    )


def test_a_file_of_which_nothing_passed_and_a_thin_other_side_are_shown(toy: Any, case: Case) -> None:
    new = ("tests/test_new.py::test_a", "tests/test_new.py::test_b")
    warnings = toy(["x"], base=state(case.base, SEEN[0]), golden=state(case.golden, SEEN[0], *new))
    assert warnings == (
        "python|tests/test_new.py: all of its 2 tests are targets: perhaps it cannot even be loaded at base",
        "only 1 tests must stay green: hardly anything shows what a patch breaks",
    )


def test_a_suite_without_a_target_is_shown(toy: Any, case: Case) -> None:
    (suite,) = case.task.suite
    other = evolve(suite, name="web", language="typescript")
    assert toy(["x"], suite=(suite, other)) == ("suite web (typescript) has no target test",)


def test_the_demo_tasks_warnings_are_bounded_and_name_places(case: Case) -> None:
    finding = FairnessGate().check(case)
    assert finding.verdict == "pass"
    assert len(finding.warnings) < 70
    assert finding.evidence == FairnessGate().check(case).evidence
