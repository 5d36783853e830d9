from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import evolve

from nanobench.errors import CannotTell, Refused
from nanobench.harness.closure import assemble, build_closure, closure_key, measure
from nanobench.harness.contract import CONTRACTS, contract_for, contract_of
from nanobench.model.fields import Digest
from nanobench.model.lock import HarnessLock, Package
from nanobench.store.store import Store

Pack = Callable[..., Package]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def pack(store: Store) -> Pack:
    """Put a tarball of name → content (or a ready member) into the store, as the package at ``target``."""

    def make(
        target: str, files: dict[str, bytes | tarfile.TarInfo], *, role: str = "npm", mode: int = 0o644
    ) -> Package:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            for name, content in files.items():
                if isinstance(content, tarfile.TarInfo):
                    tar.addfile(content)
                    continue
                info = tarfile.TarInfo(name)
                info.size, info.mode, info.mtime, info.uid = len(content), mode, 1_700_000_000, 501
                tar.addfile(info, io.BytesIO(content))
        data = gzip.compress(out.getvalue())
        digest = Digest(f"sha512:{hashlib.sha512(data).hexdigest()}")
        with store.incoming(digest) as incoming:
            incoming.write(data)
        return Package(
            purl=f"pkg:npm/{target.rpartition('/')[2]}@1.0.0",
            role=role,  # type: ignore[arg-type]
            path="x/-/x.tgz",
            digest=digest,
            size=len(data),
            target=target,
        )

    return make


@pytest.fixture
def small(pack: Pack) -> tuple[Package, ...]:
    return (
        pack("node_modules/b/node_modules/a", {"package/inner.js": b"2"}),
        pack("node_modules/b", {"package/index.js": b"1", "package/lib/x.js": b"x"}),
        pack("node", {"package/bin/node": b"#!"}, role="node", mode=0o755),
    )


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def test_the_tree_is_the_same_for_every_umask_and_order(
    store: Store, small: tuple[Package, ...], tmp_path: Path, umask: Callable[[int], int]
) -> None:
    found = []
    for number, (mask, packages) in enumerate([(0o022, small), (0o077, small[::-1]), (0o000, small)]):
        tree = tmp_path / f"tree{number}"
        tree.mkdir()
        umask(mask)
        assemble(packages, store, tree)
        found.append(measure(tree))
        modes = {path.name: path.stat().st_mode & 0o777 for path in tree.rglob("*")}
        assert modes == {
            **dict.fromkeys(["app", "node_modules", "a", "b", "lib", "node", "bin"], 0o755),
            **dict.fromkeys(["inner.js", "index.js", "x.js"], 0o644),
        }
        assert {path.stat().st_mtime for path in tree.rglob("*")} == {0}
    assert found[0] == found[1] == found[2]


def test_packages_without_a_target_are_not_in_the_tree(
    store: Store, small: tuple[Package, ...], tmp_path: Path
) -> None:
    (tmp_path / "tree").mkdir()
    npm = evolve(small[0], purl="pkg:npm/npm@11.0.0", role="installer", target=None)
    assemble([npm], store, tmp_path / "tree")
    assert list((tmp_path / "tree").iterdir()) == []


