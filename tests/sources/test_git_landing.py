from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import CannotTell, Refused
from nanobench.model.task import GitSource
from nanobench.sources.git_landing import Landing, landing_of, style_of
from nanobench.sources.git_remote import Remote

A = {"src/a.py": "one\ntwo\nthree\nfour\nfive\nsix\nseven\n", "b": "b\n"}
"""The project when the pull request was opened."""

B = {**A, "src/a.py": A["src/a.py"].replace("six", "SIX"), "new": "new\n"}
"""And with the pull request."""

OTHER = {"c": "c\n"}
"""What the main line got meanwhile."""


@pytest.fixture
def root(forge: Any) -> str:
    base: str = forge.commit(A, message="start")
    forge.ref("refs/heads/main", base)
    return base


def find(forge: Any, tmp_path: Path, **spec: Any) -> Landing:
    source = GitSource(type="git", url=forge.url, **spec)
    return landing_of(source, Remote(url=forge.url, where="task.toml", say=lambda _: None), tmp_path / "work")


@pytest.mark.parametrize(
    ("message", "style"),
    [
        ("Fix it (#7)\n", 0),
        ("Merge pull request #7 from them/branch\n\nFix it\n", 1),
        ("Fix it (#7) again\n", 2),
        ("Fix it\n\nCloses #7\n", 3),
        ("Fix it\n\nhttps://host/o/r/pull/7 from them\n", 3),
        ("Fix it (#77)\n", None),
        ("Fix it #70, 7\n", None),
        ("", None),
    ],
)
def test_a_message_names_its_pull_request_in_four_styles(message: str, style: int | None) -> None:
    assert style_of(message.encode(), 7) == style


def test_a_merge_is_proven_by_its_second_parent_whatever_its_message_says(
    forge: Any, root: str, tmp_path: Path
) -> None:
    head = forge.commit(B, root, message="work")
    main = forge.commit(A | OTHER, root, message="meanwhile")
    merge = forge.commit(B | OTHER, main, head, message="land it")
    forge.ref("refs/heads/main", forge.commit(B | OTHER | {"d": ""}, merge, message="later, mentions #7"))
    forge.ref("refs/pull/7/head", head)
    assert find(forge, tmp_path, pull_request=7) == Landing(merge=merge, base=main, identity="merge")


@pytest.mark.parametrize(
    "message",
    ["Do it (#7)", "Merge pull request #7 from x/y", "Do it (#7) [x]", "Do it\n\nPR-URL: https://h/o/r/pull/7"],
)
def test_a_squash_is_proven_by_the_same_change_although_the_main_line_moved(
    message: str, forge: Any, root: str, tmp_path: Path
) -> None:
    first = forge.commit(A | {"new": "draft\n"}, root, message="wip")
    head = forge.commit(B, first, message="fix review")
    main = forge.commit(A | OTHER, root, message="meanwhile (#6)")
    squash = forge.commit(B | OTHER, main, message=message)
    forge.ref("refs/heads/main", squash)
    forge.ref("refs/pull/7/head", head)
    assert find(forge, tmp_path, pull_request=7) == Landing(merge=squash, base=main, identity="squash")


def test_a_rebase_is_proven_commit_by_commit_and_reaches_back_to_before_the_first(
    forge: Any, root: str, tmp_path: Path
) -> None:
    first = forge.commit(A | {"new": "new\n"}, root, message="part one", author="Them")
    head = forge.commit(B, first, message="part two", author="Them")
    main = forge.commit(A | OTHER, root, message="meanwhile")
    again = forge.commit(A | {"new": "new\n"} | OTHER, main, message="part one", author="Them", at=5)
    merge = forge.commit(B | OTHER, again, message="part two", author="Them", at=6)
    forge.ref("refs/heads/main", forge.commit(B | OTHER | {"e": ""}, merge, message="later"))
    forge.ref("refs/pull/7/head", head)
    assert find(forge, tmp_path, pull_request=7) == Landing(merge=merge, base=main, identity="rebase")


def test_the_first_landing_counts_when_it_was_reverted_and_landed_again(
    forge: Any, root: str, tmp_path: Path
) -> None:
    head = forge.commit(B, root, message="work")
    squash = forge.commit(B, root, message="Do it (#7)")
    reverted = forge.commit(A, squash, message="Revert it (#8)")
    forge.ref("refs/heads/main", forge.commit(B, reverted, message="Do it (#7)", at=9))
    forge.ref("refs/pull/7/head", head)
    assert find(forge, tmp_path, pull_request=7).merge == squash


