from __future__ import annotations

import pytest

from nanobench.symbols.functions import functions_in, openings

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


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "a.py",
            'class A:\n    @of\n    def a(self):\n        """Text."""\n        # and a comment\n        ¦return 1\n',
        ),
        ("a.py", "def a(): ¦return 1\n\n\nasync def b():\n    ¦@of\n    def c():\n        ¦pass\n"),
        ("a.py", 'def a():\n    """Nothing but text."""\n\n\nb = lambda: 0\n'),
        ("a.ts", "export function a(n: number): number {¦ return n; }\nconst b = (n: number) => n;\n"),
        ("a.js", "class A { constructor() {¦ } *b() {¦ } get c() {¦ return 1; } }\nlet d = async (n) => {¦ };\n"),
        ("a.tsx", "const a = function* () {¦ return <p>{1}</p>; };\nif (a) { for (;;) { } }\n"),
        ("a.py", "def a(:\n    return 1\n"),
        ("a.go", "func a() { }\n"),
        ("a.txt", "def a(): pass\n"),
    ],
)
def test_a_statement_is_put_first_in_every_body_that_takes_one(path: str, text: str) -> None:
    parts = text.split("¦")
    places = tuple(len("".join(parts[:count])) for count in range(1, len(parts)))
    assert openings(path, "".join(parts).encode()) == places
