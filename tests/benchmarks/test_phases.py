from __future__ import annotations

import pytest

from benchmarks.phases import SANDBOXES, TEARDOWN, Span, cell_rows, split
from nanobench.image.workbench import Workbench
from nanobench.runner.stage import Stage


def span(phase: str, begun: float, ended: float, inside: float) -> Span:
    return Span(phase=phase, begun=begun, ended=ended, inside=inside, peak_mib=1)


def test_the_parts_of_a_cell_add_up_to_the_whole() -> None:
    spans = [
        span("git:other", 11, 13, 1),
        span("agent", 14, 25, 10),
        span("git:difference", 26, 28, 1),
        span("git:final", 30, 33, 2),
        span("tests:one", 33, 37, 4),
        span("tests:two", 37, 42, 4),
    ]
    parts = split(10, spans, 45)
    assert parts == {
        "staging": 3,
        "agent": 10,
        "patch": 2,
        "second workspace": 4,
        "tests": 8,
        SANDBOXES: 5,
        TEARDOWN: 3,
    }
    assert sum(parts.values()) == 35


def test_every_sandbox_of_a_real_cell_is_of_a_part(bench: Workbench, stage: Stage) -> None:
    whole, *rows = cell_rows(bench, stage)
    *parts, agent, tests = rows
    assert len(parts) == 7
    assert sum(row.value for row in parts) == pytest.approx(whole.value)
    assert {row.against for row in parts} == {whole.value}
    assert {row.unit for row in (agent, tests)} == {"MiB"}
    assert 0 < tests.value < agent.value
