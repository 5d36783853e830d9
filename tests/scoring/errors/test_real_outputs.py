"""What the real tools said of small broken projects (see data/again.py), and what is to be made of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from nanobench.grading.outcomes import parse_report
from nanobench.scoring.errors.error import Error
from nanobench.scoring.errors.recognise import compiler_errors, error_of
from tests.scoring.errors.data.again import EVERYTHING

DATA = Path(__file__).parent / "data"

PYTHON = {
    "test_at_once.py": "missing discount",
    "test_import_module.py": "missing shopping",
    "test_import_name.py": "missing discount",
    "test_syntax.py": "other",
    **{
        f"test_calls.py::test_{name}": said
        for name, said in {
            "attribute_of_an_object": "missing remove",
            "attribute_of_a_class": "missing shared",
            "attribute_of_a_module": "missing discount",
            "attribute_of_none": "other",
            "attribute_that_is_patched": "missing discount",
            "attribute_that_is_replaced": "missing discount",
            "name": "missing discount",
            "name_before_its_value": "other",
            "import_of_a_name": "missing discount",
            "import_of_a_module": "missing prices",
            "import_of_a_package": "missing nothing_like_it",
            "unexpected_argument": "interface colour",
            "missing_argument": "interface add",
            "too_many_arguments": "interface total",
            "abstract_class": "interface put",
            "operands": "interface",
            "operand_that_is_none": "other",
            "no_function": "interface",
            "no_iterable": "interface",
            "assertion": "other",
            "value": "other",
            "another_exception_was_expected": "missing remove",
            "fixture": "missing discount",
            "no_fixture": "other",
        }.items()
    },
}


def calls(file: str) -> dict[str, str]:
    """The tests that every JavaScript runner was given."""
    said = {
        "method of an object": "missing remove",
        "function of a module": "missing discount",
        "class of a module": "missing Shelf",
        "name": "missing discountOf",
        "read from undefined": "other",
        "call of undefined": "other",
        "no iterable": "interface",
        "class without new": "interface",
        "argument of another type": "interface",
        "module in a test": "missing prices",
        "package in a test": "missing no-such-package-of-ours",
        "assertion": "other",
        "another error was expected": "other",
        "quoted error": "other",
    }
    return {f"{file}::{title}": each for title, each in said.items()}


def files(title: str) -> dict[str, str]:
    """Files of tests that could not be run; what the runner calls such a file."""
    said = {
        "import_name": "missing discount",
        "import_module": "missing prices",
        "import_package": "missing no-such-package-of-ours",
        "at_once": "missing discount",
    }
    return {f"{name}.test.mjs::{title.format(f'{name}.test.mjs')}": each for name, each in said.items()}


REPORTED = {
    "pytest-3.9": PYTHON,
    "pytest-3.13": PYTHON,
    "vitest": {
        **calls("calls.test.mjs"),
        **{name: said for name, said in files("").items() if "import_name" not in name},
        "import_name.test.mjs::it": "missing discount",
        "mock.test.mjs::export that a mock has not": "missing Basket",
        "mock.test.mjs::spy on what is not there": "missing discount",
    },
    "vitest-types": {
        "use.test-d.ts::member": "missing remove",
        "use.test-d.ts::export": "missing discount",
        "use.test-d.ts::name": "missing discountOf",
        "use.test-d.ts::argument": "interface",
        "use.test-d.ts::arguments": "interface",
        "use.test-d.ts::type": "interface",
    },
    "jest": {
        **calls("calls.test.js"),
        "calls.test.js::spy on what is not there": "missing discount",
        "calls.test.js::expectation": "other",
        "import_module.test.js::": "missing prices",
        "at_once.test.js::": "missing discount",
        "member.test.ts::": "missing remove",
        "argument.test.ts::": "interface",
        "export.test.ts::": "missing discount",
        "module.test.ts::": "missing prices",
    },
    "jest-es": {**calls("calls.test.mjs"), **files("")},
    "mocha": {
        **calls("calls.js"),
        'calls.js::hook "before all" hook for "kept from running"': "missing discount",
    },
    "node-test": {**calls("calls.test.mjs"), **files("/workspace/{}")},
}

TSC = """
missing Discount, missing hidden, missing default, missing prices, missing remove, missing item, missing discount,
missing discountOf, missing Amount, missing Amount, missing colour, interface, interface, interface, interface,
interface name, interface, interface put, interface, interface, interface, interface
"""
GO_NAMES = "missing Discount, missing Reverse, missing Remove, missing Item, missing Colour, missing Price"
JAVA_NAMES = (
    "missing remove, missing colour, missing Price, missing discount, missing total, missing Shelf, missing Kind"
)
JAVA_TYPES = """
interface put, interface, interface, interface, interface add, interface, interface, interface, interface Basket,
interface valueOf, interface, interface, interface, interface
"""
PRINTED = {
    "pytest-conftest": "missing discount",
    "mocha-es": "missing discount",
    "mocha-ts": "missing remove, interface",
    "tsc": TSC,
    "tsc-pretty": TSC,
    "go-names": GO_NAMES,
    "go-json": GO_NAMES,
    "go-types": """
        interface, interface Add, interface Add, interface Put, interface, interface, interface, interface, interface,
        interface
    """,
    "go-package": "missing money",
    "go-package-of-module": "missing prices",
    "go-package-of-std": "missing it",
    "go-unexported": "missing hidden, missing Hidden",
    "go-panic": "interface Put",
    "cargo-names": """
        missing absent, missing Discount, missing prices, missing nothing_like_it, missing print_all, missing lift,
        missing reduce, missing Amount, missing discount, missing Money
    """,
    "cargo-members": """
        interface take, missing remove, missing colour, missing empty, missing Square, missing three, interface two,
        interface, interface, interface, interface, interface, interface, interface, missing clone
    """,
    "cargo-private": "interface",
    "javac-names": JAVA_NAMES,
    "javac-imports": "missing Discount, missing prices, missing reduce",
    "javac-types": JAVA_TYPES,
    "javac-private": "interface",
    "maven-names": f"{JAVA_NAMES}, {JAVA_NAMES}",
    "maven-types": f"{JAVA_TYPES}, {JAVA_TYPES}",
    "maven-run": "missing remove, missing Discount, interface, missing remove",
    "java-method": "missing total",
    "java-field": "missing one",
    "java-class": "missing Price, missing Price",
}
LANGUAGES = {"pytest": "python", "go": "go", "cargo": "rust", "java": "java", "javac": "java", "maven": "java"}


def language(name: str) -> str:
    return LANGUAGES.get(name.partition("-")[0], "typescript")


def spelled(error: Error) -> str:
    return f"{error.kind.removesuffix('_symbol')} {error.symbol or ''}".rstrip()


def listed(errors: Iterable[Error]) -> list[str]:
    return [spelled(error) for error in errors]


def test_every_kept_output_is_asked() -> None:
    kept = {path.stem: path.suffix for path in DATA.iterdir() if path.suffix in (".jsonl", ".txt")}
    assert kept == dict.fromkeys(REPORTED, ".jsonl") | dict.fromkeys(PRINTED, ".txt")
    assert kept.keys() == EVERYTHING.keys()


@pytest.mark.parametrize("name", REPORTED)
def test_what_a_failing_test_says(name: str) -> None:
    report = parse_report((DATA / f"{name}.jsonl").read_bytes())
    assert report.damage is None
    said = {test: spelled(error_of(language(name), failure)) for test, failure in report.failures.items()}
    assert said == REPORTED[name]


@pytest.mark.parametrize("name", PRINTED)
def test_what_a_command_printed_says(name: str) -> None:
    found = compiler_errors(language(name), (DATA / f"{name}.txt").read_bytes())
    assert listed(found) == [part.strip() for part in PRINTED[name].split(",")]


def test_outputs_name_no_place_of_the_machine_that_made_them() -> None:
    places = (f"{Path.home()}/", f"{tempfile.gettempdir()}/", f"{Path.cwd()}/", "/home/", "/Users/")
    for path in (*DATA.glob("*.txt"), *DATA.glob("*.jsonl")):
        assert not any(place in path.read_text() for place in places), path
