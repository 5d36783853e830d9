from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.gates.mutations import mutated


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"    if a == b:", b"    if a != b:"),
        (b"  if (a === b) {", b"  if (a !== b) {"),
        (b"  if (a !== b) {", b"  if (a === b) {"),
        (b"    if not done:", b"    if done:"),
        (b"    if a is not None:", b"    if a is None:"),
        (b"    ok = True", b"    ok = False"),
        (b"  return a && b;", b"  return a || b;"),
        (b"    return a and b", b"    return a or b"),
        (b"    while i <= n:", b"    while i > n:"),
        (b"  const List<T> x = a < b;", b"  const List<T> x = a >= b;"),
        (b"    return x + 1", b"    return x - 1"),
        (b"    limit = 10", b"    limit = 910"),
        (b"    return value", b"    return 0"),
        (b"  return value;", b"  return 0;"),
    ],
)
def test_one_thing_is_turned_around(line: bytes, expected: bytes) -> None:
    assert mutated(line) == expected


@pytest.mark.parametrize(
    "line",
    [b"", b"   ", b"# a == b", b"// a == b", b" * a == b", b"import a", b"from a import b", b"def f(x):", b"})"],
)
def test_what_is_no_code_or_holds_nothing_to_turn_is_left_alone(line: bytes) -> None:
    assert mutated(line) is None


@given(st.binary(max_size=80).filter(lambda line: b"\n" not in line))
def test_a_mutation_is_another_line_and_one_line(line: bytes) -> None:
    changed = mutated(line)
    assert changed is None or (changed != line and b"\n" not in changed)
