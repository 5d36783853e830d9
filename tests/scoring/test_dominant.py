from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.model.label import Landmarks
from nanobench.model.result import Failure
from nanobench.scoring.dominant import Failing, dominant
from nanobench.scoring.taxonomy import Kind

LANDMARKS = Landmarks(
    schema=1,
    names=("Toy", "double", "half"),
    introduced=("strict", "triple"),
    reshaped=("half", "twice"),
    functions={},
)

INVENTED = Failure(type="builtins.AttributeError", message="'Toy' object has no attribute 'dubel'")
KNOWN = Failure(type="builtins.AttributeError", message="'Toy' object has no attribute 'double'")
MISSING = Failure(type="builtins.AttributeError", message="'Toy' object has no attribute 'triple'")
MISMATCH = Failure(type="builtins.TypeError", message="double() takes 1 positional argument but 2 were given")
NEW_ARGUMENT = Failure(type="builtins.TypeError", message="double() got an unexpected keyword argument 'strict'")
ANOTHER_ARGUMENT = Failure(
    type="builtins.TypeError", message="Toy.double() got an unexpected keyword argument 'twice'"
)
MORE_ARGUMENTS = Failure(
    type="builtins.TypeError", message="Toy.half() takes 2 positional arguments but 3 were given"
)
REMOVED = Failure(type="builtins.AttributeError", message="'Toy' object has no attribute 'half'")
WRONG = Failure(type="builtins.AssertionError", message="assert 3 == 4")


def kinds(
    failures: dict[str, Failure], *tests: str, output: bytes = b"", cut: tuple[str, ...] = ()
) -> tuple[Kind, ...]:
    languages = {"py": "python", "go": "go"}
    why = Failing(failures=failures, output=output, languages=languages, cut=cut, landmarks=LANDMARKS)
    return why.kinds(tests or tuple(failures))


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (INVENTED, "unknown_symbol"),
        (KNOWN, "other"),
        (MISSING, "not_implemented"),
        (MISMATCH, "interface"),
        (NEW_ARGUMENT, "not_implemented"),
        (ANOTHER_ARGUMENT, "not_implemented"),
        (MORE_ARGUMENTS, "not_implemented"),
        (REMOVED, "other"),
        (WRONG, "other"),
    ],
)
def test_what_a_failing_test_fails_of(failure: Failure, kind: Kind) -> None:
    assert kinds({"py|t.py::test_a": failure}) == (kind,)


@pytest.mark.parametrize("place", ["py|t.py::Some::test_a[1]", "py|t.py::Some", "py|t.py::", "py|t.py"])
def test_a_test_that_never_ran_fails_of_what_is_around_it(place: str) -> None:
    assert kinds({place: INVENTED}, "py|t.py::Some::test_a[1]") == ("unknown_symbol",)


def test_its_own_record_comes_first_and_another_files_says_nothing() -> None:
    both = {"py|t.py": INVENTED, "py|t.py::test_a": WRONG}
    assert kinds(both, "py|t.py::test_a") == ("other",)
    assert kinds({"py|u.py": INVENTED}, "py|t.py::test_a") == ("other",)


def test_where_nothing_was_reported_the_compiler_is_heard() -> None:
    output = b"# example/toy\n./toy_test.go:6:9: undefined: Dubel\nFAIL\texample/toy [build failed]\n"
    assert kinds({}, "go|toy::TestA", "go|toy::TestB", output=output) == ("unknown_symbol", "unknown_symbol")
    assert kinds({}, "go|toy::TestA") == ("other",)


def test_what_a_suite_printed_that_was_cut_says_nothing_of_the_tests_it_did_not_come_to() -> None:
    output = b"./toy_test.go:6:9: undefined: Dubel\n"
    assert kinds({}, "go|toy::TestA", output=output, cut=("go",)) == ("other",)


def test_of_an_assertion_nothing_is_known() -> None:
    assert kinds({"answer|answer": INVENTED}) == ("other",)


@pytest.mark.parametrize(
    ("counted", "kind"),
    [
        (["interface", "unknown_symbol"], "unknown_symbol"),
        (["other", "interface"], "interface"),
        (["other", "not_implemented"], "not_implemented"),
        (["not_implemented", "interface"], "interface"),
        (["other", "other", "unknown_symbol"], "other"),
        (["not_implemented", "not_implemented", "unknown_symbol"], "not_implemented"),
        ([], None),
    ],
)
def test_the_most_frequent_kind_dominates_and_ties_go_to_the_earlier_rule(counted: list[Kind], kind: Kind) -> None:
    assert dominant(counted) == kind


@given(
    st.lists(st.sampled_from(get_args(Kind))).flatmap(lambda kinds: st.tuples(st.just(kinds), st.permutations(kinds)))
)
def test_the_order_of_the_tests_says_nothing(both: tuple[list[Kind], list[Kind]]) -> None:
    assert dominant(both[0]) == dominant(both[1])
