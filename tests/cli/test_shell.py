from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nanobench.project.files import Project

MAIN = "import sys; sys.argv[0] = 'nanobench'; from nanobench.cli.main import main; main()"
HOSTILE = ("/bin/printf", r"\033]0;title\007\377\n")


def test_without_a_terminal_a_command_is_asked_for_before_anything_is_done(
    nanobench: Any, repository: Project, demo: str, tmp_path: Path
) -> None:
    done = nanobench("shell", demo, "--project", repository.root, "--store", tmp_path / "store")
    assert done.code == 2
    assert "no terminal: give a command after --" in done.err
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("terminal", "shown"),
    [(False, b"\x1b]0;title\x07\xff\n"), (True, rb"\x1b]0;title\x07\xff" + b"\r\n")],
    ids=["pipe", "terminal"],
)
def test_a_terminal_gets_no_command_of_the_output_and_a_pipe_its_very_bytes(
    repository: Project, demo: str, warm_store: Path, terminal: bool, shown: bytes
) -> None:
    read, write = pty.openpty() if terminal else os.pipe()
    place = ("--offline", "--project", str(repository.root), "--store", str(warm_store))
    command = [sys.executable, "-c", MAIN, "shell", demo, *place, "--", *HOSTILE]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    assert os.read(read, 1000) == shown
    os.close(read)
    os.close(write)


def test_a_command_in_the_locked_image_has_its_own_output_and_exit_code(
    nanobench: Any, repository: Project, demo: str
) -> None:
    script = "pwd; git log --format=%H; id -u; ls /nanobench; echo talk >&2; echo x > kept; exit 7"
    done = nanobench("shell", demo, "--offline", "--project", repository.root, "--", "/bin/sh", "-c", script)
    commit = repository.root / f"locks/{demo}.lock.toml"
    assert done.code == 7
    lines = done.out.splitlines()
    assert lines[0] == "/workspace"
    assert f'commit = "{lines[1]}"' in commit.read_text()
    assert lines[2] == "1000"
    assert done.err == "talk\n"


def test_nothing_of_it_is_kept(nanobench: Any, repository: Project, demo: str) -> None:
    for _ in range(2):
        done = nanobench(
            *("shell", demo, "--offline", "--project", repository.root),
            *("--", "/bin/sh", "-c", "test ! -e kept && echo x > kept"),
        )
        assert done.code == 0, done.err


def test_a_stale_lock_opens_no_shell(nanobench: Any, copied: Project, demo: str) -> None:
    (copied.root / f"tasks/{demo}/statement.md").write_text("Other words.\n")
    done = nanobench("shell", demo, "--offline", "--project", copied.root, "--", "true")
    assert done.code == 1
    assert "NB_LOCK_STALE" in done.err
