from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nanobench.model.result import Failure
from nanobench.scoring.errors.error import OTHER, Error
from nanobench.scoring.errors.recognise import LANGUAGES, MAX_OUTPUT, compiler_errors, error_of, place_of, places

MANY = 100_000


def failure(type: str, message: str) -> Failure:
    return Failure(type=type, message=message)


def test_errors_of_a_language_that_nobody_reads_are_other() -> None:
    assert error_of("cobol", failure("builtins.NameError", "name 'x' is not defined")) == OTHER
    assert compiler_errors("cobol", b"undefined: x") == ()


@pytest.mark.parametrize(
    ("type", "kind"), [("AssertionError", "other"), ("Error", "missing_symbol"), ("", "missing_symbol")]
)
def test_an_assertion_that_quotes_an_error_is_none(type: str, kind: str) -> None:
    assert error_of("javascript", failure(type, "TypeError: total is not a function")).kind == kind


@pytest.mark.parametrize(
    ("message", "kind", "symbol"),
    [
        ("(0 , prices_1.total) is not a function", "missing_symbol", "total"),
        ("(intermediate value).total is not a function", "missing_symbol", "total"),
        ("shop?.inner.total is not a function", "missing_symbol", "total"),
        ("shop.Shelf is not a constructor", "missing_symbol", "Shelf"),
        ("shop.get(...) is not a function", "interface", None),
        ("(intermediate value)(...) is not a function", "interface", None),
        ("shop[name] is not a function", "interface", None),
        ("5 is not a function", "interface", None),
        ("Class extends value 5 is not a constructor or null", "interface", None),
        ("number 5 is not iterable (cannot read property Symbol(Symbol.iterator))", "interface", None),
        ("Reflect.ownKeys called on non-object", "interface", None),
        ("Method Map.prototype.get called on incompatible receiver #<Object>", "interface", None),
        ("Cannot convert a Symbol value to a number", "interface", None),
        ("Cannot convert undefined or null to object", "other", None),
        ("Class extends value undefined is not a constructor or null", "other", None),
        ("Promise resolver undefined is not a function", "other", None),
        ("undefined is not iterable", "other", None),
        ("Reduce of empty array with no initial value", "other", None),
    ],
)
def test_what_v8_says_of_a_value_of_another_type(message: str, kind: Any, symbol: str | None) -> None:
    assert error_of("javascript", failure("TypeError", message)) == Error(kind=kind, symbol=symbol)


def test_missing_names_and_mismatches_of_an_output_are_told_in_order() -> None:
    output = (
        b"a.go:1:1: undefined: Two\na.go:2:1: undefined: One\na.go:3:1: undefined: Two\na.go:4:1: missing return\n"
    )
    assert [error.symbol for error in compiler_errors("go", output)] == ["Two", "One", "Two"]


def test_the_end_of_a_long_output_is_read() -> None:
    output = b"a.go:1:1: undefined: First\n" + b"noise\n" * MAX_OUTPUT + b"a.go:1:1: undefined: Last\n"
    assert [error.symbol for error in compiler_errors("go", output)] == ["Last"]


FAILURES = {
    "py|tests/test_a.py": failure("builtins.ImportError", "file"),
    "py|tests/test_b.py::TestIt": failure("builtins.NameError", "class"),
    "py|tests/unit": failure("builtins.ImportError", "folder"),
    "js|a.test.ts::": failure("SyntaxError", "module"),
    "js|a.test.ts::adds > deep": failure("TypeError", "suite"),
    'js|b.js::rule set "before all" hook for "first"': failure("TypeError", "hook"),
    "js|c.mjs::/workspace/c.mjs": failure("SyntaxError", "old"),
    "js|d.mjs::d.mjs": failure("SyntaxError", "new"),
    "js|sub/d.mjs::d.mjs": failure("SyntaxError", "below"),
    "js|sub/f.mjs::mjs": failure("Error", "a test of its own"),
    "js|e.js::sum": failure("Error", "another test"),
}


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("py|tests/test_a.py::test_x[1]", "file"),
        ("py|tests/test_b.py::TestIt::test_x", "class"),
        ("py|tests/test_b.py::TestItself::test_x", None),
        ("py|tests/unit/test_c.py::test_x", "folder"),
        ("js|a.test.ts::other", "module"),
        ("js|a.test.ts::adds > deep > numbers", "suite"),
        ("js|b.js::rule set second", "hook"),
        ("js|c.mjs::adds", "old"),
        ("js|sub/c.mjs::adds", None),
        ("js|d.mjs::adds", "new"),
        ("js|sub/d.mjs::adds", "below"),
        ("js|sub/f.mjs::adds", None),
        ("js|e.js::sum of two", None),
        ("js|e.js::sum", "another test"),
        ("other|tests/test_a.py::test_x", None),
    ],
)
def test_a_test_that_never_ran_failed_for_what_it_stands_in(test: str, message: str | None) -> None:
    found = place_of(test, places(FAILURES))
    assert (found and FAILURES[found].message) == message


