from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.model.task import PathRules
from nanobench.sources.kinds import TABLE, Kind, kind_of, steers_tests

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


def test_no_line_break_in_a_path_hides_what_it_is() -> None:
    assert [kind_of(path, NONE) for path in (b"a\nb/conftest.py", b"tests/a\nb/x", b"conftest.py\n")] == [
        *("test", "test", "other"),
    ]
    assert steers_tests(b"a\nb/package.json", NONE)


STEER = (
    "setup.cfg a/pyproject.toml .coveragerc src/sitecustomize.py src/sitecustomize.pyc usercustomize/__init__.py "
    "a.pth src/x.dist-info/entry_points.txt src/X.DIST-INFO/entry_points.txt package.json packages/a/package.json "
    "Makefile vite.config.ts vitest.unit.config.ts jest.e2e.config.js .yarn/releases/yarn.cjs .pnp.cjs "
    "tsconfig.build.json .env.test vitest.projects.ts "
    "postcss.config.mjs .postcssrc.cjs nyc.config.js .coveragerc.toml"
)
LINKS = "src/x.dist-info node_modules packages/a/node_modules __mocks__ tests e2e"
"""Links may stand where folders do."""
NO_STEERING = "src/a.py package.json.md src/environment.ts docs/a.md yarn/a.js test.py"


def test_what_steers_tests_is_known_by_its_path_unless_the_task_knows_better() -> None:
    paths = f"{STEER} {LINKS}".split()
    assert [path for path in paths if not steers_tests(path.encode(), NONE)] == []
    assert [path for path in paths if steers_tests(path.encode(), PathRules(source=(path,)))] == []
    assert [path for path in NO_STEERING.split() if steers_tests(path.encode(), NONE)] == []


@given(st.binary(min_size=1, max_size=30))
def test_every_path_has_a_kind(path: bytes) -> None:
    assert kind_of(path, NONE) in {kind for kind, _ in TABLE}
