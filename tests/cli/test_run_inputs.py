"""One byte changed in anything that a run is made from: it does not begin, and the place is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.image.realise import Locks
from nanobench.project.files import Project


@pytest.fixture
def run(nanobench: Any, copied: Project, demo: str, tmp_path: Path) -> Callable[..., Any]:
    """Try to run the copied project's task; what was said."""

    def ask(*arguments: object) -> Any:
        where = ("--out", tmp_path / "bundle", "--project", copied.root, "--json")
        return nanobench("run", "--frozen", demo, "--provider", "nop", *where, *arguments)

    return ask


def said(error: Any) -> str:
    return "\n".join((error["where"], error["message"], *error["details"]))


FILES = {
    "the task spec": "tasks/{task}/task.toml",
    "the statement": "tasks/{task}/statement.md",
    "the environment spec": "environments/{environment}.toml",
    "the task lock": "locks/{task}.lock.toml",
    "the environment lock": "locks/environments/{environment}.lock.toml",
    "the harness lock": "locks/harness/{harness}.lock.toml",
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("part", [0.3, 0.6, 0.95])
def test_a_changed_file_of_the_project_is_refused_by_its_name(
    run: Any, copied: Project, demo: str, locks: Locks, kind: str, part: float
) -> None:
    names = {"task": demo, "environment": locks.environment.name, "harness": locks.task.harness.name}
    name = FILES[kind].format(**names)
    path = copied.root / name
    data = bytearray(path.read_bytes())
    at = _letter(data, int(len(data) * part))
    data[at] ^= 1
    path.write_bytes(bytes(data))
    done = run()
    assert done.code == 1, done.err
    assert name in said(done.document["error"])


def _letter(data: bytearray, at: int) -> int:
    """A byte that means something: no space, no comment."""
    while not chr(data[at]).isalnum() or b"#" in data[data.rfind(b"\n", 0, at) + 1 : at]:
        at += 1
    return at


@pytest.mark.parametrize("what", ["a package", "the base archive", "a layer", "the task layer"])
def test_a_changed_blob_is_refused_by_its_digest_and_put_aside(
    run: Any, spare: Any, flip: Any, locks: Locks, what: str
) -> None:
    digests = {
        "a package": next(p.digest for p in locks.environment.package if p.role == "debian"),
        "the base archive": locks.source.packages()[0].digest,
        "a layer": locks.task.image.diff_ids[1],
        "the task layer": locks.task.image.diff_ids[-1],
    }
    path = spare.own_blob(digests[what])
    flip(path)
    done = run("--store", spare.root)
    assert done.code == 1, done.err
    error = done.document["error"]
    assert (error["code"], error["where"]) == ("NB_BLOB_CORRUPT", digests[what])
    assert not path.exists()
    assert any(digests[what][7:] in kept.name for kept in (spare.root / "quarantine").iterdir())


@pytest.mark.parametrize("change", ["a byte", "a mode", "a new file", "a lost file"])
def test_a_changed_tree_is_refused_by_its_path_and_made_anew(
    run: Any, spare: Any, flip: Any, locks: Locks, nanobench: Any, change: str
) -> None:
    spare.unpack(locks)
    tree = spare.root / "trees" / locks.task.image.diff_ids[-1][7:]
    path = tree / "workspace/unidiff/patch.py"
    if change == "a byte":
        flip(path)
    elif change == "a mode":
        path.chmod(0o755)
    elif change == "a new file":
        path = tree / "workspace/unidiff/hint.py"
        path.write_text("x")
    else:
        path.unlink()
    done = run("--store", spare.root)
    assert done.code == 1, done.err
    error = done.document["error"]
    assert error["code"] == "NB_TREE_CHANGED"
    assert error["where"].startswith(str(tree))
    assert path.relative_to(tree).as_posix() in error["where"] or change in ("a new file", "a lost file")
    assert not tree.exists()
    spare.unpack(locks)
    assert (tree / "workspace/unidiff/patch.py").stat().st_mode & 0o777 == 0o644
