from __future__ import annotations

from typing import Any

import pytest

from nanobench.errors import Refused
from nanobench.sources.git_commit import commit_of, parse_commit
from nanobench.sources.git_run import Git


def raw(data: bytes) -> tuple[str, bytes]:
    import hashlib

    return hashlib.sha1(b"commit %d\0" % len(data) + data, usedforsecurity=False).hexdigest(), data


def test_the_date_is_the_committers_own_in_universal_time(forge: Any) -> None:
    tree = forge.files({"a": "1"})
    name = forge.commit(tree, message="subject\n\nbody")
    found = commit_of(Git(forge.root), name, where="x")
    assert (found.tree, found.parents, found.date) == (tree, (), "2026-06-09T10:13:20Z")
    assert found.message == b"subject\n\nbody\n"


def test_bytes_that_do_not_have_the_name_are_refused(forge: Any) -> None:
    with pytest.raises(Refused, match="NB_GIT_COMMIT: x: commit 1111"):
        parse_commit("1" * 40, b"tree " + b"2" * 40 + b"\n", where="x")


@pytest.mark.parametrize("date", ["-1 +0000", "999999999999 +0000", "1e9 +0000", "", "1781390295"])
def test_a_commit_without_a_date_that_can_be_is_refused(date: str) -> None:
    data = f"tree {'2' * 40}\nauthor A <a> 1 +0000\ncommitter C <c> {date}\n\nm\n".encode()
    with pytest.raises(Refused, match="NB_GIT_COMMIT"):
        parse_commit(*raw(data), where="x")


def test_an_object_that_is_no_commit_is_refused(forge: Any) -> None:
    with pytest.raises(Refused, match="NB_GIT_COMMIT"):
        commit_of(Git(forge.root), forge.blob("x"), where="x")
