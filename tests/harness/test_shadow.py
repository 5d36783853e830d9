from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.harness.shadow import Steering, steering, unsteered
from nanobench.sources.gitbox import Gitbox

Enter = Callable[[dict[str, str]], tuple[Path, Any]]


def test_only_the_top_of_a_workspace_steers() -> None:
    found = steering(["src/.env", "a/agents.config.json", ".mcp.json", "docs/AGENTS.md", ".env.example", "AGENTS.md"])
    assert found == Steering(shadowed=(".mcp.json",), recorded=("AGENTS.md",))
    assert steering([".nanocoder/tools/x.md"]).shadowed == (".nanocoder",)


@pytest.fixture
def workspace(bench: Any, tmp_path: Path) -> Callable[[dict[str, str]], tuple[Path, Callable[[], Any]]]:
    """A fresh copy of a base commit of these files, and the block that holds its steering files aside."""

    def make(files: dict[str, str]) -> tuple[Path, Callable[[], Any]]:
        gitbox: Gitbox = bench.repository(files)
        copy = tmp_path / "workspace"
        shutil.copytree(tmp_path / "task/workspace", copy, symlinks=True)
        gitbox.engine.own(copy)
        return copy, lambda: unsteered(copy, gitbox=gitbox, aside=tmp_path / "aside")

    return make


def status(workspace: Path) -> str:
    command = ["git", "-c", "safe.directory=*", "-C", str(workspace), "status", "--porcelain", "--ignored"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_files_are_gone_inside_git_sees_a_clean_tree_and_all_is_back_after(workspace: Enter) -> None:
    copy, block = workspace({"a.py": "1", ".env": "A=1", "agents.config.json": "{}"})
    with block() as found:
        assert found.shadowed == (".env", "agents.config.json")
        assert sorted(path.name for path in copy.iterdir()) == [".git", "a.py"]
        assert status(copy) == ""
    assert (copy / ".env").read_text() == "A=1"
    assert (copy / "agents.config.json").read_text() == "{}"


def test_a_workspace_that_steers_nothing_is_not_touched(workspace: Enter) -> None:
    copy, block = workspace({"a.py": "1"})
    index = (copy / ".git/index").read_bytes()
    with block() as found:
        assert found == Steering()
    assert (copy / ".git/index").read_bytes() == index


def test_a_file_that_git_does_not_track_is_held_aside_too(workspace: Enter) -> None:
    copy, block = workspace({"a.py": "1"})
    (copy / ".env").write_text("made by a build")
    with block():
        assert not (copy / ".env").exists()
    assert (copy / ".env").read_text() == "made by a build"


def test_a_folder_of_more_files_than_a_command_line_holds_is_held_aside(workspace: Enter) -> None:
    copy, block = workspace({f".mcp.json/{'n' * 180}{number}": "" for number in range(1000)} | {"a.py": "1"})
    with block() as found:
        assert found.shadowed == (".mcp.json",)
        assert status(copy) == ""
    assert len(list((copy / ".mcp.json").iterdir())) == 1000


def test_files_come_back_when_the_run_fails(workspace: Enter) -> None:
    copy, block = workspace({".env": "A=1"})
    with pytest.raises(RuntimeError), block():
        raise RuntimeError
    assert (copy / ".env").read_text() == "A=1"


def test_a_link_that_the_agent_leaves_in_the_place_is_not_followed(workspace: Enter, tmp_path: Path) -> None:
    copy, block = workspace({".env": "A=1"})
    outside = tmp_path / "outside"
    outside.mkdir()
    with block():
        (copy / ".env").symlink_to(outside)
    assert (copy / ".env").is_symlink()
    assert list(outside.iterdir()) == []
