from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.errors import MachineFailure, Refused
from nanobench.store import seals
from nanobench.store.store import Store

Other = Callable[[str], subprocess.Popen[str]]


def _fill(tree: Path) -> None:
    (tree / "sub").mkdir()
    (tree / "sub" / "file").write_bytes(b"12345")
    (tree / "tool").write_bytes(b"#!/bin/sh\n")
    (tree / "link").symlink_to("tool")
    Path(os.fsdecode(os.fsencode(tree) + b"/\xff")).write_bytes(b"")


@pytest.fixture
def tree(store: Store) -> Path:
    return store.make_tree("key", _fill)


def test_a_tree_is_made_once(store: Store, tree: Path) -> None:
    assert store.make_tree("key", lambda _: pytest.fail("made again")) == store.tree("key") == tree
    assert (tree / "sub" / "file").read_bytes() == b"12345"
    assert store.tree("other") is None


def test_a_tree_whose_making_fails_is_not_there(store: Store) -> None:
    def fail(tree: Path) -> None:
        _fill(tree)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.make_tree("key", fail)
    assert store.tree("key") is None
    assert os.listdir(store.root / "scratch") == os.listdir(store.root / "trees") == []


def _change_byte(tree: Path) -> None:
    (tree / "sub" / "file").write_bytes(b"12X45")


def _change_byte_and_times(tree: Path) -> None:
    status = (tree / "sub" / "file").stat()
    (tree / "sub" / "file").write_bytes(b"12X45")
    os.utime(tree / "sub" / "file", ns=(status.st_atime_ns, status.st_mtime_ns))


def _replace(tree: Path) -> None:
    (tree / "new").write_bytes(b"12X45")
    (tree / "new").replace(tree / "sub" / "file")


def _relink(tree: Path) -> None:
    (tree / "link").unlink()
    (tree / "link").symlink_to("toil")


def _to_folder(tree: Path) -> None:
    (tree / "tool").unlink()
    (tree / "tool").mkdir()


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (_change_byte, "sub/file"),
        (_change_byte_and_times, "sub/file"),
        (_replace, "sub/file"),
        (_relink, "link"),
        (_to_folder, "tool"),
        (lambda tree: (tree / "sub" / "file").unlink(), "sub/file"),
        (lambda tree: (tree / "sub" / "more").touch(), "sub/more"),
        (lambda tree: (tree / "tool").chmod(0o711), "tool"),
        (lambda tree: (tree / "sub").chmod(0o711), "sub"),
        (lambda tree: tree.chmod(0o700), "."),
        (lambda tree: Path(os.fsdecode(os.fsencode(tree) + b"/\xff")).write_bytes(b"x"), "\\xff"),
    ],
)
def test_a_changed_tree_is_refused_by_path_and_made_anew(
    change: Callable[[Path], None], path: str, store: Store, tree: Path
) -> None:
    change(tree)
    with pytest.raises(Refused) as refused:
        store.tree("key")
    assert (refused.value.code, refused.value.where) == ("NB_TREE_CHANGED", f"{tree}: {path}")
    assert store.tree("key") is None
    store.make_tree("key", _fill)
    assert store.tree("key") == tree


def test_a_tree_that_only_looks_different_is_compared_once_and_sealed_again(
    store: Store, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that was copied to another disk has other inodes and times, but the same trees."""
    monkeypatch.setattr(seals, "TICK_NS", -(10**9))
    shutil.copytree(tree, tree.with_name("copy"), symlinks=True)
    shutil.rmtree(tree)
    tree.with_name("copy").rename(tree)
    assert store.tree("key") == tree
    monkeypatch.setattr(seals, "tree_contents", lambda _: pytest.fail("compared again"))
    assert store.tree("key") == tree


def test_a_tree_that_changed_just_now_is_not_trusted_by_its_looks(
    store: Store, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared, compare = [], seals.tree_contents

    def spied(root: Path) -> seals.Contents:
        compared.append(root)
        return compare(root)

    monkeypatch.setattr(seals, "TICK_NS", 3600 * 10**9)
    monkeypatch.setattr(seals, "tree_contents", spied)
    os.utime(tree / "tool", (1, 1))
    assert store.tree("key") == store.tree("key") == tree
    assert len(compared) == 2


def test_a_tree_with_a_changed_list_of_contents_is_refused(store: Store, tree: Path) -> None:
    contents = tree.with_name("key.contents")
    data = contents.read_bytes()
    contents.unlink()
    contents.write_bytes(data.replace(b"tool", b"toil"))
    os.utime(tree / "tool", (1, 1))
    with pytest.raises(Refused, match="not as it was published"):
        store.tree("key")


def test_a_tree_that_was_never_sealed_is_made_anew(store: Store, tree: Path) -> None:
    tree.with_name("key.seal").unlink()
    (tree / "half").touch()
    assert store.tree("key") is None
    store.make_tree("key", _fill)
    assert not (tree / "half").exists()
    assert store.tree("key") == tree


@pytest.mark.parametrize("key", ["", "../x", "a/b", ".x", "a.seal", "A", "x" * 129])
def test_a_key_that_could_be_another_path_is_an_error(key: str, store: Store) -> None:
    for ask in (store.tree, store.recall):
        with pytest.raises(ValueError, match="not a key"):
            ask(key)


def test_the_other_process_is_waited_for_and_that_is_said_at_once(
    store: Store, said: list[str], other: Other
) -> None:
    other("store.make_tree('key', lambda tree: ready())")
    with pytest.raises(MachineFailure) as failure:
        store.make_tree("key", _fill)
    assert failure.value.code == "NB_LOCK_TIMEOUT"
    assert said == ["waiting for another nanobench that is making tree-key"]


def test_what_the_other_process_made_is_not_made_again(store: Store, said: list[str], other: Other) -> None:
    process = other("store.make_tree('key', lambda tree: (ready(), (tree / 'theirs').touch()))")

    def tell(message: str) -> None:
        said.append(message)
        assert process.stdin is not None
        process.stdin.close()

    store.say, store.patience = tell, 60
    tree = store.make_tree("key", lambda _: pytest.fail("made again"))
    assert os.listdir(tree) == ["theirs"]
    assert len(said) == 1
    assert process.wait() == 0


def test_a_builder_that_was_killed_leaves_no_tree_and_no_lock(store: Store, other: Other) -> None:
    process = other("store.make_tree('key', lambda tree: ((tree / 'half').touch(), ready()))")
    process.kill()
    process.wait()
    assert store.tree("key") is None
    assert len(store.sweep()) == 1
    assert sorted(os.listdir(store.make_tree("key", _fill)))[0] == "link"


def test_a_recipe_is_remembered(store: Store) -> None:
    recipe = "ab" * 32
    assert store.recall(recipe) is None
    store.remember(recipe, {"diff_id": "x", "size": 3})
    assert store.recall(recipe) == {"diff_id": "x", "size": 3}


def test_a_changed_recipe_is_forgotten(store: Store) -> None:
    recipe = "ab" * 32
    store.remember(recipe, {"size": 3})
    path = store.root / "recipes" / "ab" / recipe
    data = path.read_bytes()
    for changed in (data.replace(b"3", b"4"), data[:-1], b"", b"[]", b"{}", b'{"output":3,"sha256":"x"}'):
        path.unlink()
        path.write_bytes(changed)
        assert store.recall(recipe) is None
