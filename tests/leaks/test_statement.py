from __future__ import annotations

from typing import Any

from nanobench.leaks.statement import warnings


def test_a_quoted_solution_and_a_name_of_it_are_warned_of_with_their_place(toy: Any, fixed: str) -> None:
    quoted = fixed.partition("def next_field")[2].partition("class")[0]
    found = list(warnings(f"Fields break.\n\nUse `next_field`:\n\n{quoted}".encode(), toy.wanted))
    assert "statement.md:3: names next_field, which only the golden patch: src/toy/parser.py defines" in found
    assert any(line.startswith("statement.md: quotes golden patch: src/toy/parser.py:") for line in found)


def test_the_answer_of_a_question_in_its_statement_is_warned_of(question: Any) -> None:
    assert list(warnings(b"Say ANSWER: and the module, as in\nANSWER: the parser\n", question.wanted)) == [
        "statement.md: gives the answer"
    ]
    assert list(warnings(b"End with a line `ANSWER: MODULE`.\n", question.wanted)) == []


def test_a_statement_in_its_own_words_is_fine(toy: Any) -> None:
    assert list(warnings(b"A quoted field that holds a comma is torn in two.\n", toy.wanted)) == []
