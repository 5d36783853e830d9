"""Closed, narrow and broken standard streams change no exit code and are no bug of ours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from nanobench.project.files import Project

MAIN = "import sys; sys.argv[0] = 'nanobench'; from nanobench.cli.main import main; main()"
Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(copied: Project, demo: str) -> Shell:
    """``task check`` in a shell, with the given redirection; ``bad`` makes its verdict a no."""

    def run(redirection: str, *, bad: bool = False, python: str = "") -> subprocess.CompletedProcess[str]:
        if bad:
            task = copied.root / f"tasks/{demo}/task.toml"
            task.write_text(task.read_text() + "\nunknown = 1\n")
        command = [sys.executable, "-c", MAIN, "task", "check", demo, "--project", str(copied.root)]
        script = ["/bin/bash", "-c", f'{python} "$@" {redirection}', "bash", *command]
        return subprocess.run(script, capture_output=True, text=True)

    return run


@pytest.mark.parametrize(
    ("redirection", "bad"),
    [(">&-", False), ("<&- >&- 2>&-", True), ("| :; exit ${PIPESTATUS[0]}", False)],
)
def test_a_verdict_that_nobody_reads_has_its_exit_code(shell: Shell, redirection: str, bad: bool) -> None:
    done = shell(redirection, bad=bad)
    assert (done.returncode, done.stdout) == (int(bad), ""), done.stderr
    assert "NB_BUG" not in done.stderr
    assert "Traceback" not in done.stderr


def test_talk_that_nobody_reads_changes_nothing(shell: Shell) -> None:
    said = shell("2>/dev/null", bad=True)
    unread = shell("2>&1 >/dev/null | :; exit ${PIPESTATUS[0]}", bad=False)
    assert (said.returncode, unread.returncode) == (1, 1)


def test_what_an_encoding_lacks_is_spelled_out(shell: Shell) -> None:
    done = shell("", python="PYTHONIOENCODING=ascii")
    assert done.returncode == 0, done.stderr
    assert "\\u2192 nanobench lock" in done.stdout


def test_a_full_disk_below_stdout_is_the_machines(shell: Shell) -> None:
    done = shell("> /dev/full")
    assert done.returncode == 4
    assert done.stderr.startswith("NB_OS: No space left on device")
    assert "Traceback" not in done.stderr
