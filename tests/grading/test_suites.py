from __future__ import annotations

from collections.abc import Callable
from typing import get_args, get_type_hints

import pytest

from nanobench.errors import MachineFailure
from nanobench.grading.suites import FORMATS, Grading
from nanobench.model.result import Outcome
from nanobench.model.task import Suite

Grade = Callable[..., Grading]


def test_a_suite_over_its_time_keeps_what_it_reported(grade: Grade) -> None:
    tests = "import time\ndef test_a(): pass\ndef test_b(): time.sleep(600)\n"
    grading = grade({"test_x.py": tests}, seconds=4)
    assert grading.outcomes == {"py|test_x.py::test_a": Outcome.PASSED}
    assert (grading.record.suite[0].ended, grading.record.suite[0].complete) == ("time", False)


def test_a_command_that_is_not_there_has_no_outcomes(grade: Grade) -> None:
    grading = grade({}, command=("no-such-runner",))
    assert (grading.outcomes, grading.record.suite[0].exit_code) == ({}, 127)


def test_what_the_commands_print_is_kept(grade: Grade) -> None:
    grading = grade({"test_x.py": "def test_a(): pass\n"}, "-q")
    assert b"1 passed" in grading.output


def test_an_interrupted_run_is_no_outcome(grade: Grade, engine: object) -> None:
    stopped = type(engine)()
    stopped.stop()  # type: ignore[attr-defined]
    with pytest.raises(MachineFailure, match="NB_INTERRUPTED: tests:py"):
        grade({"test_x.py": "import time\ndef test_a(): time.sleep(600)\n"}, engine=stopped)


def test_every_format_of_a_task_file_has_its_reader() -> None:
    assert set(FORMATS) == set(get_args(get_type_hints(Suite)["format"]))
