from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nanobench.store.store import Store

_PRELUDE = """
import sys, time
from pathlib import Path
from nanobench.store.store import Store
root = Path(sys.argv[1])
store = Store(root)
def ready():
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path: Path, said: list[str]) -> Store:
    return Store(tmp_path / "store", say=said.append, patience=0)


@pytest.fixture
def other(store: Store) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Another process that uses the same store; ``ready()`` in its code waits until its stdin is closed."""
    running: list[subprocess.Popen[str]] = []

    def start(code: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _PRELUDE + code, str(store.root)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()
