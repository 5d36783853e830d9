"""The whole way of a git source: from a pull request on a server to two pinned trees, and from pins back to them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.errors import CannotTell, Refused
from nanobench.model.fields import Digest
from nanobench.model.task import GitSource, PathRules
from nanobench.model.upstream import LockedUpstream
from nanobench.sources import git_run
from nanobench.sources.change import split
from nanobench.sources.difference import derive
from nanobench.sources.git import MergedChange
from nanobench.sources.git_pin import pin, repin
from nanobench.sources.git_remote import Remote
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.workspace import make_repository
from nanobench.store.store import Store

SCM = '[build-system]\nrequires = ["setuptools_scm"]\n[project]\nname = "x"\ndynamic = ["version"]\n'
BASE = {
    "pyproject.toml": SCM,
    "src/a.py": "old\n",
    "run*": "#!/bin/sh\n",
    "link@": "src/a.py",
    "data/big": "x" * 5000,
}
MERGE = {**BASE, "src/a.py": "new\n", "tests/test_a.py": "t\n"}


@pytest.fixture
def change(forge: Any) -> dict[str, str]:
    """A tagged project whose pull request 1895 was squashed onto a main line that had moved."""
    start = forge.commit(BASE, message="start")
    head = forge.commit(MERGE, start, message="work")
    base = forge.commit({**BASE, "c": "c\n"}, start, message="meanwhile (#1894)", at=60)
    merge = forge.commit({**MERGE, "c": "c\n"}, base, message="Do it (#1895)", at=3600)
    forge.ref("refs/tags/v2.3.0", start)
    forge.ref("refs/pull/1895/head", head)
    forge.ref("refs/heads/main", forge.commit({**MERGE, "d": ""}, merge, message="later", at=7200))
    return {"base": base, "merge": merge, "head": head}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def source(url: str, **more: Any) -> GitSource:
    return GitSource(type="git", url=url, **{"pull_request": 1895, **more})


def remote(spec: GitSource) -> Remote:
    return Remote(url=spec.url, where="task.toml", say=lambda _: None)


def pinned(spec: GitSource, store: Store) -> LockedUpstream:
    return pin(spec, remote(spec), store)


def test_every_kind_of_server_gives_the_same_pins(
    forge: Any, change: dict[str, str], serve: Any, tmp_path: Path
) -> None:
    urls = {
        "file": forge.url,
        "smart": serve(forge.root),
        "old": serve(forge.root, by_name=False),
        "dumb": serve(forge.root, dumb=True),
    }
    found = {name: pinned(source(url), Store(tmp_path / name)) for name, url in urls.items()}
    assert found["file"] == found["smart"] == found["old"] == found["dumb"]
    upstream = found["smart"]
    assert (upstream.base.commit, upstream.merge.commit) == (change["base"], change["merge"])
    assert (upstream.identity, upstream.merged_at) == ("squash", "2026-06-09T11:13:20Z")
    assert (upstream.version, upstream.absent) == ("2.3.1.dev1", ())
    assert Store(tmp_path / "dumb").has(upstream.base.archive)


def test_a_history_that_a_server_lets_be_fetched_in_part_gives_the_same_pins(
    forge: Any, change: dict[str, str], serve: Any, store: Store
) -> None:
    whole = pinned(source(serve(forge.root)), store)
    config = forge.root / "config"
    config.write_text(config.read_text() + "[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n")
    assert pinned(source(serve(forge.root)), store) == whole


def test_a_mirror_that_the_user_configured_stands_in_for_the_url(
    forge: Any, change: dict[str, str], git_home: Path, serve: Any, store: Store
) -> None:
    git_home.write_text(f'[url "{serve(forge.root)}"]\n\tinsteadOf = https://host.invalid/o/r\n')
    assert pinned(source("https://host.invalid/o/r"), store).merge.commit == change["merge"]


def test_a_server_that_cannot_be_reached_is_named_with_what_was_needed(git_home: Path, store: Store) -> None:
    with pytest.raises(CannotTell, match=r"NB_UNREACHABLE: task\.toml: source\.url") as error:
        pinned(source("https://me@host.invalid/o/r"), store)
    assert error.value.exit_code == 3
    assert "https://host.invalid/o/r" in error.value.message
    assert error.value.details[:2] == ("needed: HEAD", "needed: refs/pull/1895/head")


def test_pins_bring_the_same_bytes_again_on_another_machine(
    forge: Any, change: dict[str, str], serve: Any, store: Store, tmp_path: Path
) -> None:
    spec = source(serve(forge.root))
    upstream = pinned(spec, store)
    other = Store(tmp_path / "other")
    repin(spec, upstream, remote(spec), other)
    for side in (upstream.base, upstream.merge):
        assert other.read(side.archive) == store.read(side.archive)
        assert len(store.read(side.archive)) == side.size


@pytest.mark.parametrize("key", ["tree", "archive", "size"])
def test_a_lock_that_names_another_tree_is_refused(
    key: str, forge: Any, change: dict[str, str], store: Store
) -> None:
    spec = source(forge.url)
    upstream = pinned(spec, store)
    wrong: dict[str, Any] = {"tree": "1" * 40, "archive": Digest("sha256:" + "1" * 64), "size": 1}
    with pytest.raises(Refused, match="NB_UPSTREAM_DIFFERS"):
        repin(spec, evolve(upstream, merge=evolve(upstream.merge, **{key: wrong[key]})), remote(spec), store)


def test_a_locked_commit_that_is_gone_is_named(forge: Any, change: dict[str, str], store: Store) -> None:
    spec = source(forge.url)
    upstream = pinned(spec, store)
    gone = evolve(upstream, merge=evolve(upstream.merge, commit="1" * 40))
    with pytest.raises(CannotTell, match="NB_GIT_OBJECT") as error:
        repin(spec, gone, remote(spec), store)
    assert f"missing: {'1' * 40}" in error.value.details


def test_the_commits_of_a_lock_are_named_when_their_server_is_gone(
    forge: Any, change: dict[str, str], git_home: Path, store: Store
) -> None:
    upstream = pinned(source(forge.url), store)
    spec = source("https://host.invalid/o/r")
    with pytest.raises(CannotTell, match="NB_UNREACHABLE") as error:
        repin(spec, upstream, remote(spec), store)
    assert error.value.details[:2] == (f"needed: {change['base']}", f"needed: {change['merge']}")


# What is not there


def lose(forge: Any, content: str) -> None:
    """The mirror lacks this blob, as mirrors lack large files."""
    forge.object(forge.blob(content)).unlink()


@pytest.mark.parametrize("over", ["file", "http"])
def test_blobs_that_a_mirror_lacks_are_named_with_their_paths(
    over: str, forge: Any, change: dict[str, str], serve: Any, store: Store
) -> None:
    name = forge.blob("x" * 5000)
    lose(forge, "x" * 5000)
    config = forge.root / "config"
    config.write_text(config.read_text() + "[uploadpack]\n\tallowFilter = true\n")
    with pytest.raises(CannotTell, match=r"NB_GIT_ABSENT: task\.toml: source\.url") as error:
        pinned(source(forge.url if over == "file" else serve(forge.root)), store)
    assert error.value.details == (f"data/big: blob {name}",)
    assert "absent_paths" in error.value.hint


def test_what_a_task_does_without_is_left_out_whether_a_server_has_it_or_not(
    forge: Any, change: dict[str, str], store: Store
) -> None:
    spec = source(forge.url, absent_paths=("data/",))
    with_it = pinned(spec, store)
    lose(forge, "x" * 5000)
    assert pinned(spec, store) == with_it
    assert with_it.absent == ("base: data/big", "merge: data/big")
    assert with_it.base.archive != pinned(source(forge.url, absent_paths=("data/", "c")), store).base.archive


def test_a_submodule_is_never_followed_and_must_be_left_out_on_purpose(
    forge: Any, store: Store, tmp_path: Path
) -> None:
    modules = f'[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch {tmp_path}/sentinel\n\tupdate = !touch s\n'
    base = forge.commit({".gitmodules": modules, "a.py": "1\n", "x^": "3" * 40}, message="start")
    merge = forge.commit({".gitmodules": modules, "a.py": "2\n", "x^": "4" * 40}, base, message="change")
    forge.ref("refs/heads/main", merge)
    spec = GitSource(type="git", url=forge.url, merge_commit=merge)
    with pytest.raises(CannotTell, match="NB_GIT_ABSENT") as error:
        pinned(spec, store)
    assert error.value.details == (f"x: submodule at {'3' * 40}", f"x: submodule at {'4' * 40}")
    assert pinned(evolve(spec, absent_paths=("x",)), store).absent == ("base: x", "merge: x")
    assert not (tmp_path / "sentinel").exists()


def test_absent_paths_that_name_nothing_are_refused(forge: Any, change: dict[str, str], store: Store) -> None:
    with pytest.raises(Refused, match=r"NB_GIT_ABSENT: task\.toml: source\.absent_paths") as refusal:
        pinned(source(forge.url, absent_paths=("data/", "gone/*.bin")), store)
    assert refusal.value.details == ("gone/*.bin",)


# The version


def test_a_version_that_the_task_states_is_taken(forge: Any, change: dict[str, str], store: Store) -> None:
    assert pinned(source(forge.url, pretend_version="9.9"), store).version == "9.9"


def test_a_project_that_counts_tags_and_has_none_needs_a_version(
    forge: Any, change: dict[str, str], store: Store
) -> None:
    (forge.root / "refs/tags/v2.3.0").unlink()
    with pytest.raises(Refused, match=r"NB_NO_TAG: task\.toml: source\.pretend_version"):
        pinned(source(forge.url), store)


def test_a_project_with_a_version_of_its_own_needs_no_tags(forge: Any, store: Store) -> None:
    base = forge.commit({"a.py": "1\n"}, message="start")
    merge = forge.commit({"a.py": "2\n"}, base, message="change")
    forge.ref("refs/heads/main", merge)
    assert pinned(GitSource(type="git", url=forge.url, merge_commit=merge), store).version is None


# From pins to a task


def test_the_workspace_of_a_change_has_the_very_tree_of_its_base_commit(
    forge: Any, change: dict[str, str], store: Store, gitbox: Gitbox, tmp_path: Path
) -> None:
    spec = source(forge.url)
    merged = MergedChange(spec=spec, upstream=pinned(spec, store), where="task.toml")
    (tmp_path / "work").mkdir()
    trees = merged.stage(store.blob, tmp_path / "work")
    repository = make_repository(gitbox, trees.base)
    assert repository.tree == merged.upstream.base.tree
    assert (trees.version, trees.dropped) == ("2.3.1.dev1", ())
    parts = split(derive(gitbox, repository=trees.base, solution=trees.solution), PathRules(), where="task.toml")
    assert (parts.source_files, parts.test_files) == (("src/a.py",), ("tests/test_a.py",))
    assert b"-old\n+new\n" in parts.golden


def test_what_a_change_is_made_of_is_its_two_tars_and_its_version(
    forge: Any, change: dict[str, str], store: Store
) -> None:
    spec = source(forge.url)
    merged = MergedChange(spec=spec, upstream=pinned(spec, store), where="task.toml")
    assert merged.packages() == ()
    assert [(f.digest, f.size) for f in merged.pinned()] == [
        (side.archive, side.size) for side in (merged.upstream.base, merged.upstream.merge)
    ]
    told = evolve(merged, upstream=evolve(merged.upstream, version="3"))
    assert told.identity() != merged.identity()


# A repository that attacks


def test_a_hostile_repository_runs_nothing_and_leaves_its_place_nowhere(
    forge: Any, store: Store, tmp_path: Path, git_home: Path
) -> None:
    sentinel = f"touch {tmp_path}/sentinel"
    (forge.root / "hooks").mkdir()
    for name in ("post-checkout", "post-merge", "reference-transaction", "pre-receive", "post-upload-pack"):
        (forge.root / "hooks" / name).write_text(f"#!/bin/sh\n{sentinel}\n")
        (forge.root / "hooks" / name).chmod(0o755)
    base = forge.commit({"a.py": "1\n"}, message="start")
    evil = forge.commit({"a.py": "evil\n"}, message="evil")
    merge = forge.commit({"a.py": "2\n", ".gitattributes": "* filter=evil\n"}, base, message="change")
    forge.ref("refs/heads/main", merge)
    forge.ref(f"refs/replace/{base}", evil)
    (forge.root / "info").mkdir()
    (forge.root / "info/grafts").write_text(f"{merge} {evil}\n")
    (forge.root / "objects/info").mkdir()
    (forge.root / "objects/info/alternates").write_text("/etc\n../../../elsewhere/objects\n")
    with (forge.root / "config").open("a") as config:
        config.write(f'[filter "evil"]\n\tsmudge = {sentinel}\n\tclean = {sentinel}\n')
        config.write(f"[core]\n\tfsmonitor = {sentinel}\n\tsshCommand = {sentinel}\n\tpager = {sentinel}\n")
        config.write(f"[uploadpack]\n\tpackObjectsHook = {sentinel}\n")
    before = {p for p in tmp_path.rglob("*") if not p.is_relative_to(store.root)}
    spec = GitSource(type="git", url=forge.url, merge_commit=merge)
    upstream = pinned(spec, store)
    assert (upstream.base.commit, upstream.base.tree) == (base, forge.files({"a.py": "1\n"}))
    assert {p for p in tmp_path.rglob("*") if not p.is_relative_to(store.root)} == before
    assert store.leftovers() == () and not list((store.root / "scratch").glob("git-*"))


def test_a_server_that_sends_more_than_a_pack_may_hold_is_refused_and_leaves_nothing(
    forge: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    merge = forge.commit({"a": random.Random(1).randbytes(1 << 20)}, forge.commit({"a": "1"}), message="change")
    forge.ref("refs/heads/main", merge)
    monkeypatch.setattr(git_run, "MAX_FILE", 256 << 10)
    with pytest.raises(Refused, match="NB_GIT_BOUND: a server sent more than"):
        pinned(GitSource(type="git", url=forge.url, merge_commit=merge), store)
    assert not list((store.root / "scratch").glob("git-*"))


def test_a_url_that_could_be_an_option_never_reaches_git() -> None:
    for url in ("--upload-pack=touch x", "-x", "ssh://-oProxyCommand=x/y", "git@-oProxyCommand=x:y", "git@h:-x"):
        with pytest.raises(ValueError, match="does not match"):
            source(url)
    for url in ("https://me:secret@host/x", "https://host/x?token=secret", "ext::sh -c x", "/etc", "../x"):
        with pytest.raises(ValueError, match="does not match"):
            source(url)
