from __future__ import annotations

import pytest

from nanobench.audit.steps import exit_code, sorted_out, step
from nanobench.errors import CannotTell, MachineFailure, Refused


@pytest.mark.parametrize(
    ("problems", "questions", "verdict"),
    [([], [], "pass"), (["p"], [], "fail"), ([], ["q"], "unknown"), (["p"], ["q"], "fail")],
)
def test_a_problem_weighs_more_than_a_question_and_both_are_told(
    problems: list[str], questions: list[str], verdict: str
) -> None:
    found = step("x", problems, questions)
    assert (found.verdict, found.reasons) == (verdict, (*problems, *questions))


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ([], 0),
        ([step("a", [])], 0),
        ([step("a", []), step("b", [], ["q"])], 3),
        ([step("a", [], ["q"]), step("b", ["p"])], 1),
    ],
)
def test_exit_1_is_a_definite_no_and_3_no_telling(steps: list[object], code: int) -> None:
    assert exit_code(steps) == code  # type: ignore[arg-type]


def test_a_missing_input_and_a_broken_machine_are_questions_a_refusal_is_a_problem() -> None:
    problems, questions = sorted_out(
        (Refused("A", "no", details=("x", "y"), hint="z"), CannotTell("B", "missing"), MachineFailure("C", "full"))
    )
    assert problems == ("A: no", "A: x", "A: y", "A: → z")
    assert [q[:1] for q in questions] == ["B", "C"]
