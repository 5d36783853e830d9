from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from nanobench.errors import Refused
from nanobench.sandbox.interface import SandboxLimits
from nanobench.sources import difference
from nanobench.sources.clean import TreeBounds, clean
from nanobench.sources.difference import TakenPatch, derive, respelled, take_patch
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.patch import MAX_BYTES
from nanobench.sources.variants import rewritten
from nanobench.sources.workspace import make_repository

Grow = Callable[[str, dict[str, str | bytes]], Path]
BASE: dict[str, str | bytes] = {
    "a.py": "one\ntwo\nthree\n",
    "gone.py": "x\n",
    "old/name.py": "same\ncontent\n",
    "pkg/mod.py": "m\n",
    "run.sh": "#!/bin/sh\n",
    "crlf.txt": "a\r\nb\r\n",
    "image.bin": b"\0\1\2" * 50,
    ".gitignore": "*.o\nbuild/\n!keep.o\n",
    "pkg/.gitignore": "local.txt\n",
}


class Agent:
    """The task layer with the base, and a copy of it that an agent may do anything to."""

    def __init__(self, gitbox: Gitbox, base: Path, workspace: Path) -> None:
        self.base, self.workspace = base, workspace
        make_repository(gitbox, base, products=("built.so",))
        layer = gitbox.layers[0]
        (layer / "workspace").rmdir()
        shutil.copytree(base, layer / "workspace", symlinks=True)
        gitbox.engine.own(layer / "workspace")
        shutil.copytree(base, workspace, symlinks=True)
        self.gitbox = gitbox

    def write(self, path: str, data: str | bytes) -> None:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())

    def git(self, *argv: str) -> None:
        config = ["-c", "safe.directory=*", "-c", "user.name=x", "-c", "user.email=x@x"]
        env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
        subprocess.run(["git", *config, *argv], cwd=self.workspace, check=True, capture_output=True, env=env)

    def take(self) -> TakenPatch:
        return take_patch(self.gitbox, self.workspace)


@pytest.fixture
def agent(gitbox: Gitbox, grow: Grow, tmp_path: Path) -> Agent:
    return Agent(gitbox, grow("base", BASE), tmp_path / "agent")


def test_nothing_done_is_an_empty_patch(agent: Agent) -> None:
    assert agent.take() == TakenPatch(patch=b"", files_changed=(), dropped=())


def test_every_kind_of_change_is_in_the_patch(agent: Agent) -> None:
    agent.write("a.py", "one\n2\nthree\n")
    agent.write("image.bin", b"\0\1\2" * 49 + b"\0\1\3")
    agent.write("crlf.txt", "a\r\nB\r\n")
    agent.write("new/empty", "")
    agent.write("new/last line.txt", "no newline")
    (agent.workspace / "gone.py").unlink()
    (agent.workspace / "old/name.py").rename(agent.workspace / "old/other.py")
    (agent.workspace / "run.sh").chmod(0o755)
    (agent.workspace / "link").symlink_to("../../etc/passwd")
    taken = agent.take()
    assert taken.files_changed == (
        *("a.py", "crlf.txt", "gone.py", "image.bin", "link", "new/empty", "new/last line.txt"),
        *("old/name.py", "old/other.py", "run.sh"),
    )
    assert b"GIT binary patch" in taken.patch and b"old mode 100644\nnew mode 100755" in taken.patch
    assert b"-b\r\n+B\r\n" in taken.patch
    assert b"rename" not in taken.patch


def test_odd_names_survive(agent: Agent) -> None:
    for name in (b"new\nline", b'quo"te', b"\xff\xfe", b" lead", b"-dash", b":(glob)x", b"back\\slash", "ü".encode()):
        with open(bytes(agent.workspace) + b"/" + name, "wb") as file:
            file.write(b"x\n")
    assert len(agent.take().files_changed) == 8
    assert '"new\\nline"' in agent.take().files_changed and "ü" in agent.take().files_changed


