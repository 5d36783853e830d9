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
