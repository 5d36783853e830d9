"""The targets of the Makefile work as they are."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGETS = (
    "setup",
    "demo",
    "test",
    "attacks",
    "lint",
    "lock",
    "run",
    "matrix",
    "verify",
    "bench",
    "fuzz",
    "golden",
    "clean",
)


def make(*words: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(["make", *words], cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-6000:]}"
    return done.stdout


def test_these_are_the_targets() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None and tuple(phony[1].split()) == TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_has_its_commands(target: str, copy: Path) -> None:
    shutil.rmtree(copy / ".venv")
    commands = make("--dry-run", target, cwd=copy)
    assert commands and (target == "clean" or "-m venv .venv" in commands)


def test_a_python_that_is_too_old_is_told(copy: Path) -> None:
    shutil.rmtree(copy / ".venv")
    (copy / "old").write_text(
        "#!/bin/sh\nexec python3 -c 'import sys; sys.version_info = (3, 10); exec(sys.argv[2])' \"$@\"\n"
    )
    (copy / "old").chmod(0o755)
    done = subprocess.run(["make", "setup", "PYTHON=./old"], cwd=copy, capture_output=True, text=True)
    assert done.returncode != 0 and "Python 3.11 or later is needed" in done.stderr


def test_golden_changes_nothing(copy: Path, environment: dict[str, str]) -> None:
    assert "wrote" not in make("golden", cwd=copy, env=environment)


@pytest.mark.network
@pytest.mark.timeout(1200)
def test_a_locked_task_is_run_and_verified(copy: Path, environment: dict[str, str]) -> None:
    said = make("run", "TASK=unidiff-1.0.1", cwd=copy, env=environment)
    (bundle,) = (copy / "runs").iterdir()
    assert str(bundle) in said and "1.0 Complete Resolution" in said
    assert "retest   pass" in make("verify", f"BUNDLE=runs/{bundle.name}", cwd=copy, env=environment)
