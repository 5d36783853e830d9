from __future__ import annotations

import pytest

from benchmarks.__main__ import table
from benchmarks.measure import Row, in_turns, machine


def test_works_take_turns_and_the_first_round_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, done = [0.0], []
    costs = {"a": iter([100.0, 1.0, 5.0, 2.0]), "b": iter([100.0, 10.0, 30.0, 20.0])}
    monkeypatch.setattr("benchmarks.measure.perf_counter", lambda: clock[0])

    def work(name: str) -> None:
        done.append(name)
        clock[0] += next(costs[name])

    assert in_turns(3, lambda: work("a"), lambda: work("b")) == [2.0, 20.0]
    assert "".join(done) == "abababab"


def test_an_aim_is_of_the_figure_or_of_the_ratio() -> None:
    row = Row(name="x", unit="s", value=3.0, against=2.0, aim=2.0)
    assert row.ratio == 1.5 and row.met is False
    assert Row(name="x", unit="s", value=3.0, against=2.0, aim=2.0, aim_of="ratio").met is True
    assert Row(name="x", unit="s", value=3.0, aim=3.0).met is True


def test_without_an_aim_or_a_yardstick_nothing_is_said_of_it() -> None:
    assert Row(name="x", unit="s", value=3.0).met is None
    assert Row(name="x", unit="files", value=0, against=0, aim=1, aim_of="ratio").met is None


def test_the_table_tells_machine_figure_yardstick_ratio_and_aim() -> None:
    rows = [
        Row(name="cell", unit="s", value=0.25, yardstick="bare", against=0.05, aim=0.5),
        Row(name="peak", unit="MiB", value=301.04, aim=300),
        Row(name="files", unit="files", value=2),
    ]
    lines = table({"cpus": 2}, rows).splitlines()
    assert lines[0] == "cpus 2"
    assert lines[2].split() == ["what", "figure", "yardstick", "ratio", "aim"]
    assert lines[4].split("  ")[0] == "cell"
    assert "0.050 s (bare)" in lines[4] and "5.00" in lines[4] and lines[4].endswith("at most 0.500 s: met")
    assert "301.0 MiB" in lines[5] and lines[5].endswith("at most 300.0 MiB: MISSED")
    assert lines[6].split() == ["files", "2", "files"]


def test_the_machine_is_described() -> None:
    assert {"cpus", "load", "memory_mib", "kernel", "python", "user"} == set(machine())
