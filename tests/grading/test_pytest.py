"""The reporter inside a real pytest inside a real sandbox."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from nanobench.formats.documents import dump_json, read_json
from nanobench.grading.suites import Grading
from nanobench.model.result import Failure, GradingRecord, Outcome

Grade = Callable[..., Grading]

EVERY_KIND = """
import pytest
def test_passes(): pass
def test_fails(): raise ValueError("wrong é")
def test_asserts(): assert 1 == 2
@pytest.mark.skip
def test_skipped(): pass
def test_skips_itself(): pytest.skip("no")
@pytest.mark.xfail
def test_xfails(): assert False
@pytest.mark.xfail(run=False)
def test_never_run(): pass
@pytest.mark.xfail
def test_xpasses(): pass
@pytest.mark.xfail(strict=True)
def test_strict(): pass
@pytest.fixture
def broken(): raise RuntimeError("setup")
def test_setup(broken): pass
@pytest.fixture
def leaky():
    yield
    raise RuntimeError("teardown")
def test_teardown(leaky): pass
class TestClass:
    def test_method(self): pass
"""


def by_test(grading: Grading) -> dict[str, str]:
    return {test.rpartition("::")[2]: outcome.value for test, outcome in grading.outcomes.items()}


@pytest.fixture(scope="module")
def everything(grade: Grade) -> Grading:
    return grade({"test_all.py": EVERY_KIND})


def test_every_kind_of_outcome(everything: Grading) -> None:
    grading = everything
    assert by_test(grading) == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_asserts": "failed",
        "test_skipped": "skipped",
        "test_skips_itself": "skipped",
        "test_xfails": "xfailed",
        "test_never_run": "xfailed",
        "test_xpasses": "xpassed",
        "test_strict": "failed",
        "test_setup": "error",
        "test_teardown": "error",
        "test_method": "passed",
    }
    assert "py|test_all.py::TestClass::test_method" in grading.outcomes
    (suite,) = grading.record.suite
    assert (suite.exit_code, suite.ended, suite.complete, suite.damage) == (1, "exited", True, None)


def test_a_failure_has_its_exceptions_type_and_words(everything: Grading) -> None:
    failures = everything.failures
    assert failures["py|test_all.py::test_fails"] == Failure(type="builtins.ValueError", message="wrong é")
    assert failures["py|test_all.py::test_asserts"].type == "builtins.AssertionError"
    assert failures["py|test_all.py::test_teardown"] == Failure(type="builtins.RuntimeError", message="teardown")
    assert "py|test_all.py::test_xfails" not in failures


def test_the_record_is_the_same_bytes_each_time_and_reads_back(everything: Grading, grade: Grade) -> None:
    data = dump_json(everything.record)
    assert data == dump_json(grade({"test_all.py": EVERY_KIND}).record)
    assert read_json(data, GradingRecord, where="outcomes") == everything.record


def test_workers_of_xdist_report_through_one_process(everything: Grading, grade: Grade) -> None:
    many = grade({"test_all.py": EVERY_KIND}, "-p", "xdist", "-n2")
    assert many.outcomes == everything.outcomes
    assert many.failures == everything.failures


def test_what_ran_before_a_crash_counts(grade: Grade) -> None:
    tests = "import os\ndef test_a(): pass\ndef test_b(): os._exit(0)\ndef test_c(): pass\n"
    grading = grade({"test_x.py": tests})
    assert by_test(grading) == {"test_a": "passed"}
    assert (grading.record.suite[0].exit_code, grading.record.suite[0].complete) == (0, False)


def test_a_file_that_cannot_be_collected_is_an_error(grade: Grade) -> None:
    grading = grade({"test_bad.py": "import nothing_like_this\n", "test_good.py": "def test_a(): pass\n"})
    assert grading.outcomes == {"py|test_bad.py": Outcome.ERROR}
    reason = Failure(type="builtins.ModuleNotFoundError", message="No module named 'nothing_like_this'")
    assert grading.failures == {"py|test_bad.py": reason}


@pytest.mark.parametrize("arguments", [(), ("-p", "xdist", "-n1")])
def test_a_file_that_cannot_be_collected_keeps_what_it_raised(grade: Grade, arguments: tuple[str, ...]) -> None:
    files = {"test_a.py": "x = 1 +\n", "test_b.py": "class T:\n    def test_a(self): pass\nraise ValueError('now')\n"}
    grading = grade(files, *arguments)
    assert {test: failure.type for test, failure in grading.failures.items()} == {
        "py|test_a.py": "builtins.SyntaxError",
        "py|test_b.py": "builtins.ValueError",
    }


def test_parametrised_ids_with_odd_characters_stay_apart(grade: Grade) -> None:
    tests = (
        "import pytest\n"
        "@pytest.mark.parametrize('x', ['a|b', 'a::b', 'a[b]', 'ü', ' ', '\\n', '', '\\x00', '\\udcff', '\"'])\n"
        "def test_a(x): pass\n"
    )
    grading = grade({"test_x.py": tests})
    assert len(grading.outcomes) == 10
    assert set(grading.outcomes.values()) == {Outcome.PASSED}


def test_subtests_decide_only_by_failing(grade: Grade) -> None:
    tests = (
        "import unittest\n"
        "class T(unittest.TestCase):\n"
        "    def test_fails(self):\n"
        "        for i in range(3):\n"
        "            with self.subTest(i=i): self.assertNotEqual(i, 1)\n"
        "    def test_skips(self):\n"
        "        for i in range(3):\n"
        "            with self.subTest(i=i):\n"
        "                if i == 1: self.skipTest('no')\n"
        "    def test_passes(self):\n"
        "        with self.subTest(): pass\n"
    )
    assert by_test(grade({"test_x.py": tests})) == {
        "test_fails": "failed",
        "test_skips": "passed",
        "test_passes": "passed",
    }


def test_a_pytest_inside_a_test_does_not_write_into_our_report(grade: Grade) -> None:
    tests = (
        "import subprocess, sys, pytest\n"
        "def test_outer(tmp_path):\n"
        "    (tmp_path / 'test_inner.py').write_text('def test_inner(): assert 0')\n"
        "    assert subprocess.run([sys.executable, '-m', 'pytest', tmp_path]).returncode == 1\n"
        "    assert pytest.main([str(tmp_path)]) == 1\n"
    )
    assert by_test(grade({"test_x.py": tests})) == {"test_outer": "passed"}


def test_the_projects_own_options_and_environment_stay(grade: Grade) -> None:
    files = {
        "pytest.ini": "[pytest]\naddopts = --ff --strict-config\nfilterwarnings = error\n",
        "test_x.py": "import os, here\ndef test_a(): assert os.environ['PYTEST_ADDOPTS'].startswith('--tb=no -p')\n",
        "lib/here.py": "",
    }
    env = {"PYTEST_ADDOPTS": "--tb=no", "PYTHONPATH": "/workspace/lib"}
    assert by_test(grade(files, env=env)) == {"test_a": "passed"}


def test_a_reporter_in_the_workspace_does_not_stand_in_for_ours(grade: Grade) -> None:
    evil = "def pytest_configure(config):\n    import os; open('/nanobench/out/report.jsonl', 'w').write('{}')\n"
    files = {"nanobench_reporter.py": evil, "pytest.py": "raise SystemExit", "test_x.py": "def test_a(): assert 0\n"}
    assert by_test(grade(files)) == {"test_a": "failed"}


@pytest.mark.parametrize(
    ("deed", "damage"),
    [
        ("os.unlink(p); os.mkfifo(p)", "not a regular file"),
        ("os.unlink(p); os.symlink('/etc/passwd', p)", "cannot be read"),
        ("open(p, 'ab').write(b'junk\\n')", "not our reporter's"),
    ],
)
def test_a_report_that_was_tampered_with_is_not_believed(grade: Grade, deed: str, damage: str) -> None:
    tests = f"import os\ndef test_a(): pass\ndef test_b():\n    p = '/nanobench/out/report.jsonl'\n    {deed}\n"
    grading = grade({"test_x.py": tests})
    assert grading.outcomes == {}
    assert re.search(damage, grading.record.suite[0].damage or "")


def test_a_test_that_removes_the_report_leaves_every_test_absent(grade: Grade) -> None:
    grading = grade({"test_x.py": "import os\ndef test_a(): os.unlink('/nanobench/out/report.jsonl')\n"})
    assert (grading.outcomes, grading.record.suite[0].complete) == ({}, False)
