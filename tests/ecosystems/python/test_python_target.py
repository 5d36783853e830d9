from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.ecosystems.py_target import Target, best_wheel, target_of
from nanobench.errors import Refused

BOOKWORM = target_of("bookworm")
FITTING = [
    "a-1-cp311-cp311-manylinux_2_28_x86_64.whl",
    "a-1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "a-1-cp38-abi3-manylinux2014_x86_64.whl",
    "a-1-py3-none-manylinux1_x86_64.whl",
    "a-1-py2.py3-none-any.whl",
    "a-1-py3-none-any.whl",
]
UNFIT = [
    "a-1-cp312-cp312-manylinux_2_17_x86_64.whl",
    "a-1-cp311-cp311-manylinux_2_39_x86_64.whl",
    "a-1-cp311-cp311-musllinux_1_2_x86_64.whl",
    "a-1-cp311-cp311-manylinux_2_17_aarch64.whl",
    "a-1-cp311-cp311-win_amd64.whl",
    "a-1-cp312-abi3-manylinux2014_x86_64.whl",
    "a-1-py2-none-any.whl",
]


@given(st.permutations(FITTING + UNFIT))
def test_the_most_specific_fitting_wheel_is_taken_whatever_the_order_of_the_index(files: list[str]) -> None:
    for expected in FITTING:
        assert best_wheel(files, BOOKWORM) == expected
        files = [file for file in files if file != expected]


@pytest.mark.parametrize("file", UNFIT)
def test_a_wheel_for_another_interpreter_library_or_machine_never_fits(file: str) -> None:
    assert best_wheel([file], BOOKWORM) is None


def test_a_newer_c_library_opens_newer_wheels() -> None:
    assert best_wheel(["a-1-cp313-cp313-manylinux_2_39_x86_64.whl"], target_of("trixie")) is not None


@given(st.permutations(["a-1-py3-none-any.whl", "a-1-2-py3-none-any.whl", "a-1-10-py3-none-any.whl"]))
def test_the_highest_build_number_wins_as_a_number(files: list[str]) -> None:
    assert best_wheel(files, BOOKWORM) == "a-1-10-py3-none-any.whl"


def test_no_wheel_at_all_is_none() -> None:
    assert best_wheel([], Target(python="3.11", glibc="2.36")) is None


def test_an_unknown_suite_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Refused, match="bookworm, trixie") as error:
        target_of("sid")
    assert error.value.code == "NB_PYTHON_SUITE"
