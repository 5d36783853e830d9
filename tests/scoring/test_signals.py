from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from nanobench.harness.report import Report, ToolCall
from nanobench.model.label import Function, Landmarks, Signal
from nanobench.model.lock import TaskLock
from nanobench.model.result import Cause
from nanobench.model.task import PathRules
from nanobench.scoring.signals import Traces, signals_of
from nanobench.sources.patch import sections


def patch(path: str, line: int = 2) -> bytes:
    """One that changes a line of a file."""
    zero, one = b"0" * 40, b"1" * 40
    name = path.encode()
    head = b"diff --git a/%s b/%s\nindex %s..%s 100644\n--- a/%s\n+++ b/%s\n" % (name, name, zero, one, name, name)
    return head + b"@@ -%d +%d @@\n-old\n+new\n" % (line, line)


REQUIRED, TEST, OTHER = patch("src/a.py"), patch("tests/test_a.py"), patch("README.md")


def report(said: str = "", calls: tuple[ToolCall, ...] = (), changed: tuple[str, ...] = ()) -> Report:
    return Report(kind="success", exitCode=0, finalText=said, reasoning=None, toolCalls=calls, filesChanged=changed)


def shell(result: str | None, error: str | None = None) -> ToolCall:
    return ToolCall(name="execute_bash", arguments={"command": "x"}, result=result, error=error)


READ = ToolCall(name="read_file", arguments={"path": "src/a.py"}, result="EXIT_CODE: 1\n", error=None)


@pytest.fixture
def traces(task_lock: TaskLock) -> Traces:
    """Of a run that changed a required file and its test, and ended."""
    functions = (
        Function(first=1, last=3, changed=True),
        Function(first=5, last=9, changed=False),
    )
    return Traces(
        cause=Cause.FINISHED,
        parts=sections(REQUIRED + TEST),
        report=None,
        source=task_lock.source,
        rules=PathRules(),
        landmarks=Landmarks(schema=1, names=(), introduced=(), reshaped=(), functions={"src/a.py": functions}),
    )


def test_a_run_of_which_nothing_is_to_be_told(traces: Traces) -> None:
    assert signals_of(traces) == ()


def parts(*patches: bytes) -> dict[str, Any]:
    return {"parts": sections(b"".join(patches))}


DIFFER: Signal = "reported_files_differ"
FAILED: Signal = "environment_agency_failure"
TOLD: Signal = "narrated_without_edit"


@pytest.mark.parametrize(
    ("changes", "signals"),
    [
        # The solution has tests, and the agent that changed its files wrote none.
        (parts(REQUIRED), ["test_not_updated"]),
        (parts(OTHER), []),
        (parts(OTHER, TEST), []),
        ({**parts(REQUIRED), "rules": PathRules(test=("src/a.py",))}, []),
        # Line 2 is in a function that the solution changes, line 6 in another, line 20 in none.
        (parts(patch("src/a.py", 6), TEST), ["correct_file_wrong_function"]),
        (parts(patch("src/a.py", 20), TEST), []),
        (parts(patch("src/b.py", 6), TEST), []),
        # A command that failed, and was the last.
        ({"report": report(calls=(shell("EXIT_CODE: 1\nE\n"),), changed=("src/a.py", "tests/test_a.py"))}, [FAILED]),
        ({"report": report(calls=(shell("EXIT_CODE: 1\n"), shell("EXIT_CODE: 0\nok\n")))}, [DIFFER]),
        ({"report": report(calls=(shell("EXIT_CODE: 0\n"), shell("Error: Command timed out after 120000ms")))},
         [FAILED, DIFFER]),
        ({"report": report(calls=(shell("EXIT_CODE: 10\n"), READ))}, [FAILED, DIFFER]),
        ({"report": report(calls=(shell(None, "refused"), READ))}, [DIFFER]),
        # Words about a change, and no change.
        ({**parts(), "report": report("Do this:\n```python\nx = 1\n```\n")}, [TOLD]),
        ({**parts(), "report": report("I have mended src/a.py.")}, [TOLD]),
        ({**parts(), "report": report("There is nothing to do.")}, []),
        ({**parts(), "report": report("```"), "cause": Cause.TURN_CAP}, []),
        ({**parts(OTHER), "report": report("```", changed=("README.md",))}, []),
        # What the report lists is the paths of calls, as the model spelled them.
        ({"report": report(changed=("/workspace/tests/../src/a.py", "./tests/test_a.py"))}, []),
        ({"report": report(changed=("src/a.py",))}, [DIFFER]),
        ({**parts(), "report": report(changed=("src/a.py",))}, [DIFFER]),
    ],
)  # fmt: skip
def test_each_signal_from_what_is_on_record(traces: Traces, changes: dict[str, Any], signals: list[Signal]) -> None:
    assert list(signals_of(evolve(traces, **changes))) == signals


def test_where_the_solution_has_no_tests_none_is_missed(traces: Traces, task_lock: TaskLock) -> None:
    # Only a fixture may have none; the model of its files is of no matter here.
    source = evolve(task_lock.source, vendored=object(), test_files=())  # type: ignore[arg-type]
    assert signals_of(evolve(traces, **parts(REQUIRED), source=source)) == ()


def test_a_question_may_be_answered_in_words(traces: Traces, task_lock: TaskLock) -> None:
    nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    source = evolve(task_lock.source, golden_patch_sha256=nothing)
    assert signals_of(evolve(traces, **parts(), report=report("It stands in src/a.py."), source=source)) == ()


def test_a_part_too_large_to_be_looked_at_says_nothing(traces: Traces) -> None:
    (part,) = sections(patch("src/a.py", 6))
    large = evolve(part, data=part.data + b" " * (4 << 20))
    assert signals_of(evolve(traces, parts=(large, *sections(TEST)))) == ()
