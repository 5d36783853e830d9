from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.symbols.grammars import SUFFIXES
from nanobench.symbols.signatures import reshaped


@pytest.mark.parametrize(
    ("path", "before", "after", "names"),
    [
        (
            "a.py",
            "def total(items): pass",
            "def total(items, rate: Rate = ONE): pass",
            {"total", "rate", "Rate", "ONE"},
        ),
        (
            "a.py",
            "class A:\n  async def total(items, rate): pass",
            "class A:\n  async def total(items): pass",
            {"total"},
        ),
        ("a.py", "def total(items): pass", "def total(items=None): pass", {"total"}),
        ("a.py", "def total(items,\n  rate): pass", "def total(items, rate): return 1 # faster", set()),
        ("a.py", "total(items)", "total(items, rate)", set()),
        ("a.py", "def one(a): pass", "def one(a): pass\ndef two(b): pass", set()),
        ("a.ts", "class A { total(a: Item) {} }", "class A { total(a: Item, rate = 1) {} }", {"total", "rate"}),
        ("a.js", "function total(items) {}", "function total(items, { rate }) {}", {"total", "rate"}),
        ("a.go", "func (b *B) Total(items []int) int {}", "func (b *B) Total(rate int) int {}", {"Total", "rate"}),
        ("a.rs", "fn total(items: &[u32]) {}", "fn total(items: &[u32], rate: u32) {}", {"total", "rate"}),
        ("A.java", "class A { A() {} }", "class A { A(Rate rate) {} }", {"A", "Rate", "rate"}),
        ("a.md", "def total(items): pass", "def total(items, rate): pass", set()),
    ],
)
def test_a_function_with_other_parameters_is_reshaped(path: str, before: str, after: str, names: set[str]) -> None:
    assert reshaped(path, before.encode(), after.encode()) == names


@given(st.sampled_from(sorted(SUFFIXES)), st.binary(), st.binary())
def test_any_texts_have_an_answer(suffix: str, before: bytes, after: bytes) -> None:
    assert reshaped(f"a{suffix}", before, before) == frozenset()
    reshaped(f"a{suffix}", before, after)
