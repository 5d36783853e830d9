"""Scripted behaviours through the real Nanocoder: what each comes to, on tasks in Python and in TypeScript.

Three more are in test_run_matrix.py. Refused keys, servers that fail and rate limits are in test_run_providers.py,
broken wires in tests/runner/test_ends.py, budgets in test_run_budgets.py.
"""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen

from nanobench.gateway.scripted.behaviours import BEHAVIOURS
from nanobench.project.files import Project

pytestmark = [pytest.mark.network, pytest.mark.timeout(1200)]

PYTHON = ("fixture-single-edit", "hinted")
TYPESCRIPT = ("fixture-navigation", "navigation")
BOTH = ("fixture-two-languages", "navigation")
ELSEWHERE = {"oracle", "nop", "elsewhere", "hallucinate", "refused", "failing", "rate-limit", "dropped"}
"""Played in other tests; what ends with an error of the provider is tried several times, and so takes long."""

Played = dict[tuple[str, str], Any]
"""Task and behaviour → its result."""


@frozen
class Row:
    """What a behaviour comes to in a task."""

    place: tuple[str, str]
    model: str
    score: str | None
    label: str | None
    cause: str = "finished"
    signals: frozenset[str] = frozenset()
    halt: str | None = None


ROWS = (
    Row(PYTHON, "narrate", "0.0", "zero_signal", signals=frozenset({"narrated_without_edit"})),
    Row(PYTHON, "comment", "0.0", "unclassified"),
    Row(PYTHON, "wrong-layer", "0.0", "wrong_abstraction_layer"),
    Row(PYTHON, "half", None, None, "not_run"),
    Row(PYTHON, "regression", "0.5", "partial_fix_only"),
    Row(PYTHON, "tamper", "0.0", "grader_tampered", "grader_tampered"),
    Row(PYTHON, "turn-cap", "0.0", "zero_signal", "turn_cap", halt="turn_cap"),
    Row(PYTHON, "context", "0.0", "context_window_exceeded", "context", halt="context"),
    Row(PYTHON, "context-after-edit", "0.0", "unclassified", "context", halt="context"),
    Row(TYPESCRIPT, "comment", "0.1", "unclassified", signals=frozenset({"correct_file_wrong_function"})),
    Row(TYPESCRIPT, "wrong-layer", "0.1", "wrong_abstraction_layer"),
    Row(TYPESCRIPT, "regression", "0.5", "partial_fix_only"),
    Row(TYPESCRIPT, "tamper", "0.0", "grader_tampered", "grader_tampered"),
    Row(TYPESCRIPT, "context", "0.0", "context_window_exceeded", "context", halt="context"),
    Row(TYPESCRIPT, "one-language", None, None, "not_run"),
    Row(BOTH, "half", "0.5", "partial_fix_only"),
    Row(BOTH, "one-language", "0.1", "missing_cross_language_change"),
)


@pytest.fixture(scope="module")
def played(nanobench: Any, repository: Project, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Every row, by one command a task."""
    found: Played = {}
    for place in (PYTHON, TYPESCRIPT, BOTH):
        task, mode = place
        models = [word for row in ROWS if row.place == place for word in ("--model", row.model)]
        out = tmp_path_factory.mktemp("scripted") / "bundle"
        where = ("--out", out, "--project", repository.root, "--json")
        done = nanobench("run", "--locked", task, "--provider", "scripted", "--mode", mode, *models, *where)
        assert done.code == 0, done.err
        found |= {(task, result["cell"]["model"]): result for result in done.document["results"]}
    return found


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.place[0]}-{row.model}" for row in ROWS])
def test_a_behaviour_comes_to_what_the_rules_say(row: Row, played: Played) -> None:
    result = played[row.place[0], row.model]
    score = result["score"]["value"] if "score" in result else None
    failure = result.get("failure", {})
    assert (result["cause"], score, failure.get("label")) == (row.cause, row.score, row.label), result
    assert row.signals <= set(failure.get("signals", ()))
    assert failure.get("halt") == row.halt


def test_every_behaviour_is_played() -> None:
    assert {row.model for row in ROWS} == BEHAVIOURS.keys() - ELSEWHERE


def test_a_part_that_does_not_fit_its_task_is_not_run_and_says_why(played: Played) -> None:
    (attempt,) = played[PYTHON[0], "half"]["attempts"]
    assert (attempt["cause"], attempt["detail"]) == (
        "not_run",
        "without any one hunk of its solution, all of its target tests pass or fewer than half",
    )


def test_half_is_at_least_half_and_a_regression_breaks_what_passed(played: Played) -> None:
    score = played[BOTH[0], "half"]["score"]
    assert score["targets"] <= 2 * score["targets_passed"] < 2 * score["targets"]
    for place in (PYTHON, TYPESCRIPT):
        score = played[place[0], "regression"]["score"]
        assert score["targets_passed"] == score["targets"] and score["broken"]
