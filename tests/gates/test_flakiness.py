"""Toy tasks whose tests are of one kind of unstable each, run for real; the remedy is followed, and helps."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve

from nanobench.gates.flakiness import FlakinessGate
from nanobench.gates.interface import Case

BASE = {"shop.py": "def price():\n    return 1\n"}
SOLUTION = {"shop.py": "def price():\n    return 2\n"}
TARGET = "import shop, time\n\ndef test_price():\n    time.sleep(0.01)\n    assert shop.price() == 2\n\n"
"""A span of time passes as ever, also under a moved clock."""

UNSTABLE = f"""
import datetime, os

seen = []

def test_one():
    assert not seen
    seen.append(1)

def test_two():
    assert seen == [1]

def test_cpus():
    assert len(os.sched_getaffinity(0)) > 1

def test_clock():
    assert datetime.date.today().year <= {datetime.now(UTC).year}

def test_hash():
    assert list({{'a', 'b', 'c', 'd', 'e'}}) == SEEN
"""
CONDITIONS = {
    "test_clock": "a year later",
    "test_cpus": "one CPU",
    "test_hash": "another hash seed",
    "test_two": "another order",
}


def follow(case: Case, toy_case: Any, tests: str) -> Case:
    """The toy with the lines of the remedy in its task file."""
    remedy = FlakinessGate().check(case).remedy
    lines = remedy[remedy.index("quarantine = ") :]
    assert tomllib.loads(lines)["quarantine"]
    made: Case = toy_case(BASE, SOLUTION, {"tests/test_shop.py": tests}, lines + "\n")
    return made


@pytest.fixture(scope="module")
def hashed_at_zero() -> str:
    """How a small set is ordered by the seed that every sandbox has."""
    asked = [sys.executable, "-c", "print(list({'a', 'b', 'c', 'd', 'e'}))"]
    return subprocess.run(asked, env={"PYTHONHASHSEED": "0"}, check=True, capture_output=True, text=True).stdout


def test_a_question_has_two_states_though_its_files_are_the_same(toy_case: Any) -> None:
    asked = {"tests/test_shop.py": "def test_kept():\n    assert True\n"}
    question = BASE | {"../answer.txt": "shop\n"}
    head = 'required_files = ["shop.py"]\nassertion = [{ type = "answer", name = "module" }]\n'
    case = toy_case(question, BASE, asked, head)
    assert case.targets == ("module|answer",)
    finding = FlakinessGate().check(case)
    assert (finding.verdict, finding.evidence["differing"]) == ("pass", {})


@pytest.fixture
def stable(toy_case: Any) -> Case:
    made: Case = toy_case(BASE, SOLUTION, {"tests/test_shop.py": TARGET})
    return made


def test_stable_tests_pass_and_the_evidence_says_what_was_tried(stable: Case) -> None:
    finding = FlakinessGate().check(stable)
    assert (finding.verdict, finding.reasons) == ("pass", ())
    assert finding.evidence == {
        "runs": {"base": 3, "golden": 3},
        "variations": {
            "cpus": "one",
            "hash_seed": "another",
            "order": {"py": "another"},
            "clock": "a year later",
        },
        "tests": 1,
        "quarantined": [],
        "differing": {},
    }


def test_what_depends_on_a_condition_is_named_and_quarantine_helps(toy_case: Any, hashed_at_zero: str) -> None:
    tests = TARGET + UNSTABLE.replace("SEEN", hashed_at_zero)
    case = toy_case(BASE, SOLUTION, {"tests/test_shop.py": tests})
    finding = FlakinessGate().check(case)
    assert finding.verdict == "fail"
    assert finding.reasons == tuple(
        f"py|tests/test_shop.py::{test}: passed in golden, run 1, failed in golden, {condition}"
        for test, condition in CONDITIONS.items()
    )
    assert FlakinessGate().check(follow(case, toy_case, tests)).verdict == "pass"


def test_an_image_that_takes_no_other_clock_says_so(stable: Case) -> None:
    tools = evolve(stable.tools, clock=stable.tools.vocabulary.parent)
    finding = FlakinessGate().check(evolve(stable, tools=tools))
    assert finding.verdict == "pass"
    assert finding.evidence["variations"]["clock"] == "cannot be moved in this image"