def test_a_tarball_that_holds_anothers_place_is_refused(store: Store, pack: Pack, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    packages = (
        pack("node_modules/a", {"package/node_modules/b/index.js": b"mine"}),
        pack("node_modules/a/node_modules/b", {"package/index.js": b"yours"}),
    )
    with pytest.raises(Refused) as caught:
        assemble(packages, store, tmp_path / "tree")
    assert caught.value.code == "NB_CLOSURE_CLASH"
    assert caught.value.where == "pkg:npm/b@1.0.0"


def link(name: str, to: str, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, to
    return info


@pytest.mark.parametrize(
    ("member", "code"),
    [
        (tarfile.TarInfo("package/../../../../evil"), "NB_ARCHIVE_PATH"),
        (tarfile.TarInfo("/evil"), "NB_ARCHIVE_PATH"),
        (link("package/x", "/etc/passwd", tarfile.SYMTYPE), "NB_ARCHIVE_LINK"),
        (link("package/x", "package/index.js", tarfile.LNKTYPE), "NB_ARCHIVE_LINK"),
        (link("package/x", "", tarfile.CHRTYPE), "NB_ARCHIVE_KIND"),
        (link("package/x", "", tarfile.FIFOTYPE), "NB_ARCHIVE_KIND"),
        (tarfile.TarInfo("package/index.js"), "NB_ARCHIVE_TWICE"),
    ],
)
def test_a_hostile_tarball_is_refused_and_named(
    store: Store, pack: Pack, tmp_path: Path, member: tarfile.TarInfo, code: str
) -> None:
    (tmp_path / "tree").mkdir()
    package = pack("node_modules/evil", {"package/index.js": b"", "bad": member})
    with pytest.raises(Refused) as caught:
        assemble([package], store, tmp_path / "tree")
    assert caught.value.code == code
    assert "pkg:npm/evil@1.0.0" in caught.value.where


@pytest.fixture
def small_lock(harness_lock: HarnessLock, store: Store, small: tuple[Package, ...], tmp_path: Path) -> HarnessLock:
    (tmp_path / "measured").mkdir()
    assemble(small, store, tmp_path / "measured")
    return evolve(harness_lock, package=small, closure=measure(tmp_path / "measured").diff_id)


def test_a_closure_is_built_once_from_the_lock(small_lock: HarnessLock, store: Store) -> None:
    tree = build_closure(small_lock, store)
    assert (tree / "app/node_modules/b/node_modules/a/inner.js").read_bytes() == b"2"
    assert build_closure(small_lock, store) == tree == store.tree(closure_key(small_lock))


def test_a_closure_that_is_not_the_locked_one_is_refused_and_not_kept(small_lock: HarnessLock, store: Store) -> None:
    other = evolve(small_lock, closure=Digest(f"sha256:{'0' * 64}"))
    with pytest.raises(Refused) as caught:
        build_closure(other, store)
    assert caught.value.code == "NB_CLOSURE"
    assert store.tree(closure_key(other)) is None


def test_a_missing_tarball_is_named_not_fetched(harness_lock: HarnessLock, store: Store) -> None:
    with pytest.raises(CannotTell) as caught:
        build_closure(harness_lock, store)
    assert caught.value.code == "NB_BLOB_MISSING"


def test_the_committed_lock_is_of_this_programs_report_contract(harness_lock: HarnessLock) -> None:
    assert contract_of(harness_lock).version == harness_lock.nanocoder
    with pytest.raises(Refused) as caught:
        contract_of(evolve(harness_lock, report_schema_sha256="0" * 64))
    assert caught.value.code == "NB_REPORT_SCHEMA"
    assert CONTRACTS[-1].sha256 in str(caught.value)


def test_a_release_is_not_read_by_the_contract_of_another(harness_lock: HarnessLock) -> None:
    with pytest.raises(Refused) as caught:
        contract_of(evolve(harness_lock, report_schema_sha256=CONTRACTS[0].sha256))
    assert caught.value.code == "NB_HARNESS_VERSION"


@pytest.mark.parametrize("version", ["1.28.1", "1.29.1", "1.30.0-beta.1", "1.31.0", "", "x"])
def test_a_release_without_a_known_report_is_refused(version: str) -> None:
    with pytest.raises(Refused) as caught:
        contract_for(version, build=False)
    assert caught.value.code == "NB_HARNESS_VERSION"


@pytest.mark.parametrize(
    ("version", "read_by"),
    [
        ("1.29.0", "1.29.0"),
        ("1.29.7", "1.29.0"),
        ("1.30.0-beta.1", "1.30.0"),
        ("1.30.0", "1.30.0"),
        ("1.31.0", "1.30.0"),
        ("2.0.0", "1.30.0"),
    ],
)
def test_a_build_is_read_by_the_newest_contract_that_is_not_newer(version: str, read_by: str) -> None:
    assert contract_for(version, build=True).version == read_by


def test_a_build_older_than_every_contract_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        contract_for("1.28.9", build=True)
    assert caught.value.code == "NB_HARNESS_VERSION"


def test_the_committed_lock_names_no_host_and_pins_every_file(harness_lock: HarnessLock) -> None:
    assert all(package.digest.startswith("sha512:") and package.size > 0 for package in harness_lock.package)
    assert not any("://" in package.path for package in harness_lock.package)
    assert harness_lock.warning == ()
