"""A task's source at lock time: resolved once, kept while nothing asks for another, held against what is claimed."""

from __future__ import annotations

import hashlib
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.curate.source import lock_source
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell, Refused
from nanobench.image.sources import bring, source_names, source_of
from nanobench.image.workbench import Workbench
from nanobench.model.lock import TaskLock
from nanobench.model.task import GitSource, Task
from nanobench.project.files import Project, Spec
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sources.git import MergedChange
from nanobench.store.store import Store

TORAX = "torax-001"


class Quiet(SimpleHTTPRequestHandler):
    """Files over HTTP."""

    def log_message(self, format: str, *args: object) -> None:
        pass


def git(repository: Path, *arguments: str) -> str:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(repository), "GIT_CONFIG_NOSYSTEM": "1", "TZ": "UTC"}
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "A", f"GIT_{who}_EMAIL": "a@b", f"GIT_{who}_DATE": "1769774400 +0100"}
    command = ["git", "-c", "init.defaultBranch=main", *arguments]
    return subprocess.run(command, cwd=repository, env=env, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Project) -> Iterator[dict[str, str]]:
    """A small repository in the place of torax: its pull request 1895 merged, its ref there, served over HTTP."""
    work = tmp_path / "served/torax"
    work.mkdir(parents=True)
    git(work, "init", "-q")
    (work / "a.py").write_text("old\n")
    git(work, "add", ".")
    git(work, "commit", "-qm", "start")
    git(work, "checkout", "-qb", "theirs")
    (work / "a.py").write_text("new\n")
    git(work, "commit", "-qam", "work")
    git(work, "update-ref", "refs/pull/1895/head", "HEAD")
    git(work, "checkout", "-q", "main")
    (work / "b.py").write_text("b\n")
    git(work, "add", ".")
    git(work, "commit", "-qm", "meanwhile")
    base = git(work, "rev-parse", "HEAD")
    git(work, "merge", "-q", "--no-ff", "-m", "Merge pull request #1895 from them/theirs", "theirs")
    git(work, "update-server-info")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(work.parent)))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    spec = repository.task(TORAX).value.source
    assert isinstance(spec, GitSource)
    config = tmp_path / "gitconfig"
    address = f"http://127.0.0.1:{server.server_address[1]}/torax/.git"
    config.write_text(f'[url "{address}"]\n\tinsteadOf = {spec.url}\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    yield {"base": base, "merge": git(work, "rev-parse", "HEAD"), "config": str(config)}
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def empty(tmp_path: Path) -> Workbench:
    return Workbench(store=Store(tmp_path / "store"), engine=Bubblewrap(), say=lambda _: None)


@pytest.fixture
def task(repository: Project) -> Spec[Task]:
    return repository.task(TORAX)


def lock(task: Spec[Task], bench: Workbench, old: TaskLock | None = None, **more: Any) -> Any:
    with Online() as online:
        return lock_source(task, old, **{"upgrade": (), "online": online, "bench": bench, **more})


def locked(task: Spec[Task], like: TaskLock, upstream: Any) -> TaskLock:
    return evolve(like, original=task.document, source=evolve(like.source, upstream=upstream))


def test_torax_is_resolved_from_its_pull_request_alone_where_a_server_has_it(
    task: Spec[Task], upstream: dict[str, str], empty: Workbench
) -> None:
    source, found = lock(task, empty)
    assert (found.base.commit, found.merge.commit) == (upstream["base"], upstream["merge"])
    assert (found.identity, found.merged_at, found.version) == ("merge", "2026-01-30T12:00:00Z", None)
    assert isinstance(source, MergedChange)
    for file in source.pinned():
        assert f"sha256:{hashlib.sha256(empty.store.read(file.digest)).hexdigest()}" == file.digest


def test_without_a_server_what_could_not_be_reached_is_said(
    task: Spec[Task], upstream: dict[str, str], empty: Workbench
) -> None:
    Path(upstream["config"]).write_text('[url "http://127.0.0.1:1/"]\n\tinsteadOf = https://github.com/\n')
    with pytest.raises(CannotTell) as error:
        lock(task, empty)
    assert (error.value.code, error.value.exit_code) == ("NB_UNREACHABLE", 3)
    assert error.value.where == f"tasks/{TORAX}/task.toml: source.url"
    assert error.value.details[:2] == ("needed: HEAD", "needed: refs/pull/1895/head")


def test_what_a_lock_pins_stays_and_needs_no_network(
    task: Spec[Task], task_lock: TaskLock, upstream: dict[str, str], empty: Workbench
) -> None:
    _, found = lock(task, empty)
    old = locked(task, task_lock, found)
    assert lock(task, empty, old, online=None)[1] == found


@pytest.mark.parametrize("upgrade", ["source", "recipe"])
def test_it_is_resolved_anew_when_that_is_asked_for_or_its_spec_changed(
    upgrade: str, task: Spec[Task], task_lock: TaskLock, upstream: dict[str, str], empty: Workbench
) -> None:
    _, found = lock(task, empty)
    stale = evolve(found, merged_at="2001-01-01T00:00:00Z")
    assert lock(task, empty, locked(task, task_lock, stale), upgrade=(upgrade,))[1] == found
    changed = evolve(
        task_lock, original={**task.document, "source": {}}, source=locked(task, task_lock, stale).source
    )
    assert lock(task, empty, changed)[1] == found


def test_offline_nothing_is_resolved_or_fetched(
    task: Spec[Task], task_lock: TaskLock, upstream: dict[str, str], empty: Workbench, tmp_path: Path
) -> None:
    with pytest.raises(CannotTell, match="NB_OFFLINE"):
        lock(task, empty, online=None)
    source, found = lock(task, empty)
    bring(source, empty.store, online=None, say=empty.say)
    other = Store(tmp_path / "other")
    with pytest.raises(CannotTell, match=f"NB_OFFLINE: tasks/{TORAX}"):
        bring(source, other, online=None, say=empty.say)
    with Online() as online:
        bring(source, other, online=online, say=empty.say)
        assert online.contacted == ("github.com",)
    bring(source, other, online=None, say=empty.say)
    assert all(other.read(file.digest) == empty.store.read(file.digest) for file in source.pinned())
    assert source_of(task.value, found) == source


@pytest.mark.parametrize(
    ("claims", "fine"),
    [
        ({"merged_at": "2026-01-29"}, True),  # the contamination gate's to judge
        ({"base_commit": "1" * 40}, False),
    ],
)
def test_a_claimed_base_must_be_the_real_one(
    claims: dict[str, str], fine: bool, task: Spec[Task], upstream: dict[str, str], empty: Workbench
) -> None:
    fields: dict[str, Any] = claims
    claimed = evolve(task, value=evolve(task.value, curation=evolve(task.value.curation, **fields)))
    if fine:
        lock(claimed, empty)
        return
    with pytest.raises(Refused, match=f"NB_CLAIM: tasks/{TORAX}/task") as refusal:
        lock(claimed, empty)
    assert refusal.value.details[0].startswith(f"curation.{next(iter(claims))}: stated")


def test_a_git_source_without_pins_cannot_be_used(task: Spec[Task]) -> None:
    with pytest.raises(CannotTell, match=r"NB_LOCK_UPSTREAM: tasks/torax-001/task\.toml: source"):
        source_of(task.value, None)
    assert source_names(task.value, folder=task.path.parent) == (
        "https://github.com/google-deepmind/torax: pull request 1895",
    )
