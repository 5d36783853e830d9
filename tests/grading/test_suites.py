from __future__ import annotations

from collections.abc import Callable
from typing import get_args, get_type_hints

import pytest
from attrs import evolve

from nanobench.errors import MachineFailure
from nanobench.grading.suites import FORMATS, Grading
from nanobench.model.result import Outcome
from nanobench.model.task import Suite
from nanobench.sandbox.interface import Ended, Finished, Request
from tests.grading.conftest import WithHost

Grade = Callable[..., Grading]


def test_a_suite_over_its_time_keeps_what_it_reported(grade: Grade) -> None:
    tests = "import time\ndef test_a(): pass\ndef test_b(): time.sleep(600)\n"
    grading = grade({"test_x.py": tests}, seconds=4)
    assert grading.outcomes == {"py|test_x.py::test_a": Outcome.PASSED}
    assert (grading.record.suite[0].ended, grading.record.suite[0].complete) == ("time", False)


class Busy(WithHost):
    """An engine of a busy machine: whose time is up did not have the CPUs."""

    def run(self, request: Request) -> Finished:
        finished = super().run(request)
        return evolve(finished, starved="others had 92 %") if finished.ended is Ended.TIME else finished


def test_a_suite_whose_time_was_up_on_a_busy_machine_says_so_beside_its_record(grade: Grade) -> None:
    tests = {"test_x.py": "import time\ndef test_a(): time.sleep(600)\n"}
    grading = grade(tests, engine=Busy(), seconds=4)
    assert grading.starved == ("py: others had 92 %",)
    assert grading.record == grade(tests, seconds=4).record
    assert grade({"test_x.py": "def test_a(): assert False\n"}, engine=Busy()).starved == ()


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