def test_files_may_become_folders_links_and_back(agent: Agent) -> None:
    (agent.workspace / "a.py").unlink()
    agent.write("a.py/inner.py", "x\n")
    shutil.rmtree(agent.workspace / "pkg")
    (agent.workspace / "pkg").symlink_to("old")
    shutil.rmtree(agent.workspace / "old")
    agent.write("old", "a file now\n")
    (agent.workspace / "gone.py").unlink()
    (agent.workspace / "gone.py").symlink_to("run.sh")
    assert agent.take().files_changed == (
        *("a.py", "a.py/inner.py", "gone.py", "old", "old/name.py", "pkg", "pkg/.gitignore", "pkg/mod.py"),
    )


def test_only_the_ignore_rules_of_the_base_count(agent: Agent) -> None:
    for path in ("x.o", "keep.o", "build/deep/out.py", "pkg/local.txt", "local.txt", "built.so"):
        agent.write(path, "x\n")
    agent.write(".gitignore", "*.py\n*.o\n")
    agent.write(".git/info/exclude", "*\n")
    agent.write("hidden/.gitignore", "*\n")
    agent.write("hidden/evil.py", "x\n")
    agent.write("sneaky.py", "x\n")
    assert agent.take().files_changed == (
        *(".gitignore", "hidden/.gitignore", "hidden/evil.py", "keep.o", "local.txt", "sneaky.py"),
    )


def test_the_agents_own_repository_has_no_say(agent: Agent) -> None:
    agent.write(
        ".gitattributes", "* text=auto eol=crlf filter=evil diff=evil -diff ident working-tree-encoding=UTF-16\n"
    )
    agent.write(".gitmodules", '[submodule "x"]\n\tpath = pkg\n\turl = /x\n')
    agent.write("committed.py", "$Id$\r\nx\n")
    agent.git("add", "--force", ".gitmodules", "committed.py")
    agent.git("commit", "-q", "-m", "hide")
    agent.git("checkout", "-q", "-b", "elsewhere")
    agent.git("update-index", "--assume-unchanged", "a.py")
    agent.write("a.py", "changed\n")
    touch = "touch /nanobench/out/pwned; echo pwned >&2; exit 1"
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "core.pager"):
        agent.git("config", key, touch)
    agent.git("config", "core.worktree", "/etc")
    agent.write(".git/hooks/post-index-change", f"#!/bin/sh\n{touch}\n")
    (agent.workspace / ".git/hooks/post-index-change").chmod(0o755)
    taken = agent.take()
    assert taken.files_changed == (".gitattributes", ".gitmodules", "a.py", "committed.py")
    assert b"+$Id$\r\n" in taken.patch and taken.dropped == ()


@pytest.mark.parametrize("how", ["deleted", "file", "link", "broken"])
def test_the_agents_git_folder_may_be_anything(agent: Agent, how: str) -> None:
    shutil.rmtree(agent.workspace / ".git")
    if how == "file":
        agent.write(".git", "gitdir: /etc\n")
    elif how == "link":
        (agent.workspace / ".git").symlink_to("/etc")
    elif how == "broken":
        agent.write(".git/HEAD", b"\xff")
    agent.write("a.py", "changed\n")
    assert agent.take().files_changed == ("a.py",)


def test_what_no_patch_can_hold_is_dropped_and_named(agent: Agent) -> None:
    agent.write("vendor/dep/.git/HEAD", "ref: refs/heads/main\n")
    agent.write("vendor/dep/x.py", "x\n")
    agent.write(".nanocoder/session.json", "{}")
    os.mkfifo(agent.workspace / "fifo")
    (agent.workspace / "a.py").unlink()
    os.mkfifo(agent.workspace / "a.py")
    taken = agent.take()
    assert taken.dropped == (".nanocoder", "a.py", "fifo", "vendor/dep/.git")
    assert taken.files_changed == ("a.py", "vendor/dep/x.py")


