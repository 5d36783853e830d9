from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.sources.hunks import Hunk, hunks_of, with_hunks
from nanobench.sources.patch import Section, sections

BASE = b"".join(b"line %d\n" % n for n in range(1, 41))
LINES = st.lists(st.sampled_from([b"a", b"b", b"", b"c d", b"\xff"]), max_size=30)


def git_patch(folder: Path, before: bytes, after: bytes) -> bytes:
    """As the image's git writes it, of one file."""
    folder.mkdir(exist_ok=True)
    run = ["git", "-C", str(folder)]
    subprocess.run([*run, "init", "-q"], check=True)
    for content in (before, after):
        (folder / "f.py").write_bytes(content)
        subprocess.run([*run, "add", "f.py"], check=True)
        who = ["-c", "user.name=x", "-c", "user.email=x@x"]
        subprocess.run([*run, *who, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    shown = ["diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "HEAD~1", "HEAD"]
    return subprocess.run([*run, *shown], check=True, capture_output=True).stdout


def changed(*replaced: tuple[int, bytes]) -> bytes:
    lines = BASE.splitlines(keepends=True)
    for number, text in replaced:
        lines[number - 1] = text
    return b"".join(lines)


def test_the_added_lines_have_their_numbers_in_the_new_file(tmp_path: Path) -> None:
    patch = git_patch(tmp_path, BASE, changed((3, b"three\nand a half\n"), (30, b"thirty\n")))
    (section,) = sections(patch)
    found = [(number, text) for hunk in hunks_of(section) for _, number, text in hunk.added()]
    assert found == [(3, b"three"), (4, b"and a half"), (31, b"thirty")]


@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_patch_without_one_hunk_is_what_git_writes_of_the_file_without_it(tmp_path: Path, left: int) -> None:
    edits = [(3, b"three\nand a half\n"), (20, b""), (38, b"thirty-eight\n")]
    (section,) = sections(git_patch(tmp_path / "all", BASE, changed(*edits)))
    hunks = hunks_of(section)
    assert len(hunks) == 3
    kept = [hunk for at, hunk in enumerate(hunks) if at != left]
    expected = git_patch(tmp_path / "some", BASE, changed(*(e for at, e in enumerate(edits) if at != left)))
    assert with_hunks(section, kept, BASE) == expected


def test_a_patch_with_a_line_changed_is_what_git_writes(tmp_path: Path) -> None:
    (section,) = sections(git_patch(tmp_path / "one", BASE, changed((3, b"return 1"), (4, b"end"))))
    (hunk,) = hunks_of(section)
    (at, _, text), *_ = hunk.added()
    mutant = hunk.with_line(at, text.replace(b"1", b"2"))
    expected = git_patch(tmp_path / "other", BASE, changed((3, b"return 2"), (4, b"end")))
    assert with_hunks(section, [mutant], BASE) == expected


@pytest.mark.parametrize(
    ("before", "after"), [(b"", b"new\nfile"), (b"old\n", b"old"), (b"old", b"old\n"), (b"x", b"")]
)
def test_files_that_begin_or_end_with_nothing(tmp_path: Path, before: bytes, after: bytes) -> None:
    (section,) = sections(git_patch(tmp_path, before, after))
    assert with_hunks(section, hunks_of(section), before) == section.data


def test_without_any_hunk_nothing_is_left(tmp_path: Path) -> None:
    (section,) = sections(git_patch(tmp_path, BASE, changed((3, b"x\n"))))
    assert with_hunks(section, [], BASE) == b""


@given(LINES, LINES)
def test_any_hunk_reads_back_as_it_was_written(old: list[bytes], new: list[bytes]) -> None:
    lines = tuple(b"-" + line + b"\n" for line in old) + tuple(b"+" + line + b"\n" for line in new)
    if not lines:
        return
    hunk = Hunk(old=1 if old else 0, new=1 if new else 0, tail=b" def f", lines=lines)
    head = b"diff --git a/f b/f\nindex " + b"0" * 40 + b".." + b"1" * 40 + b" 100644\n--- a/f\n+++ b/f\n"
    base = b"".join(line + b"\n" for line in old)
    seed = Section(path=b"f", change="modify", data=head + b"@@ -0,0 +0,0 @@\n")
    data = with_hunks(seed, [hunk], base)
    (section,) = sections(data)
    assert hunks_of(section) == (hunk,)
    assert re.search(rb"index 0{40}\.\.[0-9a-f]{40} 100644", data)