def test_of_two_records_about_the_same_the_order_of_the_report_does_not_decide() -> None:
    both = ['js|b.js::"after each" hook for "first"', 'js|b.js::"before all" hook for "first"']
    assert place_of("js|b.js::first", places(both)) == place_of("js|b.js::first", places(both[::-1])) is not None


def test_many_records_are_no_burden() -> None:
    broken = places(f"py|tests/test_a.py::test_{n}" for n in range(MANY))
    assert all(place_of(f"py|tests/test_a.py::test_{n}[{n}]", broken) is None for n in range(MANY, MANY + 1000))


texts = st.text() | st.lists(
    st.sampled_from(
        [
            *("'", '"', "`", "(", ")", " ", "\n", ".", "::", "<", "a", "error", "TypeError: ", "error TS2339: "),
            *("has no attribute ", "Property ", "a.go:1:1: ", "undefined: ", "error[E0425]: ", "A.java:1: error: "),
            *("cannot find symbol", "symbol: ", "is not a function", "Cannot find module ", "not implement ", "{"),
        ]
    ),
    max_size=40,
).map("".join)


@given(st.sampled_from(sorted(LANGUAGES)), texts, texts)
@example("go", "", "[" * 100_000)
@example("go", "", '{"a":' * 100_000)
@example("go", "", '{"Output": 1}')
def test_any_words_say_something(language: str, type: str, message: str) -> None:
    assert error_of(language, failure(type, message)).kind in ("missing_symbol", "interface", "other")
    assert all(e.kind in ("missing_symbol", "interface") for e in compiler_errors(language, message.encode()))


LONG = [
    *("a" * MANY, "'" * MANY, "`" * MANY, "a." * MANY, "(" * MANY, "a " * MANY, "\x1b[" * MANY, "\n" * MANY),
    *(
        "has no attribute '" * MANY,
        "is not a function" * MANY,
        "Property 'a' in type " * MANY,
        "A is abstract " * MANY,
    ),
    *("error TS2339: " * MANY, "a.go:1:1: (" * MANY, "Error: " * MANY, "[ERROR] " * MANY, "symbol: " * MANY),
    *("does not implement (missing method " * MANY, "A.b." * MANY + "Error", "a::" * MANY, "<a>" * MANY, "{" * MANY),
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("language", sorted(LANGUAGES))
@pytest.mark.parametrize("prefix", ["", "TypeError: ", "A.java:[1,2] "])
def test_long_lines_are_no_trouble(language: str, prefix: str) -> None:
    for text in LONG:
        for type in ("", "builtins.TypeError", "TypeError", "TypeCheckError", "java.lang.NoSuchMethodError"):
            error_of(language, failure(type, prefix + text))
        compiler_errors(language, (prefix + text).encode())


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("language", "begins"),
    [
        ("javascript", "TypeError: "),
        ("typescript", "TypeError: a."),
        ("java", "Caused by: java.lang.NoSuchMethodError: "),
        ("java", "java.lang.NoSuchMethodException: "),
    ],
)
def test_an_output_full_of_long_words_is_looked_at_once(language: str, begins: str) -> None:
    """Each word was tried from each of its letters: four megabytes of them took minutes."""
    for letter in "a$":
        compiler_errors(language, f"{begins}{letter * 3900}\n".encode() * 1000)


def test_a_name_may_be_of_any_alphabet() -> None:
    found = error_of("javascript", failure("TypeError", "maße.übrig is not a function"))
    assert found == Error(kind="missing_symbol", symbol="übrig")


def test_go_events_are_unwrapped() -> None:
    event = json.dumps({"Action": "build-output", "ImportPath": "x", "Output": "./a.go:5:2: undefined: Foo\n"})
    assert compiler_errors("go", event.encode()) == (Error(kind="missing_symbol", symbol="Foo"),)
