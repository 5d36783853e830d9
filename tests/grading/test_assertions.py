from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.grading.assertions import Claim, assert_all
from nanobench.grading.suites import Grader, Grading
from nanobench.model.environment import Limits
from nanobench.model.fixture import (
    AnswerAssertion,
    Assertion,
    ExitAssertion,
    FileAssertion,
    UnchangedAssertion,
)

Check = Callable[..., Grading]


@pytest.fixture
def check(engine: Any, layer: Path, scratch: Path, grow: Callable[..., Path]) -> Check:
    """Check assertions about a tree of these files, after ``spoil`` has had its way with it."""

    def run(
        *assertions: Assertion,
        files: dict[str, str] | None = None,
        spoil: Callable[[Path], None] = lambda _: None,
        patch: bytes = b"",
        said: str | None = None,
        answer: str | None = None,
        test_seconds: int = 60,
    ) -> Grading:
        workspace = grow(files or {})
        spoil(workspace)
        engine.own(workspace)
        limits = Limits(memory_mib=512, disk_mib=64, test_seconds=test_seconds)
        grader = Grader(engine=engine, layers=(layer,), limits=limits, env={}, scratch=scratch)
        return assert_all(assertions, Claim(patch=patch, said=said, answer=answer), grader, workspace)

    return run


def file(pattern: str, path: str = "out.txt") -> FileAssertion:
    return FileAssertion(type="file", name="f", path=path, pattern=pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "outcome"),
    [
        ("^Hello, world!$", "Hello, world!\n", "passed"),
        ("^Hello, world!$", "first\nHello, world!", "passed"),
        ("^Hello, world!$", "Hello, world! \n", "failed"),
        ("-x|timeout *= *[0-9]+", "timeout  =30\n", "passed"),
        ("^b$", "\0", "failed"),
        ("(", "(\n", "failed"),
    ],
)
def test_a_file_holds_a_line_of_the_pattern_or_not(check: Check, pattern: str, text: str, outcome: str) -> None:
    found = check(file(pattern), files={"out.txt": text})
    assert found.outcomes == {"f|file": outcome}
    (end,) = found.record.suite
    assert (end.name, end.ended, end.complete) == ("f", "exited", True)


def test_a_file_that_is_not_there_has_no_line(check: Check) -> None:
    found = check(file("."))
    assert found.outcomes == {"f|file": "failed"}
    assert b"No such file" in found.output


def endless(workspace: Path) -> None:
    (workspace / "out.txt").symlink_to("/dev/zero")


def pipe(workspace: Path) -> None:
    os.mkfifo(workspace / "out.txt")


def folder(workspace: Path) -> None:
    (workspace / "out.txt").mkdir()


def loop(workspace: Path) -> None:
    (workspace / "out.txt").symlink_to("out.txt")


def outside(workspace: Path) -> None:
    (workspace / "out.txt").symlink_to(Path(__file__).with_name("conftest.py"))


def words_of_grep(workspace: Path) -> None:
    (workspace / "out.txt").symlink_to("/proc/self/cmdline")


def linked_folder(workspace: Path) -> None:
    (workspace / "real").mkdir()
    (workspace / "real/out.txt").write_text("fixture\n")
    (workspace / "out").symlink_to("real")


@pytest.mark.parametrize("spoil", [endless, pipe, folder, loop, outside, words_of_grep])
def test_what_an_agent_puts_in_a_files_place_costs_no_more_than_the_time_and_passes_nothing(
    check: Check, spoil: Callable[[Path], None]
) -> None:
    assert check(file("fixture|^$"), spoil=spoil, test_seconds=2).outcomes == {"f|file": "failed"}


def test_a_file_below_a_link_is_not_the_asserted_one(check: Check) -> None:
    assert check(file("fixture", "out/out.txt"), spoil=linked_folder).outcomes == {"f|file": "failed"}
    assert check(file("fixture", "real/out.txt"), spoil=linked_folder).outcomes == {"f|file": "passed"}


def test_a_pattern_that_explodes_elsewhere_ends_at_once_on_hostile_text(check: Check) -> None:
    found = check(file("^(a+)+b$"), files={"out.txt": "a" * 200_000 + "\n"})
    assert found.outcomes == {"f|file": "failed"}
    assert found.record.suite[0].ended == "exited"


@pytest.mark.parametrize(
    ("script", "code", "outcome"),
    [("exit 3", 3, "passed"), ("exit 3", 0, "failed"), ("true", 0, "passed"), ("kill -9 $$", 137, "passed")],
)
def test_a_command_ends_with_the_code_or_not(check: Check, script: str, code: int, outcome: str) -> None:
    asserted = ExitAssertion(type="exit", name="e", command=("/bin/sh", "-c", script), code=code)
    found = check(asserted)
    assert found.outcomes == {"e|exit": outcome}
    assert found.record.suite[0].complete


def test_a_command_that_does_not_end_has_not_ended_with_any_code(check: Check) -> None:
    asserted = ExitAssertion(type="exit", name="e", command=("sleep", "60"), code=137, seconds=1)
    found = check(asserted)
    assert found.outcomes == {"e|exit": "failed"}
    assert (found.record.suite[0].ended, found.record.suite[0].complete) == ("time", False)


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("ANSWER: src/a.ts", "passed"),
        ("Let me look.It is there.**ANSWER:** `src/a.ts`.\nThat is all.", "passed"),
        ("ANSWER: src/b.ts\nNo:\nANSWER: src/a.ts", "passed"),
        ("ANSWER: src/a.ts\nOr rather\nANSWER: src/b.ts", "failed"),
        ("ANSWER: src/a.ts src/b.ts", "failed"),
        ("src/a.ts", "failed"),
        ("ANSWER:", "failed"),
        ("answer: src/a.ts", "failed"),
        ("", "failed"),
        (None, "failed"),
    ],
)
def test_an_answer_is_what_stands_behind_the_last_mark(check: Check, said: str | None, outcome: str) -> None:
    found = check(AnswerAssertion(type="answer", name="where"), said=said, answer="src/a.ts")
    assert found.outcomes == {"where|answer": outcome}
    assert found.record.suite == ()


def test_a_tree_is_unchanged_when_nothing_of_it_was_patched(check: Check) -> None:
    asserted = UnchangedAssertion(type="unchanged", name="tree")
    assert check(asserted).outcomes == {"tree|unchanged": "passed"}
    assert check(asserted, patch=b"diff --git a/x b/x\n").outcomes == {"tree|unchanged": "failed"}


def test_every_assertion_has_its_outcome_and_what_was_printed_is_kept(check: Check) -> None:
    talk = ExitAssertion(type="exit", name="talk", command=("echo", "hello"))
    found = check(talk, file("x"), AnswerAssertion(type="answer", name="a"), files={"out.txt": "x"})
    assert found.outcomes == {"talk|exit": "passed", "f|file": "passed", "a|answer": "failed"}
    assert found.output == b"hello\n"
