from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.grading import outcomes
from nanobench.grading.outcomes import SEVERITY, Report, parse_report, read_report
from nanobench.model.result import Failure, Outcome


def lines(*documents: object) -> bytes:
    return b"".join(json.dumps(d).encode() + b"\n" for d in documents)


def sealed(*documents: object) -> bytes:
    """The lines as a reporter seals them that was given :data:`KEY`."""
    key, found = KEY, b""
    for line in lines(*documents).splitlines(keepends=True):
        found += sha256(key + line[:-1]).hexdigest().encode() + b" " + line
        key = sha256(key).hexdigest().encode()
    return found


KEY = b"0" * 64
A = {"id": "t::a", "outcome": "passed"}
END = {"end": 0}

records = st.fixed_dictionaries(
    {"id": st.text(min_size=1, max_size=4), "outcome": st.sampled_from([o.value for o in SEVERITY])}
)


@given(st.lists(records))
def test_a_test_has_its_worst_outcome_in_whatever_order(found: list[dict[str, str]]) -> None:
    report = parse_report(lines(*found, END))
    assert report == parse_report(lines(*reversed(found), END))
    for test, outcome in report.outcomes.items():
        assert outcome == max((Outcome(r["outcome"]) for r in found if r["id"] == test), key=SEVERITY.index)
    assert report.outcomes.keys() == {r["id"] for r in found} and report.end == 0


def test_every_outcome_but_absent_can_be_reported() -> None:
    assert set(SEVERITY) == set(Outcome) - {Outcome.ABSENT}
    assert "no outcome" in (parse_report(lines({"id": "a", "outcome": "absent"})).damage or "")


def test_a_cut_last_line_is_a_crash_and_what_came_before_counts() -> None:
    report = parse_report(lines(A) + b'{"id": "t::b", "outc')
    assert report == Report(outcomes={"t::a": Outcome.PASSED})


def test_an_empty_report_and_a_missing_one_say_nothing(tmp_path: Path) -> None:
    assert parse_report(b"") == read_report(tmp_path / "none", KEY) == Report()


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"id": "a"}, "keys and types"),
        ({"id": "a", "outcome": "passed", "extra": ""}, "keys and types"),
        ({"id": "a", "outcome": "passed", "type": "x"}, "keys and types"),
        ({"id": 1, "outcome": "passed"}, "keys and types"),
        ({"id": "", "outcome": "passed"}, "empty or overlong id"),
        ({"id": "a" * 20_000, "outcome": "passed"}, "empty or overlong id"),
        ({"id": "a" * 70_000, "outcome": "passed"}, "over 65536 bytes"),
        ({"id": "a", "outcome": "great"}, "'great' is no outcome"),
        ({"id": "\udcff", "outcome": "passed"}, "no document of ours"),
        ({"end": True}, "no exit status"),
        ({"end": 256}, "no exit status"),
        ([], "no document of ours"),
        ({"id": [[]], "outcome": "passed"}, "keys and types"),
    ],
)
def test_a_line_against_the_rules_makes_the_whole_report_worthless(document: object, reason: str) -> None:
    report = parse_report(lines(A, document))
    assert (report.outcomes, report.failures, report.end) == ({}, {}, None)
    assert report.damage and report.damage.startswith("line 2 of the report: ") and reason in report.damage


@pytest.mark.parametrize("line", [b"", b"x", b'{"end": 1.0}', b'{"id":"a","id":"b"}', b"[" * 5000, b"\xff"])
def test_a_line_that_is_no_strict_json_is_named(line: bytes) -> None:
    assert (parse_report(lines(A) + line + b"\n").damage or "").startswith("line 2 of the report: ")


def test_nothing_may_follow_the_end() -> None:
    assert "after the end" in (parse_report(lines(A, END, A)).damage or "")


def test_a_report_over_the_bounds_is_not_believed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(outcomes, "MAX_TESTS", 1)
    assert "too many tests" in (parse_report(lines(A, {**A, "id": "b"})).damage or "")
    monkeypatch.setattr(outcomes, "MAX_REPORT", 10)
    (tmp_path / "r").write_bytes(b"x" * 1000)
    assert "at most 10 bytes" in (read_report(tmp_path / "r", KEY).damage or "")


def test_the_bounds_are_those_of_a_large_suite() -> None:
    assert (outcomes.MAX_TESTS, outcomes.MAX_REPORT, outcomes.MAX_LINE) == (1_000_000, 64 << 20, 64 << 10)


def test_a_report_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(sealed(A, END))
    assert read_report(tmp_path / "other", KEY).outcomes
    (tmp_path / "r").symlink_to("other")
    report = read_report(tmp_path / "r", KEY)
    assert (report.outcomes, report.end) == ({}, None)
    assert report.damage and report.damage.startswith("the report cannot be read: ")


def test_a_report_that_is_a_pipe_or_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path):
        assert read_report(place, KEY).damage


def test_the_first_failure_of_a_test_is_kept() -> None:
    first = {"id": "a", "outcome": "failed", "type": "builtins.ValueError", "message": "1"}
    report = parse_report(lines(first, {**first, "outcome": "error", "message": "2"}))
    assert report.failures == {"a": Failure(type="builtins.ValueError", message="1")}
    assert report.outcomes == {"a": Outcome.ERROR}


@given(st.binary(max_size=200))
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    parse_report(data)
