from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.store.files import remove_tree, spread
from nanobench.store.store import Store

Other = Callable[[str], subprocess.Popen[str]]


def _chain(root: Path, depth: int) -> None:
    """Directories deeper than any path can be."""
    folder = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d" * 50, dir_fd=folder)
        inner = os.open("d" * 50, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(os.open("end", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)


def test_scratch_is_a_private_directory_and_gone_afterwards(store: Store) -> None:
    with store.scratch("agent") as first, store.scratch("agent") as second:
        assert first != second
        assert first.parent == store.root / "scratch"
        assert stat.S_IMODE(first.stat().st_mode) == 0o755
        assert os.listdir(first) == []
    assert os.listdir(store.root / "scratch") == []


def test_on_ext4_each_scratch_directory_lies_elsewhere(store: Store) -> None:
    kind = subprocess.run(["stat", "--file-system", "--format=%T", store.root], check=True, capture_output=True)
    if kind.stdout != b"ext2/ext3\n":
        pytest.skip("not on ext4")
    said = subprocess.run(["lsattr", "-d", store.root / "scratch"], check=True, capture_output=True).stdout
    assert b"T" in said.split()[0]
    again = Store(store.root)
    with again.scratch("agent") as place:
        assert place.is_dir()


def test_a_file_system_without_the_flag_does_as_well() -> None:
    spread(Path("/proc/self"))
    spread(Path("/nonexistent"))


def test_scratch_is_removed_whatever_is_in_it(store: Store, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    with pytest.raises(KeyboardInterrupt), store.scratch("agent") as scratch:
        (scratch / "ro" / "deeper").mkdir(parents=True)
        (scratch / "ro" / "file").touch()
        (scratch / "ro" / "link").symlink_to(outside)
        (scratch / "link").symlink_to(outside)
        os.mkfifo(scratch / "pipe")
        _chain(scratch, 300)
        for folder in ("ro/deeper", "ro", "."):
            (scratch / folder).chmod(0)
        raise KeyboardInterrupt
    assert os.listdir(store.root / "scratch") == []
    assert os.listdir(outside) == ["kept"]


def test_removing_tells_what_it_freed(tmp_path: Path) -> None:
    (tmp_path / "t" / "sub").mkdir(parents=True)
    (tmp_path / "t" / "sub" / "file").write_bytes(bytes(range(256)) * 4096)
    (tmp_path / "elsewhere").write_bytes(bytes(range(256)) * 4096)
    (tmp_path / "t" / "kept").hardlink_to(tmp_path / "elsewhere")
    with (tmp_path / "t" / "sub" / "file").open("rb") as file:
        os.fsync(file)  # blocks are given late
    assert remove_tree(tmp_path / "t") >= 1 << 20
    assert os.listdir(tmp_path) == ["elsewhere"]


def test_scratch_that_was_renamed_away_is_no_trouble(store: Store, tmp_path: Path) -> None:
    with store.scratch("agent") as scratch:
        scratch.rename(tmp_path / "moved")
    assert os.listdir(store.root / "scratch") == []


def test_the_scratch_of_a_living_owner_is_left_alone(store: Store, other: Other) -> None:
    other("with store.scratch('agent') as path, store.incoming() as incoming: ready()")
    with store.scratch("own"):
        assert store.leftovers() == store.sweep() == ()
    assert len(os.listdir(store.root / "scratch")) == 3


def test_what_a_killed_owner_left_is_found_and_removed(store: Store, other: Other) -> None:
    process = other(
        "with store.scratch('agent') as path, store.incoming() as incoming:\n"
        "    (path / 'ro').mkdir(); (path / 'ro' / 'file').touch(); (path / 'ro').chmod(0)\n"
        "    incoming.write(b'half')\n"
        "    ready()\n"
    )
    process.kill()
    process.wait()
    left = store.leftovers()
    assert sorted(path.name.split("-")[0] for path in left) == ["agent", "file"]
    assert store.sweep() == left
    assert os.listdir(store.root / "scratch") == []
    assert store.leftovers() == ()


def test_a_directory_or_a_lock_alone_is_left_over(store: Store) -> None:
    (store.root / "scratch" / "agent-1").mkdir()
    (store.root / "scratch" / "agent-2.lock").touch()
    assert [path.name for path in store.leftovers()] == ["agent-1", "agent-2"]
    assert len(store.sweep()) == 2
    assert os.listdir(store.root / "scratch") == []
