"""What makes a function a fuzz target: bytes in; a value, or a refusal of ours."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nanobench.archives.bounds import Bounds
from nanobench.errors import NanobenchError
from nanobench.formats.printable import printable

Target = Callable[[bytes], object]
TARGETS: dict[str, Target] = {}
SMALL = Bounds(members=1000, total=1 << 20, member=1 << 20)


def target(function: Target) -> Target:
    """The function as a fuzz target of its name; a refusal is an answer like any other."""

    def run(data: bytes) -> object:
        try:
            return function(data)
        except NanobenchError as refusal:
            assert printable(str(refusal)) and json.dumps(refusal.document())
            return refusal

    TARGETS[function.__name__] = run
    return run


@contextmanager
def place() -> Iterator[Path]:
    """A directory in memory for what has to be a file."""
    memory = Path("/dev/shm")
    path = Path(tempfile.mkdtemp(prefix="fuzz-", dir=memory if memory.is_dir() else None))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def as_file(data: bytes, folder: Path) -> Path:
    path = folder / "input"
    path.write_bytes(data)
    return path
