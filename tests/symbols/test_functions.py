from __future__ import annotations

import pytest

from nanobench.symbols.functions import functions_in

PYTHON = b"""\
import os

@cache
def one(n):
    return n

class A:
    async def two(self):
        def inner():
            pass
        return inner

x = lambda: 1
"""
TYPESCRIPT = b"""\
export function one(n: number): number {
  return n;
}
const two = (n: number) => {
  return n;
};
class A {
  three() {
    return 1;
  }
  four = async () => 2;
}
const five = function () {};
"""
GO = b"""\
package a

func one() int {
	return 1
}

func (t Toy) two() {
}
"""
RUST = b"""\
impl Toy {
    fn one(&self) -> i32 {
        1
    }
}
fn two() {}
"""
JAVA = b"""\
class Toy {
    Toy() {
    }
    int one() {
        return 1;
    }
}
"""


@pytest.mark.parametrize(
    ("path", "text", "spans"),
    [
        ("a.py", PYTHON, [(4, 5), (8, 11), (9, 10)]),
        ("a.ts", TYPESCRIPT, [(1, 3), (4, 6), (8, 10), (11, 11), (13, 13)]),
        ("a.js", b"function* one() {\n}\n", [(1, 2)]),
        ("a.tsx", b"const A = () => <p />;\n", [(1, 1)]),
        ("a.go", GO, [(3, 5), (7, 8)]),
        ("a.rs", RUST, [(2, 4), (6, 6)]),
        ("a.java", JAVA, [(2, 3), (4, 6)]),
        ("a.md", PYTHON, []),
        ("a.py", b"", []),
    ],
)
def test_functions_and_methods_by_the_languages_own_grammar(
    path: str, text: bytes, spans: list[tuple[int, int]]
) -> None:
    assert list(functions_in(path, text)) == spans


def test_what_no_grammar_reads_in_time_has_none() -> None:
    assert functions_in("a.ts", b"function a() {}\n" + b"a<" * 10_000) == ()
    assert functions_in("a.py", b"def a(): pass\n" * 100_000) == ()


def test_a_broken_file_has_those_that_can_be_read() -> None:
    assert functions_in("a.py", b"def one():\n    return 1\n\nclass (\n") == ((1, 2),)
