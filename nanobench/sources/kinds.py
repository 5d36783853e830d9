"""Which kind of file is a path: test, docs, source or other? One table, several languages, and overrides.

The same answer splits a solution into golden and test patch, and decides which files of an agent's patch are
replaced before grading, so that a file counts as a test on both sides or on none.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from attrs import astuple
from pathspec import GitIgnoreSpec

from nanobench.model.task import PathRules

Kind = Literal["test", "docs", "source", "other"]

TABLE: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    (
        "test",
        (
            # Folders of tests, their data and their doubles, in any language.
            *(
                "test/",
                "tests/",
                "__tests__/",
                "spec/",
                "specs/",
                "e2e/",
                "testdata/",
                "__snapshots__/",
                "__mocks__/",
            ),
            # What runs or configures tests and nothing else.
            *("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "noxfile.py", "phpunit.xml*", ".mocharc.*"),
            *("jest.config.*", "jest.setup.*", "vitest.config.*", "vitest.setup.*", "karma.conf.*", "*.snap"),
            # Python, Go, Rust, JavaScript and TypeScript, JVM, Ruby, C and C++, PHP, C#, Swift.
            *("test_*.py", "*_test.py", "*_tests.py", "tests.py", "*_test.go", "*_test.rs", "tests.rs"),
            *("*.test.[cm][jt]s", "*.test.[jt]s", "*.test.[jt]sx", "*.test-d.ts"),
            *("*.spec.[cm][jt]s", "*.spec.[jt]s", "*.spec.[jt]sx"),
            *("*Test.java", "*Tests.java", "*IT.java", "*Test.kt", "*Spec.kt", "*Spec.scala", "*Spec.groovy"),
            *("*_spec.rb", "*_test.rb", "*_test.c", "*_test.cc", "*_test.cpp", "*_unittest.cc"),
            *("*Test.php", "*Test.cs", "*Tests.cs", "*Tests.swift"),
        ),
    ),
    (
        "docs",
        (
            *("doc/", "docs/", "example/", "examples/", "*.md", "*.mdx", "*.rst", "*.adoc"),
            *("AUTHORS*", "CHANGELOG*", "CHANGES*", "CONTRIBUTING*", "HISTORY*", "LICENCE*", "LICENSE*"),
            *("NEWS*", "NOTICE*", "README*", "THANKS*"),
        ),
    ),
    (
        "other",
        (
            # Written by tools, not by people; and what builds or checks the project.
            *("PKG-INFO", "*.egg-info/", "*.dist-info/", "node_modules/", "vendor/", "third_party/", "dist/"),
            *("*.min.js", "*.min.css", "*.d.ts.map", "*.js.map", "*_pb2.py", "*.pb.go"),
            *(".*/", "setup.py", "benchmark/", "benchmarks/", "*.config.js", "*.config.cjs", "*.config.mjs"),
        ),
    ),
    (
        "source",
        (
            *(
                "*.py",
                "*.pyi",
                "*.pyx",
                "*.pxd",
                "*.js",
                "*.jsx",
                "*.cjs",
                "*.mjs",
                "*.ts",
                "*.tsx",
                "*.cts",
                "*.mts",
            ),
            *("*.vue", "*.svelte", "*.go", "*.rs", "*.java", "*.kt", "*.kts", "*.scala", "*.groovy", "*.clj"),
            *("*.c", "*.h", "*.cc", "*.cpp", "*.cxx", "*.hh", "*.hpp", "*.cu", "*.cs", "*.fs", "*.swift", "*.m"),
            *("*.rb", "*.php", "*.pl", "*.pm", "*.lua", "*.r", "*.R", "*.jl", "*.ex", "*.exs", "*.erl", "*.hs"),
            *(
                "*.ml",
                "*.mli",
                "*.dart",
                "*.zig",
                "*.nim",
                "*.sh",
                "*.sql",
                "*.proto",
                "*.graphql",
                "*.css",
                "*.scss",
            ),
            *("*.html", "*.jinja", "*.j2", "*.tmpl"),
        ),
    ),
)
"""Git wildmatch globs by kind, in the order in which they are tried. What none names is ``other``."""


STEERING = (
    # Python: what pytest, coverage and the interpreter itself read or run before any test.
    *("pytest.toml", ".pytest.toml", "setup.cfg", "pyproject.toml", ".coveragerc*"),
    *("sitecustomize.*", "sitecustomize/", "usercustomize.*", "usercustomize/"),
    *("*.pth", "*.egg-info/", "*.dist-info/"),
    # JavaScript and TypeScript: scripts, runners, what turns test files into programs, installed modules.
    *("package.json", "vitest.workspace.*", "vitest.projects.*", "vite*.config.*", "jest*.config.*"),
    *(".nycrc*", "nyc.config.*", "postcss.config.*", ".postcssrc*"),
    *("babel.config.*", ".babelrc*", ".swcrc", "tsconfig*.json", "jsconfig.json", ".npmrc", ".pnpmfile.*"),
    *("pnpm-workspace.yaml", ".yarnrc*", ".yarn/", ".pnp.*", "bunfig.toml", "node_modules/"),
    # Any language.
    *("makefile", "gnumakefile", "justfile", "taskfile.y*ml", ".env", ".env.*", ".envrc"),
)
"""Files that steer how tests are run, beside those that :data:`TABLE` calls tests; git wildmatch globs in lower case.

A file is restored whole, although some hold other things too: the environment is installed already when a patch is
graded, so a dependency that it declares changes nothing, and telling the tables of a hostile file apart would be one
more parser to fool.
"""

_STEERING = GitIgnoreSpec.from_lines(STEERING)


def steers_tests(path: bytes, rules: PathRules) -> bool:
    """Does this file steer how tests are run? Not what the task's own rules call source or other.

    A link in the place of a folder is as good as the folder, and Python finds metadata in any case.
    """
    text = _text(path)
    own = GitIgnoreSpec.from_lines((*rules.source, *rules.other))
    steers = kind_of(path + b"/", rules) == "test" or _STEERING.match_file(f"{text.lower()}/")
    return steers and not own.match_file(text)


def kind_of(path: bytes, rules: PathRules) -> Kind:
    """Which kind of file is this? The task's own rules come first (test, source, other), then :data:`TABLE`."""
    text = _text(path)
    for kind, spec in _specs(*astuple(rules)):
        if spec.match_file(text):
            return kind
    return "other"


def _text(path: bytes) -> str:
    """The path for a glob, whose ``*`` stops at no line break."""
    return path.decode("utf-8", "surrogateescape").replace("\n", " ")


@cache
def _specs(
    test: tuple[str, ...], source: tuple[str, ...], other: tuple[str, ...]
) -> tuple[tuple[Kind, GitIgnoreSpec], ...]:
    own: tuple[tuple[Kind, tuple[str, ...]], ...] = (("test", test), ("source", source), ("other", other))
    return tuple((kind, GitIgnoreSpec.from_lines(globs)) for kind, globs in (*own, *TABLE) if globs)
