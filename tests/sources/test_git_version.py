from __future__ import annotations

from typing import Any

import pytest

from nanobench.errors import Refused
from nanobench.sources.git_run import Git
from nanobench.sources.git_version import counts_tags, version_at

SCM = '[build-system]\nrequires = ["setuptools", "setuptools_scm>=6"]\n[project]\nname = "x"\ndynamic = ["version"]\n'


@pytest.mark.parametrize(
    ("files", "counts"),
    [
        ({"pyproject.toml": SCM}, True),
        ({"pyproject.toml": SCM + 'version = "1"\n'}, False),
        ({"pyproject.toml": '[build-system]\nrequires = ["hatchling", "hatch-vcs"]\n'}, True),
        (
            {"pyproject.toml": '[build-system]\nrequires = ["hatchling"]\n[project]\nname = "x"\nversion = "1"\n'},
            False,
        ),
        ({"pyproject.toml": '[tool.pdm.version]\nsource = "scm"\n'}, True),
        ({"setup.py": "setup(use_scm_version=True)"}, True),
        ({"setup.py": "setup(setup_requires=['pbr'], pbr=True)"}, True),
        ({"setup.py": "setup(version='1')"}, False),
        ({"pyproject.toml": "[build-system]\nrequires = 3\n[project]\nversion = [1]\n"}, False),
        ({"pyproject.toml": "project = 3\ntool = []\n"}, False),
        ({"pyproject.toml": "not = [toml"}, False),
        ({}, False),
    ],
)
def test_which_projects_count_tags(files: dict[str, str], counts: bool) -> None:
    assert counts_tags(files) is counts


@pytest.fixture
def line(forge: Any) -> list[str]:
    """Four commits, the second tagged."""
    commits: list[str] = []
    for n in range(4):
        commits.append(forge.commit({"n": str(n)}, *commits[-1:], at=n))
    forge.ref("refs/heads/main", commits[-1])
    return commits


@pytest.mark.parametrize(
    ("tag", "scheme", "version"),
    [
        ("v1.4.0", "", "1.4.1.dev2"),
        ("1.4", "", "1.5.dev2"),
        ("project-2.0.0", "", "2.0.1.dev2"),
        ("2.0.0rc1", "", "2.0.0rc2.dev2"),
        ("1.4.0", 'version_scheme = "post-release"', "1.4.0.post2"),
    ],
)
def test_the_version_after_a_tag_is_counted_as_the_projects_tool_counts(
    tag: str, scheme: str, version: str, forge: Any, line: list[str]
) -> None:
    forge.ref(f"refs/tags/{tag}", line[1])
    files = {"pyproject.toml": f"{SCM}[tool.setuptools_scm]\n{scheme}\n"}
    assert version_at(Git(forge.root), line[3], files, where="x") == version


def test_a_tagged_commit_has_the_tags_version(forge: Any, line: list[str]) -> None:
    forge.ref("refs/tags/v3.1", line[1])
    assert version_at(Git(forge.root), line[1], {}, where="x") == "3.1"


@pytest.mark.parametrize("tag", [None, "release", "nightly-2026x"])
def test_without_a_tag_that_is_a_version_the_task_must_say_it(tag: str | None, forge: Any, line: list[str]) -> None:
    if tag:
        forge.ref(f"refs/tags/{tag}", line[1])
    with pytest.raises(Refused, match="NB_NO_TAG") as refusal:
        version_at(Git(forge.root), line[3], {}, where="x")
    assert "pretend_version" in refusal.value.hint


def test_a_scheme_that_is_not_known_is_not_guessed(forge: Any, line: list[str]) -> None:
    forge.ref("refs/tags/1.0", line[1])
    files = {"pyproject.toml": SCM + '[tool.setuptools_scm]\nversion_scheme = "calver-by-date"\n'}
    with pytest.raises(Refused, match=r"NB_VERSION_SCHEME: x: .*calver-by-date"):
        version_at(Git(forge.root), line[3], files, where="x")