def test_closed_files_and_folders_are_taken_all_the_same(agent: Agent) -> None:
    agent.write("shut/x.py", "x\n")
    (agent.workspace / "shut/x.py").chmod(0)
    (agent.workspace / "shut").chmod(0)
    (agent.workspace / "a.py").chmod(0)
    assert agent.take().files_changed == ("shut/x.py",)


def test_taking_twice_gives_the_same_bytes(agent: Agent) -> None:
    agent.write("z.py", "z\n")
    agent.write("a.py", "one\nTWO\nthree\n")
    assert agent.take() == agent.take()


def test_the_bound_of_a_patch_is_64_mib() -> None:
    assert MAX_BYTES == 64 << 20


def test_a_patch_over_the_bound_is_refused(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nanobench.sources.gitbox.MAX_BYTES", 1 << 20)
    agent.write("noise.txt", os.urandom(1_500_000).hex())
    with pytest.raises(Refused, match=r"NB_PATCH_BOUND: git: difference\.sh: .* at most 1 MiB"):
        agent.take()


def test_a_workspace_over_the_bounds_is_refused(agent: Agent) -> None:
    with pytest.raises(Refused, match="NB_PATCH_BOUND: workspace: "):
        take_patch(agent.gitbox, agent.workspace, bounds=TreeBounds(entries=5))


def test_no_command_of_the_tree_is_run_and_nothing_is_left_behind(agent: Agent, tmp_path: Path) -> None:
    agent.write("z.py", "z\n")
    agent.take()
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_layer_without_git_is_named(agent: Agent) -> None:
    small = evolve(agent.gitbox, limits=SandboxLimits(cpus=1, memory_mib=256, pids=32, disk_mib=64, seconds=60))
    shutil.rmtree(agent.gitbox.layers[0] / "workspace" / ".git")
    with pytest.raises(Refused, match=r"NB_GIT: git: difference\.sh: git in the image ended with"):
        take_patch(small, agent.workspace)


def test_a_solution_is_derived_with_its_ignored_files(gitbox: Gitbox, grow: Grow) -> None:
    base = grow("base", BASE)
    make_repository(gitbox, base)
    solution = grow("solution", {**BASE, "a.py": "1\n", "build/x.o": "new", "tests/test_a.py": "t\n"})
    clean(solution, where="s")
    patch = derive(gitbox, repository=base, solution=solution)
    assert [line for line in patch.splitlines() if line.startswith(b"diff ")] == [
        b"diff --git a/a.py b/a.py",
        b"diff --git a/build/x.o b/build/x.o",
        b"diff --git a/tests/test_a.py b/tests/test_a.py",
    ]


def test_a_patch_in_another_spelling_is_spelled_as_git_does_and_one_that_does_not_fit_is_refused(
    agent: Agent,
) -> None:
    body = "def one():\n    a\n    b\n    c\n    d\n"
    agent.write("new.py", body)
    made = agent.take().patch
    other = rewritten(b"a.py", b"one\ntwo\nthree\n", b"one\n2\nthree\n").data
    agent.write("a.py", "one\n2\nthree\n")
    both = agent.take().patch
    assert respelled(agent.gitbox, other + made) == both
    shuffled = other.replace(b"@@ -1,3 +1,3 @@", b"@@ -1,3 +1,3 @@ words that git would not say")
    assert respelled(agent.gitbox, shuffled + made) == both
    assert respelled(agent.gitbox, b"") == b""
    with pytest.raises(Refused, match="ended with") as caught:
        respelled(agent.gitbox, other.replace(b"-two", b"-too"))
    assert caught.value.code == "NB_GIT"


def test_more_than_can_be_applied_is_refused_as_the_agents_doing(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    (agent.workspace / "one").write_bytes(b"x" * 100)
    (agent.workspace / "two").write_bytes(b"x" * 100)
    monkeypatch.setattr(difference, "MAX_CHANGED_BYTES", 199)
    with pytest.raises(Refused, match="200 bytes of files changed"):
        agent.take()
    monkeypatch.setattr(difference, "MAX_CHANGED", 1)
    with pytest.raises(Refused, match="2 files changed"):
        agent.take()
