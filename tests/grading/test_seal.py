from __future__ import annotations

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from nanobench.grading.seal import draw_key, unsealed

KEY = b"0" * 64
LINES = [b'{"id": "a"}', b'{"id": "b"}', b'{"end": 1}']


def sealed(lines: list[bytes], key: bytes = KEY) -> bytes:
    found = b""
    for line in lines:
        found += sha256(key + line).hexdigest().encode() + b" " + line + b"\n"
        key = sha256(key).hexdigest().encode()
    return found


def test_lines_with_the_right_seals_are_the_reporters() -> None:
    assert unsealed(sealed(LINES), KEY) == (b"\n".join(LINES) + b"\n", None)
    assert unsealed(b"", KEY) == (b"", None)


def test_a_cut_last_line_is_kept_for_the_reader() -> None:
    assert unsealed(sealed(LINES[:1]) + b"ab", KEY) == (LINES[0] + b"\nab", None)


def test_a_line_that_is_changed_added_dropped_doubled_or_moved_is_named() -> None:
    first, second, third = sealed(LINES).splitlines(keepends=True)
    for data, number in (
        (first + second.replace(b'"b"', b'"c"') + third, 2),
        (first + second + third + b"junk\n", 4),
        (first + third, 2),
        (first + first, 2),
        (second + first, 1),
        (sealed(LINES, b"1" * 64), 1),
    ):
        assert unsealed(data, KEY)[1] == number


def test_no_two_keys_are_the_same() -> None:
    assert len({draw_key() for _ in range(100)}) == 100


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    assert unsealed(data, KEY)[1] in (None, *range(1, 201))
