"""The task layer of the demo task: what an agent gets to see."""

from __future__ import annotations

import os
import subprocess
import tarfile
from typing import Any

import pytest

from nanobench.formats import json
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench


@pytest.fixture(scope="module")
def git(place: Any) -> Any:
    """This machine's git, asked about the pristine workspace."""

    def ask(*arguments: str) -> list[str]:
        command = ["git", "-c", "safe.directory=*", "-C", str(place.image.workspace)]
        env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_OPTIONAL_LOCKS": "0"}
        return subprocess.run(
            [*command, *arguments], capture_output=True, check=True, text=True, env=env
        ).stdout.splitlines()

    return ask


def new_lines(place: Any) -> set[bytes]:
    """Lines that only the solution and its tests have, long enough to be nobody else's."""
    base = b"".join(p.read_bytes() for p in place.image.workspace.rglob("*") if p.is_file() and not p.is_symlink())
    patch = (place.change.golden + place.change.test).splitlines()
    added = {line[1:].strip() for line in patch if line.startswith(b"+") and not line.startswith(b"+++")}
    return {line for line in added if len(line) > 30 and line not in base}


def test_the_repository_is_one_commit_and_holds_nothing_that_it_does_not_reach(git: Any, locks: Locks) -> None:
    assert git("rev-list", "--all", "--reflog") == [locks.task.source.commit]
    assert git("rev-parse", "HEAD^{tree}") == [locks.task.source.tree]
    every = {line.split()[0] for line in git("cat-file", "--batch-all-objects", "--batch-check")}
    reached = {line.split()[0] for line in git("rev-list", "--objects", "--all")}
    assert every == reached


def test_the_work_tree_is_clean_and_its_products_are_ignored(git: Any) -> None:
    assert git("status", "--porcelain") == []


def test_the_solution_is_in_no_layer_of_the_image(place: Any) -> None:
    lines = new_lines(place)
    assert len(lines) > 20
    for path in place.image.trees[-1].rglob("*"):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            assert not [line for line in lines if line in data], path


def test_every_entry_of_the_layer_is_dated_by_the_epoch_and_owned_by_who_shall_own_it(
    place: Any, locks: Locks, bench: Workbench
) -> None:
    layer = bench.store.blob(locks.task.image.diff_ids[-1])
    with tarfile.open(layer, "r:") as archive:
        members = archive.getmembers()
    assert {m.mtime for m in members} == {locks.task.image.source_date_epoch}
    inside = [m for m in members if m.name.startswith("workspace/")]
    assert {(m.uid, m.gid) for m in inside} == {(1000, 1000)}
    assert {(m.uid, m.gid) for m in members if not m.name.startswith("workspace")} == {(0, 0)}
    assert [m.name for m in members] == sorted((m.name for m in members), key=os.fsencode)
    assert {m.uname + m.gname for m in members} == {""}


def test_the_project_is_installed_at_its_own_version_and_editable(place: Any) -> None:
    assert (place.image.notes["name"], place.image.notes["version"]) == ("unidiff", "1.0.0")
    assert list((place.image.trees[-1] / "opt/venv").rglob("*unidiff*"))


def test_the_images_configuration_names_the_sandboxes_user_and_nothing_of_this_machine(
    place: Any, bench: Workbench
) -> None:
    config = json.parse(place.image.image.config, where="config")
    assert config["config"]["User"] == "1000:1000"
    assert config["config"]["WorkingDir"] == "/workspace"
    assert "HOME=/home/agent" in config["config"]["Env"]
    assert str(bench.store.root) not in place.image.image.config.decode()
