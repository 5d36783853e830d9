from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from nanobench.project.files import Project
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.diagnose import trial
from nanobench.store.store import Store


class Elsewhere:
    """An engine that does not work here."""

    name = "docker"

    def __init__(self, *_: object) -> None:
        pass

    def check(self) -> tuple[str, ...]:
        return ("no daemon \x1b[31mlistens",)

    def leftovers(self) -> tuple[str, ...]:
        return ()

    sweep = leftovers


@pytest.fixture
def doctor(nanobench: Any, tmp_path: Path, copied: Project, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``doctor`` with a store and a folder for temporary files of its own."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr("nanobench.sandbox.docker.Docker", Elsewhere)
    where = ("--store", tmp_path / "store", "--project", copied.root)
    return lambda *arguments: nanobench("doctor", *arguments, *where)


def test_a_machine_that_has_everything_is_exit_0(doctor: Any) -> None:
    done = doctor("--json")
    findings = {finding["name"]: finding for finding in done.document["findings"]}
    assert done.code == 0
    assert all(finding["fine"] for finding in findings.values())
    assert findings["bubblewrap"]["found"] == "a sandbox starts"
    assert findings["leftovers"]["found"] == "none"


def test_what_dead_processes_left_is_named_and_then_removed(doctor: Any, tmp_path: Path, copied: Project) -> None:
    scratch = tmp_path / "store/scratch"
    doctor()
    for path in (scratch / "cell-0123456789abcdef", tmp_path / "tmp/nanobench-trial-x1y2z3"):
        (path / "deep/down").mkdir(parents=True)
        (path / "deep/down").chmod(0o500)
    (scratch / "cell-0123456789abcdef.lock").touch()
    (scratch / "file-0123456789abcdef.part").touch()
    (copied.root / "locks/.x.lock.toml.abcdefgh").touch()
    named = doctor("--keep")
    removed = doctor()
    assert named.code == removed.code == 0
    for done, words in ((named, "4 are left behind: "), (removed, "4 removed: ")):
        assert words in done.out
        for name in ("cell-0123456789abcdef", "file-0123456789abcdef.part", "nanobench-trial-x1y2z3", ".x.lock.toml"):
            assert name in done.out
    assert "leftovers: none" in doctor().out
    assert not list(scratch.iterdir()) + list((tmp_path / "tmp").iterdir())


def test_what_a_living_process_uses_is_left_alone(doctor: Any, tmp_path: Path) -> None:
    with Store(tmp_path / "store").scratch("cell") as scratch, trial() as request:
        assert "leftovers: none" in doctor().out
        assert scratch.is_dir()
        assert request.layers[0].is_dir()


def test_without_an_engine_it_is_exit_4_and_a_strangers_words_are_shown_harmlessly(
    doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bubblewrap, "check", lambda _: ("no user namespaces → sysctl -w x=1",))
    done = doctor()
    assert done.code == 4
    assert "LACK bubblewrap: no user namespaces → sysctl -w x=1" in done.out
    assert "LACK docker: no daemon \\x1b[31mlistens" in done.out


def test_a_missing_tool_is_named_with_what_it_is_for(doctor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool == "apt-get" else f"/usr/bin/{tool}")
    done = doctor()
    assert done.code == 4
    assert "LACK apt-get: not found; needed for resolving Debian packages (lock only)" in done.out
