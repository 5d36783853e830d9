from __future__ import annotations

import hashlib
import io
import random
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nanobench.archives.layer import write_layer
from nanobench.archives.unpack import unpack_layer
from nanobench.errors import Refused
from nanobench.sources.clean import TreeBounds, clean
from nanobench.sources.git_run import Git
from nanobench.sources.git_tree import Leaf, entries_from, leaves_of, without
from nanobench.sources.workspace import EPOCH


def packed(git: Git, leaves: Sequence[Leaf], **more: Any) -> bytes:
    out = io.BytesIO()
    with entries_from(git, leaves, epoch=EPOCH, where="base", **more) as entries:
        write_layer(entries, out, epoch=EPOCH)
    return out.getvalue()


@pytest.fixture
def git(forge: Any) -> Git:
    return Git(forge.root)


def test_files_links_and_modes_are_kept_as_they_stand_in_the_database(forge: Any, git: Git) -> None:
    tree = forge.files({"a/b.txt": "text\r\n", "run.sh*": "#!/bin/sh\n", "out@": "/etc/passwd", "empty": ""})
    leaves = leaves_of(git, tree, where="base")
    assert [(leaf.path, leaf.kind, leaf.mode) for leaf in leaves] == [
        ("a/b.txt", "file", 0o644),
        ("empty", "file", 0o644),
        ("out", "symlink", 0o777),
        ("run.sh", "file", 0o755),
    ]
    members = tarfile.open(fileobj=io.BytesIO(packed(git, leaves)))  # noqa: SIM115
    assert [(m.name, m.mode, m.mtime, m.linkname) for m in members] == [
        ("a", 0o755, EPOCH, ""),
        ("a/b.txt", 0o644, EPOCH, ""),
        ("empty", 0o644, EPOCH, ""),
        ("out", 0o777, EPOCH, "/etc/passwd"),
        ("run.sh", 0o755, EPOCH, ""),
    ]
    content = members.extractfile("a/b.txt")
    assert content is not None and content.read() == b"text\r\n"


def test_the_tar_does_not_depend_on_the_order_of_reading(forge: Any, git: Git) -> None:
    tree = forge.files({f"d{n % 7}/f{n}": "x" * n * 1000 for n in range(60)} | {"l@": "d1"})
    leaves = list(leaves_of(git, tree, where="base"))
    first = hashlib.sha256(packed(git, leaves)).digest()
    random.Random(4).shuffle(leaves)
    assert hashlib.sha256(packed(git, leaves)).digest() == first


def test_attributes_filters_and_substitutions_change_nothing(forge: Any, git: Git, git_home: Path) -> None:
    git_home.write_text(f'[filter "evil"]\n\tsmudge = touch {git_home.parent}/sentinel\n\trequired = true\n')
    rules = "* ident export-subst filter=evil eol=crlf working-tree-encoding=UTF-16\nhidden export-ignore\n"
    files = {
        ".gitattributes": rules,
        "hidden": "here\n",
        "version": "$Format:%H$ $Id$\n",
    }
    members = tarfile.open(fileobj=io.BytesIO(packed(git, leaves_of(git, forge.files(files), where="base"))))  # noqa: SIM115
    assert {m.name: members.extractfile(m).read().decode() for m in members} == files  # type: ignore[union-attr]
    assert not (git_home.parent / "sentinel").exists()


@pytest.mark.parametrize(
    "name",
    [".git", ".GIT", ".gIt", "..", ".", "a/../../b", "/abs", "a//b", "bell\a", "line\nbreak", "x" * 300, b"\x01"],
)
def test_a_name_that_no_tree_of_ours_may_hold_is_refused(name: str | bytes, forge: Any, git: Git) -> None:
    blob = forge.blob("evil")
    for tree in (forge.tree(("100644", name, blob)), forge.tree(("40000", name, forge.files({"hooks": "evil"})))):
        with pytest.raises(Refused, match=r"NB_GIT_TREE: base: "):
            leaves_of(git, tree, where="base")


@pytest.mark.parametrize("mode", ["160001", "0", "10644", "140000"])
def test_an_entry_of_no_known_mode_is_refused_or_read_as_git_reads_it(mode: str, forge: Any, git: Git) -> None:
    tree = forge.tree((mode, "odd", forge.blob("x")))
    try:
        assert {leaf.mode for leaf in leaves_of(git, tree, where="base")} <= {0o644, 0o755, 0}
    except Refused as refusal:
        assert refusal.code in ("NB_GIT", "NB_GIT_TREE")


