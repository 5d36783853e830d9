from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.sources.imports import imported, language_of

PYTHON = {
    "src/pkg/__init__.py",
    "src/pkg/a.py",
    "src/pkg/b.py",
    "src/pkg/sub/__init__.py",
    "src/pkg/sub/c.py",
    "x.py",
}
SCRIPT = {"web/a.ts", "web/b.ts", "web/c/index.tsx", "lib/d.js", "web/e.mjs"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import pkg.a", {"src/pkg/a.py"}),
        ("from pkg import b, os", {"src/pkg/__init__.py", "src/pkg/b.py"}),
        ("from . import a", {"src/pkg/a.py"}),
        ("from .a import thing", {"src/pkg/a.py"}),
        ("from .sub import c", {"src/pkg/sub/__init__.py", "src/pkg/sub/c.py"}),
        ("    from pkg.sub.c import d", {"src/pkg/sub/c.py"}),
        ("import os\n# from pkg import a\nx = 'import pkg.a'", set()),
    ],
)
def test_python_imports_are_found_wherever_the_package_lies(text: str, expected: set[str]) -> None:
    assert imported("src/pkg/b.py", text, PYTHON) == expected - {"src/pkg/b.py"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import { x } from './b'", {"web/b.ts"}),
        ("import { x } from './b.js'", {"web/b.ts"}),
        ('export * from "./c";', {"web/c/index.tsx"}),
        ("const d = require('../lib/d')", {"lib/d.js"}),
        ("const e = await import('./e.mjs')", {"web/e.mjs"}),
        ("import x from 'react'", set()),
    ],
)
def test_relative_imports_of_scripts_are_found_by_every_spelling(text: str, expected: set[str]) -> None:
    assert imported("web/a.ts", text, SCRIPT) == expected


@given(st.text(max_size=200), st.sampled_from(["a.py", "deep/er/a.py", "a.ts", "deep/er/a.ts", "a.go"]))
def test_any_text_imports_only_what_is_there(text: str, path: str) -> None:
    assert imported(path, text, PYTHON | SCRIPT) <= PYTHON | SCRIPT


def test_languages_go_by_the_ending() -> None:
    assert [language_of(p) for p in ("a.py", "b.tsx", "c.mjs", "d.rs", "e.md")] == [
        "python",
        "typescript",
        "javascript",
        "rust",
        None,
    ]
