from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from nanobench.sandbox import disk
from nanobench.sandbox.interface import WORKSPACE, Ended, Mount, Request, SandboxLimits
from nanobench.sandbox.output import outputs
from nanobench.sandbox.tree import Usage, usage
from nanobench.sandbox.watch import Watch

LIMITS = SandboxLimits(cpus=1, memory_mib=64, pids=8, disk_mib=64, seconds=60)


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    (tmp_path / "workspace").mkdir()
    request = Request(
        layers=(),
        argv=("/bin/true",),
        limits=LIMITS,
        stdout=tmp_path / "stdout",
        stderr=tmp_path / "stderr",
        mounts=(Mount(source=tmp_path / "workspace", target=WORKSPACE, writable=True),),
    )
    with outputs(request, None) as files:
        watch = Watch(request, os.getpid(), files, {0})
        yield watch
        watch.close()


@pytest.fixture
def slow_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that lost 100 MiB to others since the beginning, and on which walking takes two seconds."""
    free = iter([1 << 40, *[(1 << 40) - (100 << 20)] * 9])
    monkeypatch.setattr(disk.Disk, "_free_now", lambda _: next(free))
    now = monotonic()

    def walked(top: Path, *, most: int, until: float) -> Usage:
        found: Any = usage(top, most=most, until=until)
        return Usage(bytes=found.bytes, complete=found.complete and until > now + 2)

    monkeypatch.setattr(disk, "usage", walked)


def test_after_the_end_a_large_workspace_is_looked_through_and_not_taken_for_what_others_wrote(
    slow_disk: None, watch: Watch
) -> None:
    assert watch.last() is None


def test_what_is_really_there_counts_after_the_end(slow_disk: None, watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "workspace/large").write_bytes(bytes(LIMITS.disk_mib + 1 << 20))
    assert watch.last() is Ended.DISK