def test_a_path_that_is_there_twice_is_refused(forge: Any, git: Git) -> None:
    blob, below = forge.blob("x"), forge.files({"f": "y"})
    for entries in (
        [("100644", "a", blob), ("100644", "a", blob)],
        [("120000", "a", blob), ("40000", "a", below)],
        [("100644", "a/f", blob), ("40000", "a", below)],
    ):
        with pytest.raises(Refused, match=r"NB_LAYER_(TWICE|PARENT)"):
            packed(git, leaves_of(git, forge.tree(*entries), where="base"))


def test_names_that_look_like_options_and_twins_in_case_are_only_names(forge: Any, git: Git, tmp_path: Path) -> None:
    files = {
        "-x": "1",
        "--upload-pack=touch sentinel": "2",
        "README": "3",
        "readme": "4",
        "a b\tc".replace("\t", "é"): "5",
    }
    layer = tmp_path / "layer"
    layer.write_bytes(packed(git, leaves_of(git, forge.files(files), where="base")))
    (tmp_path / "out").mkdir()
    unpack_layer(layer, tmp_path / "out")
    assert {p.name: p.read_text() for p in (tmp_path / "out").iterdir()} == files


def test_a_link_out_of_the_tree_stays_a_link_and_is_not_followed(forge: Any, git: Git, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    (outside / "file").touch(mode=0o600)
    layer = tmp_path / "layer"
    tree = forge.files({"dir@": str(outside), "up@": "../../..", "loop@": "loop"})
    layer.write_bytes(packed(git, leaves_of(git, tree, where="base")))
    (tmp_path / "out").mkdir()
    unpack_layer(layer, tmp_path / "out")
    clean(tmp_path / "out", where="base", mtime=EPOCH)
    assert (tmp_path / "out/dir").is_symlink() and (tmp_path / "out/dir").readlink() == outside
    assert (outside.stat().st_mode & 0o777, (outside / "file").stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_tree_that_unfolds_to_billions_of_paths_is_refused_soon(forge: Any, git: Git) -> None:
    tree = forge.files({"f": "x"})
    for _ in range(12):
        tree = forge.tree(*(("40000", f"{n:02}", tree) for n in range(10)))
    with pytest.raises(Refused, match="NB_GIT_BOUND: base: more than 500 entries"):
        leaves_of(git, tree, where="base", bounds=TreeBounds(entries=500))


def test_a_tree_that_is_deeper_than_a_path_may_be_is_refused(forge: Any, git: Git) -> None:
    tree = forge.files({"f": "x"})
    for _ in range(150):
        tree = forge.tree(("40000", "d" * 40, tree))
    with pytest.raises(Refused, match="NB_GIT_TREE: base: "):
        leaves_of(git, tree, where="base")


@pytest.mark.parametrize("bounds", [TreeBounds(file_bytes=99), TreeBounds(bytes=150)])
def test_a_file_or_tree_over_its_bound_is_refused_before_it_is_read(bounds: TreeBounds, forge: Any, git: Git) -> None:
    leaves = leaves_of(git, forge.files({"a": "x" * 100, "b": "x" * 100}), where="base")
    with pytest.raises(Refused, match="NB_GIT_BOUND: base"):
        packed(git, leaves, bounds=bounds)


def test_an_object_that_is_no_blob_is_refused(forge: Any, git: Git) -> None:
    leaves = leaves_of(git, forge.tree(("100644", "a", forge.files({"f": "x"}))), where="base")
    with pytest.raises(Refused, match=r"NB_GIT_TREE: base: a: .* is tree, not a blob"):
        packed(git, leaves)


def test_what_a_task_leaves_out_is_told_apart_by_globs(forge: Any, git: Git) -> None:
    leaves = leaves_of(git, forge.files({"data/big.bin": "1", "src/a.py": "2", "data/small.txt": "3"}), where="base")
    kept, absent = without(leaves, ["*.bin", "/nothing"])
    assert [leaf.path for leaf in kept] == ["data/small.txt", "src/a.py"]
    assert [leaf.path for leaf in absent] == ["data/big.bin"]