def test_a_commit_that_only_claims_to_be_the_merge_is_refused_by_name(forge: Any, root: str, tmp_path: Path) -> None:
    forge.ref("refs/heads/main", forge.commit(A | OTHER, root, message="Do it (#7)"))
    forge.ref("refs/pull/7/head", forge.commit(B, root, message="work"))
    with pytest.raises(Refused, match=r"NB_GIT_IDENTITY: task\.toml: source\.pull_request") as refusal:
        find(forge, tmp_path, pull_request=7)
    assert any("Do it (#7)" in line for line in refusal.value.details)


def test_a_pull_request_that_never_landed_is_refused(forge: Any, root: str, tmp_path: Path) -> None:
    forge.ref("refs/pull/7/head", forge.commit(B, root, message="work"))
    with pytest.raises(Refused, match="NB_GIT_IDENTITY"):
        find(forge, tmp_path, pull_request=7)


def test_without_its_ref_a_pull_request_alone_cannot_be_told(forge: Any, root: str, tmp_path: Path) -> None:
    with pytest.raises(CannotTell) as error:
        find(forge, tmp_path, pull_request=7)
    assert error.value.details == ("missing: refs/pull/7/head",)


# A task that names the merge


@pytest.fixture
def squash(forge: Any, root: str) -> str:
    made: str = forge.commit(B, root, message="Do it (#7)")
    forge.ref("refs/heads/main", made)
    return made


def test_a_stated_merge_is_taken_at_its_word_and_its_first_parent_is_the_base(
    forge: Any, root: str, squash: str, tmp_path: Path
) -> None:
    assert find(forge, tmp_path, merge_commit=squash) == Landing(merge=squash, base=root, identity="stated")


def test_a_stated_merge_is_proven_where_the_pull_request_is_there_too(
    forge: Any, root: str, squash: str, tmp_path: Path
) -> None:
    forge.ref("refs/pull/7/head", forge.commit(B, root, message="work"))
    assert find(forge, tmp_path, merge_commit=squash, pull_request=7).identity == "squash"


def test_without_a_proof_the_message_of_a_stated_merge_is_all_there_is(
    forge: Any, root: str, squash: str, tmp_path: Path
) -> None:
    forge.ref("refs/pull/7/head", forge.commit(A | OTHER, root, message="pushed after the merge"))
    assert find(forge, tmp_path, merge_commit=squash, pull_request=7).identity == "message"


def test_a_stated_merge_of_another_pull_request_is_refused(
    forge: Any, root: str, squash: str, tmp_path: Path
) -> None:
    forge.ref("refs/pull/8/head", forge.commit(A | OTHER, root, message="work"))
    with pytest.raises(Refused, match="NB_GIT_IDENTITY"):
        find(forge, tmp_path, merge_commit=squash, pull_request=8)


def test_a_stated_base_must_be_on_the_main_line_before_the_merge(
    forge: Any, root: str, squash: str, tmp_path: Path
) -> None:
    after = forge.commit(B | OTHER, squash, message="second part")
    forge.ref("refs/heads/main", after)
    found = find(forge, tmp_path, merge_commit=after, base_commit=root)
    assert found == Landing(merge=after, base=root, identity="stated")
    with pytest.raises(Refused, match=r"NB_GIT_BASE: task\.toml: source\.base_commit"):
        find(forge, tmp_path / "again", merge_commit=squash, base_commit=after)


def test_a_stated_base_that_is_not_what_was_merged_onto_is_refused(
    forge: Any, root: str, squash: str, tmp_path: Path
) -> None:
    forge.ref("refs/pull/7/head", forge.commit(B, root, message="work"))
    with pytest.raises(Refused, match="NB_GIT_BASE") as refusal:
        find(forge, tmp_path, merge_commit=squash, pull_request=7, base_commit=squash)
    assert root in refusal.value.message


def test_a_merge_without_parents_has_no_base(forge: Any, root: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="NB_GIT_BASE"):
        find(forge, tmp_path, merge_commit=root)


def test_a_commit_that_the_server_does_not_have_is_named(forge: Any, root: str, tmp_path: Path) -> None:
    for spec in ({}, {"pull_request": 7}):
        with pytest.raises(CannotTell, match="NB_GIT_OBJECT") as error:
            find(forge, tmp_path / str(len(spec)), merge_commit="1" * 40, **spec)
        assert f"missing: {'1' * 40}" in error.value.details
