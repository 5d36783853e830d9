from __future__ import annotations

import base64
import hashlib
import io
import tarfile
from pathlib import Path

import pytest
from attrs import evolve

from nanobench.errors import Refused
from nanobench.model.fields import Digest
from nanobench.model.task import Archive, ArchiveSource, PathRules
from nanobench.sources.archive import ReleasePair
from nanobench.sources.change import split
from nanobench.sources.difference import derive
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.workspace import EPOCH, make_repository


class Registry:
    """Source archives that a registry might hold, by digest."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def publish(self, version: str, files: dict[str, str], links: tuple[str, ...] = ()) -> Archive:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
            for path, content in files.items():
                info = tarfile.TarInfo(path)
                info.size, info.mtime, info.mode = len(content), 1_700_000_000, 0o600
                tar.addfile(info, io.BytesIO(content.encode()))
            for path in links:
                info = tarfile.TarInfo(path)
                info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
                tar.addfile(info)
        data = buffer.getvalue()
        digest = hashlib.sha256(data).hexdigest()
        (self.folder / digest).write_bytes(data)
        purl = f"pkg:pypi/demo@{version}"
        return Archive(purl=purl, file=f"demo-{version}.tar.gz", sha256=digest, size=len(data))

    def blob(self, digest: Digest) -> Path:
        return self.folder / digest.removeprefix("sha256:")


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path)


@pytest.fixture
def pair(registry: Registry) -> ReleasePair:
    base = registry.publish("1.0", {"demo-1.0/demo.py": "old\n", "demo-1.0/vendor/.git": "gitdir: ../x"})
    solution = registry.publish("1.1", {"demo-1.1/demo.py": "new\n", "demo-1.1/tests/test_demo.py": "t\n"})
    return ReleasePair(spec=ArchiveSource(type="archive", base=base, solution=solution), where="task.toml")


def test_the_two_archives_are_asked_for_below_their_project(pair: ReleasePair) -> None:
    base, solution = pair.packages()
    assert (base.purl, base.role, base.path) == ("pkg:pypi/demo@1.0", "python", "demo/demo-1.0.tar.gz")
    assert (solution.digest, solution.size) == (f"sha256:{pair.spec.solution.sha256}", pair.spec.solution.size)


def test_the_trees_are_clean_and_what_was_left_out_is_named(
    pair: ReleasePair, registry: Registry, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    trees = pair.stage(registry.blob, tmp_path / "work")
    assert trees.dropped == ("base: vendor/.git",)
    assert (trees.project, trees.version) == ("demo", "1.0")
    assert (trees.base / "demo.py").read_text() == "old\n"
    assert (trees.solution / "demo.py").stat().st_mode & 0o777 == 0o644
    assert {p.stat().st_mtime for p in trees.base.rglob("*")} == {EPOCH}


def test_a_release_pair_becomes_a_golden_and_a_test_patch(
    pair: ReleasePair, registry: Registry, gitbox: Gitbox, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    trees = pair.stage(registry.blob, tmp_path / "work")
    make_repository(gitbox, trees.base)
    patch = derive(gitbox, repository=trees.base, solution=trees.solution)
    change = split(patch, PathRules(), where="task.toml")
    assert (change.source_files, change.test_files) == (("demo.py",), ("tests/test_demo.py",))
    assert b"-old\n+new\n" in change.golden and b"+t\n" in change.test


def test_a_hostile_archive_is_refused_by_name(pair: ReleasePair, registry: Registry, tmp_path: Path) -> None:
    evil = registry.publish("1.0", {"demo-1.0/a": ""}, links=("demo-1.0/b",))
    hostile = evolve(pair, spec=evolve(pair.spec, base=evil))
    (tmp_path / "work").mkdir()
    with pytest.raises(Refused, match=r"NB_ARCHIVE_LINK: demo-1\.0\.tar\.gz"):
        hostile.stage(registry.blob, tmp_path / "work")


def test_two_folders_at_the_top_are_no_release(pair: ReleasePair, registry: Registry, tmp_path: Path) -> None:
    evil = registry.publish("1.0", {"demo-1.0/a": "", "other/b": ""})
    hostile = evolve(pair, spec=evolve(pair.spec, base=evil))
    (tmp_path / "work").mkdir()
    with pytest.raises(Refused, match="NB_ARCHIVE_TOP"):
        hostile.stage(registry.blob, tmp_path / "work")


@pytest.mark.parametrize("purl", ["pkg:pypi/other@1.1", "pkg:npm/demo@1.1", "pkg:pypi/demo@1.0"])
def test_a_solution_must_be_another_release_of_the_same_project(pair: ReleasePair, purl: str) -> None:
    with pytest.raises(Refused, match=r"NB_SOURCE: task\.toml: source"):
        evolve(pair, spec=evolve(pair.spec, solution=evolve(pair.spec.solution, purl=purl)))


@pytest.mark.parametrize("file", ["demo-1.2.tar.gz", "demo-1.0.1.tar.gz", "demo.tar.gz", "1.0"])
def test_a_file_of_another_version_than_its_purl_is_refused(pair: ReleasePair, file: str) -> None:
    with pytest.raises(Refused, match=r"NB_SOURCE: task\.toml: .* is no archive of version 1\.0"):
        evolve(pair, spec=evolve(pair.spec, base=evolve(pair.spec.base, file=file)))


def test_npm_tarballs_are_asked_for_at_their_registry_by_its_own_integrity_or_by_sha256(
    pair: ReleasePair, registry: Registry, tmp_path: Path
) -> None:
    data = registry.blob(pair.packages()[0].digest).read_bytes()
    digest = hashlib.sha512(data)
    (registry.folder / f"sha512:{digest.hexdigest()}").write_bytes(data)
    integrity = "sha512-" + base64.b64encode(digest.digest()).decode()
    base = Archive(purl="pkg:npm/%40a/demo@1.0", file="demo-1.0.tgz", integrity=integrity, size=len(data))
    solution = evolve(pair.spec.solution, purl="pkg:npm/%40a/demo@1.1", file="demo-1.1.tgz")
    npm = evolve(pair, spec=evolve(pair.spec, base=base, solution=solution))
    first, second = npm.packages()
    assert (first.role, first.path, first.digest) == (
        "npm",
        "@a/demo/-/demo-1.0.tgz",
        f"sha512:{digest.hexdigest()}",
    )
    assert (second.path, second.digest) == ("@a/demo/-/demo-1.1.tgz", f"sha256:{solution.sha256}")
    (tmp_path / "work").mkdir()
    assert (npm.stage(registry.blob, tmp_path / "work").base / "demo.py").read_text() == "old\n"


@pytest.mark.parametrize("pins", [{}, {"sha256": "0" * 64, "integrity": f"sha512-{'A' * 86}=="}])
def test_an_archive_is_pinned_exactly_once(pins: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="either sha256 or integrity"):
        Archive(purl="pkg:npm/demo@1.0", file="demo-1.0.tgz", size=1, **pins)


def test_a_registry_that_is_not_supported_is_refused(pair: ReleasePair) -> None:
    spec = evolve(
        pair.spec,
        base=evolve(pair.spec.base, purl="pkg:deb/demo@1.0"),
        solution=evolve(pair.spec.solution, purl="pkg:deb/demo@1.1"),
    )
    with pytest.raises(Refused, match=r"NB_SOURCE: .*deb"):
        evolve(pair, spec=spec).packages()
