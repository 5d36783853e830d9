"""A section made of two contents is one that git takes, and makes the one of the other."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.sources.patch import sections
from nanobench.sources.variants import rewritten, spread

TEXTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"\\ x\n", b"\xff\r\n"]), max_size=20).map(b"".join)


def git(root: Path, *arguments: str, given: bytes | None = None) -> bytes:
    return subprocess.run(["git", *arguments], cwd=root, input=given, capture_output=True, check=True).stdout


@settings(max_examples=25)
@given(before=st.none() | TEXTS, after=TEXTS, tail=st.sampled_from([b"", b"end"]))
def test_git_makes_the_one_of_the_other(
    tmp_path_factory: pytest.TempPathFactory, before: bytes | None, after: bytes, tail: bytes
) -> None:
    root = tmp_path_factory.mktemp("rewritten")
    git(root, "init", "-q")
    after += tail
    if before == after:
        return
    if before is not None:
        (root / "a b.txt").write_bytes(before)
    section = rewritten(b"a b.txt", before, after)
    assert sections(section.data) == (section,)
    git(root, "apply", "--whitespace=nowarn", "-", given=section.data)
    assert (root / "a b.txt").read_bytes() == after


def test_a_few_of_many_are_the_same_few_everywhere() -> None:
    assert spread(range(10), 4) == [0, 3, 6, 9]
    assert spread([1, 2], 4) == [1, 2]
