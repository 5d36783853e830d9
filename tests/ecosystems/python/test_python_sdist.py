from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.ecosystems.py_sdist import Said, read_sdist
from nanobench.errors import Refused

Make = Callable[..., bytes]
PKG_INFO = b"Metadata-Version: 2.1\nName: a\nVersion: 1\n"


def read(tmp_path: Path, data: bytes) -> Said:
    archive, dest = tmp_path / "a-1.tar.gz", tmp_path / "out"
    archive.write_bytes(data)
    dest.mkdir()
    return read_sdist(archive, dest, where="a-1.tar.gz")


def test_dependencies_stand_in_the_metadata(tmp_path: Path, sdist: Make) -> None:
    said = read(tmp_path, sdist("a", "1", {"PKG-INFO": PKG_INFO + b"Requires-Dist: b>=1\nRequires-Dist: c\n"}))
    assert said.requires_dist == ("b>=1", "c")


def test_old_metadata_has_them_beside_it_extras_are_not_taken(tmp_path: Path, sdist: Make) -> None:
    listed = b'b>=1\n\n[dev]\npytest\n\n[:python_version < "3"]\nold\n'
    said = read(tmp_path, sdist("a", "1", {"PKG-INFO": PKG_INFO, "a.egg-info/requires.txt": listed}))
    assert said.requires_dist == ("b>=1", 'old; python_version < "3"')


def test_what_building_needs_is_what_the_project_says_else_setuptools(tmp_path: Path, sdist: Make) -> None:
    project = b'[build-system]\nrequires = ["flit_core >=3"]\n'
    assert read(tmp_path, sdist("a", "1", {"pyproject.toml": project})).build_requires == ("flit_core >=3",)
    other = tmp_path / "other"
    other.mkdir()
    assert read(other, sdist("a", "1", {"setup.py": b""})).build_requires == ("setuptools>=40.8.0",)


@pytest.mark.parametrize("project", [b"[build-system", b"build-system = 1", b"[build-system]\nrequires = 1"])
def test_a_broken_project_file_is_refused_by_name(tmp_path: Path, sdist: Make, project: bytes) -> None:
    with pytest.raises(Refused) as error:
        read(tmp_path, sdist("a", "1", {"pyproject.toml": project}))
    assert (error.value.code, error.value.where) == ("NB_SDIST_METADATA", "a-1.tar.gz")


def test_a_member_outside_of_the_archive_is_refused(tmp_path: Path, sdist: Make) -> None:
    with pytest.raises(Refused):
        read(tmp_path, sdist("a", "1", {"../../evil": b""}))
    assert not (tmp_path.parent / "evil").exists()
