from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.model.task import PathRules
from nanobench.sources.kinds import TABLE, Kind, kind_of

NONE = PathRules()


@pytest.mark.parametrize(
    ("kind", "paths"),
    [
        (
            "test",
            "tests/test_parser.py tests/samples/quilt.diff pkg/tests/util.py test_x.py x_test.py conftest.py "
            "a/conftest.py pytest.ini tox.ini src/foo.test.ts src/foo.spec.jsx a/__tests__/b.js "
            "a/__snapshots__/c.snap pkg/x_test.go src/test/java/AppTest.java src/main/AppTest.java "
            "spec/models/user_spec.rb crate/tests/it.rs e2e/login.ts vitest.config.ts tests/README.md "
            "types.test-d.ts",
        ),
        (
            "docs",
            "README.md CHANGELOG.md HISTORY docs/conf.py docs/requirements.txt pkg/notes.rst LICENSE AUTHORS "
            "examples/a.py",
        ),
        (
            "other",
            "PKG-INFO unidiff.egg-info/PKG-INFO unidiff.egg-info/SOURCES.txt pyproject.toml setup.py "
            "setup.cfg poetry.lock package.json package-lock.json .github/workflows/ci.yml "
            ".github/scripts/x.py data.json Makefile logo.png dist/a.js",
        ),
        (
            "source",
            "unidiff/patch.py tomlkit/__init__.py src/a.ts lib/x.tsx main.go src/lib.rs App.java "
            "testing/helpers.py pkg/latest.py contest.py attest/x.c pkg/py.pyi templates/index.html",
        ),
    ],
)
def test_the_table_sorts_paths_of_several_languages(kind: Kind, paths: str) -> None:
    assert {path: kind_of(path.encode(), NONE) for path in paths.split()} == dict.fromkeys(paths.split(), kind)


def test_the_tasks_own_rules_come_first_and_test_before_source() -> None:
    rules = PathRules(test=("pkg/helpers.py", "/data/"), source=("tests/support.py", "pkg/*.py"), other=("*.go",))
    paths = ["pkg/helpers.py", "data/x.bin", "tests/support.py", "pkg/a.py", "main.go", "a/data/x.py", "tests/a.py"]
    kinds = ["test", "test", "source", "source", "other", "source", "test"]
    assert [kind_of(p.encode(), rules) for p in paths] == kinds


def test_a_file_named_like_a_test_folder_is_no_test() -> None:
    assert kind_of(b"tests", NONE) == "other"


@given(st.binary(min_size=1, max_size=30))
def test_every_path_has_a_kind(path: bytes) -> None:
    assert kind_of(path, NONE) in {kind for kind, _ in TABLE}
