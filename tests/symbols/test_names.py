from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.errors import Refused
from nanobench.symbols.grammars import SUFFIXES, grammar_of
from nanobench.symbols.names import MAX_ANGLES, MAX_TEXT, added_lines, module_name, names_added, names_in

PYTHON = b'''
import os.path as where
from shop.prices import (total as summed)

class Basket:
    """Prose: words(that) are = no names."""
    items: list[Item]

    def add(self, item, *, count=1):
        self.seen = f"text {item.label!r}"  # a comment
        return self.inner.push(item, times=count)
'''
TYPESCRIPT = b"""
import { first as second } from "./lib/prices.js";
import type { Shape } from "@scope/shapes";
const { third, fourth: fifth } = await import("node:path-like");
type Row = { "quoted-key": string; plain?: number };
const made = { short, "string-key": 1, method() {}, #hidden: 2 };
export default made;
made["looked-up"] = text("no name", `neither ${sixth}`); // nor this
"""
GO = b"""
package shop
import ( "example.org/money"; f "fmt" )
type Basket struct { Items []Item }
func (b *Basket) Add(item Item) { b.Items = append(b.Items, item); f.Println("text") } // comment
"""
RUST = b"""
use crate::shop::{Basket, prices as p};
impl<'l> Basket<'l> { fn add(&mut self, item: Item) -> Total { println!("{}", self.seen); Price { cents } } } // no
"""
JAVA = b"""
package org.example.shop;
import java.util.List;
class Basket<T> extends Shelf { @Seen int add(Item item) { return this.inner.push(Item::price, "text"); } } // comment
"""


@pytest.mark.parametrize(
    ("language", "path", "text", "names"),
    [
        (
            *("python", "src/shop.py", PYTHON),
            "src shop os path where prices total summed Basket items list Item add self item count seen label inner "
            "push times",
        ),
        (
            *("typescript", "web/a.ts", TYPESCRIPT),
            "web a first second prices Shape shapes third fourth fifth node:path-like Row quoted-key plain made "
            "short string-key method #hidden default looked-up text sixth",
        ),
        ("go", "shop.go", GO, "shop money f fmt Basket Items Item b Add item append Println"),
        ("rust", "src/lib.rs", RUST, "src lib shop Basket prices p l add item Item Total println seen Price cents"),
        (
            "java",
            "Basket.java",
            JAVA,
            "Basket org example shop java util List T Shelf Seen add Item item inner push price",
        ),
    ],
)
def test_what_stands_in_code_is_known_and_prose_is_not(language: str, path: str, text: bytes, names: str) -> None:
    assert names_in(language, {path: text}) == set(names.split())


def test_only_a_whole_name_is_one() -> None:
    names = names_in("python", {"a.py": b"load_all_users = 1\n"})
    assert "load_all_users" in names and "load_all" not in names


def test_a_suite_knows_names_of_its_own_language() -> None:
    sources = {"a.py": b"one", "b.js": b"two", "c.tsx": b"<Three/>", "d.vue": b"four", "e": b"five"}
    assert names_in("python", sources) == {"a.py", "a", "one"} - {"a.py"}
    assert names_in("typescript", sources) == names_in("javascript", sources) == {"b", "c", "two", "Three"}
    assert names_in("cobol", sources) == set()


def test_a_syntax_newer_than_this_python_and_a_broken_file_are_read() -> None:
    text = b"type Pair[T] = tuple[T, T]\nmatch x:\n  case Found(y=z): pass\ndef broken(:\n  after = [\n"
    assert {"Pair", "Found", "y", "z", "broken", "after"} <= names_in("python", {"a.py": text})


@pytest.mark.parametrize(
    "text",
    [b"a<" * 40_000, b"name " * MAX_TEXT, b"(" * 100_000, b"\0\xff" * 1000, b"'" * 50_000],
    ids=["angles", "large", "nested", "binary", "quotes"],
)
@pytest.mark.parametrize("path", ["a.py", "a.ts", "a.tsx", "a.js", "a.go", "a.rs", "a.java"])
def test_hostile_text_is_no_trouble(path: str, text: bytes) -> None:
    names_in(grammar_of(path) or "", {path: text})


def test_what_no_grammar_reads_gives_its_words() -> None:
    deep = b"f(" + b"a<" * (MAX_ANGLES + 1) + b"some_name /* prose */"
    assert {"some_name", "prose"} <= names_in("java", {"A.java": deep})


@given(
    st.dictionaries(st.text(), st.binary())
    | st.dictionaries(st.sampled_from(sorted(SUFFIXES)).map("a".__add__), st.binary())
)
def test_any_text_has_names_or_none(sources: dict[str, bytes]) -> None:
    for language in ("python", "typescript", "go", "rust", "java", ""):
        assert all(isinstance(name, str) for name in names_in(language, sources))


@pytest.mark.parametrize(
    ("specifier", "name"),
    [
        ("./lib/util.js", "util"),
        ("../util", "util"),
        ("@scope/pkg", "pkg"),
        ("lodash.merge", "lodash.merge"),
        ("shop.py", "shop"),
        ("", ""),
        ("./", ""),
    ],
)
def test_a_module_is_called_by_the_last_part_of_its_path(specifier: str, name: str) -> None:
    assert module_name(specifier) == name


def patch(path: str, body: str, old: int, new: int) -> bytes:
    head = f"diff --git a/{path} b/{path}\nindex {'0' * 40}..{'1' * 40} 100644\n--- a/{path}\n+++ b/{path}\n"
    return f"{head}@@ -7,{old} +7,{new} @@ class Shop:\n{body}".encode()


CHANGE = """\
     def total(self, items):
-        return old_sum(items)
+        # words of a comment
+        return new_sum(items, rate=self.rate_of)
         # after
"""


def test_a_patch_adds_the_names_of_its_added_lines() -> None:
    assert names_added(patch("shop.py", CHANGE, 3, 4)) == {"new_sum", "items", "rate", "self", "rate_of"}


def test_an_added_line_knows_its_place_and_its_names() -> None:
    comment, call = added_lines(patch("shop.py", CHANGE, 3, 4))
    assert (comment.place, comment.names) == ("shop.py:8", frozenset())
    assert (call.place, call.text.strip()) == ("shop.py:9", b"return new_sum(items, rate=self.rate_of)")


def test_lines_of_other_files_have_no_names() -> None:
    assert names_added(patch("notes.md", " a\n+some words\n", 1, 2)) == frozenset()
    assert [line.place for line in added_lines(patch("notes.md", " a\n+some words\n", 1, 2))] == ["notes.md:8"]


def test_no_patch_is_refused() -> None:
    with pytest.raises(Refused, match="NB_PATCH"):
        names_added(b"no patch\n")
