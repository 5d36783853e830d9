"""The user's own commands in an empty store: what is done again for a second task, and for a second ``lock``.

The pinned files are laid into the store as a task needs them, so no network is used and its speed is not measured.
What a command builds it says, line by line; that is what is counted.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from attrs import frozen

from benchmarks.measure import Place, Row
from nanobench.gates.tools import TOOLS
from nanobench.runner.stage import LockedTask
from nanobench.sources.interface import Pinned
from nanobench.store.store import Store

AIM_PEAK_MIB = 300
_PROJECT = ("tasks", "environments", "locks")
_PROGRAM = "from nanobench.cli.main import main; main()"
# The peak of a process counts what it was before it became another program: so a small process starts the large one.
_MEASURED = (
    "import resource, subprocess, sys\n"
    "code = subprocess.call(sys.argv[1:])\n"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    "sys.exit(code)\n"
)


@frozen(kw_only=True)
class Done:
    """One command: seconds, peak of its largest process, the layers it built, what the store holds after it."""

    seconds: float
    peak_mib: float
    built: tuple[str, ...]
    stored_mib: float


def rows(place: Place) -> Iterator[Row]:
    """Builds of two tasks one after the other, then ``lock`` twice; all of them in a store of their own."""
    one, two, *_ = (stage.locked for stage in place.stages.values())
    with place.bench.store.scratch("bench") as scratch:
        for name in _PROJECT:
            shutil.copytree(Path.cwd() / name, scratch / name)
        needed = lay(one, place.bench.store, Store(scratch / "store"))
        first = _run(scratch, "build", one.task.value.task)
        more = lay(two, place.bench.store, Store(scratch / "store"))
        second = _run(scratch, "build", two.task.value.task)
        cold = _run(scratch, "lock", one.task.value.task)
        warm = _run(scratch, "lock", one.task.value.task)
    yield from sharing(needed, more, first, second)
    yield Row(name="peak memory of a build", unit="MiB", value=first.peak_mib, aim=AIM_PEAK_MIB)
    yield Row(
        name="lock again: no byte changes",
        unit="s",
        value=warm.seconds,
        yardstick="build and lock from the pins",
        against=first.seconds + cold.seconds,
    )


def sharing(needed: tuple[Pinned, ...], more: tuple[Pinned, ...], first: Done, second: Done) -> Iterator[Row]:
    """The second task beside the first; and nothing that the first has brought or built may come again."""
    first_built, fetched_twice = set(first.built) - {"task"}, {p.digest for p in needed} & {p.digest for p in more}
    built_twice = [name for name in second.built if name in first_built]
    built_twice += [name for name in set(first.built) if first.built.count(name) > 1]
    mib = [sum(p.size for p in packages) / (1 << 20) for packages in (needed, more)]
    stored = (first.stored_mib, second.stored_mib - first.stored_mib)
    beside = "the first task"
    yield Row(name="second task: build", unit="s", value=second.seconds, yardstick=beside, against=first.seconds)
    yield Row(
        name="second task: layers", unit="layers", value=len(second.built), yardstick=beside, against=len(first.built)
    )
    yield Row(name="second task: fetched", unit="files", value=len(more), yardstick=beside, against=len(needed))
    yield Row(name="second task: fetched", unit="MiB", value=mib[1], yardstick=beside, against=mib[0])
    yield Row(name="second task: stored", unit="MiB", value=stored[1], yardstick=beside, against=stored[0])
    yield Row(name="fetched twice", unit="files", value=len(fetched_twice), aim=0)
    yield Row(name="built or packed twice", unit="layers", value=len(built_twice), aim=0)


def lay(locked: LockedTask, full: Store, empty: Store) -> tuple[Pinned, ...]:
    """Lay what is missing of a task's files and the gates' own into the store; which ones. A network would bring just
    these."""
    packages = (*locked.environment.value.package, *locked.harness.value.package, *TOOLS)
    registries = (Pinned(digest=package.digest, size=package.size) for package in packages)
    files = {file.digest: file for file in (*registries, *locked.locks.source.pinned())}
    missing = tuple(file for digest, file in files.items() if not empty.has(digest))
    for each in missing:
        with full.blob(each.digest).open("rb") as file, empty.incoming(each.digest, each.size) as incoming:
            shutil.copyfileobj(file, incoming, 1 << 20)
    return missing


def _run(scratch: Path, *words: str) -> Done:
    """Run one verb, without network, in the copied project and its own store."""
    options = ["--offline", "--project", str(scratch), "--store", str(scratch / "store")]
    command = [sys.executable, "-c", _PROGRAM, *words, *options]
    measured = [sys.executable, "-I", "-S", "-c", _MEASURED, *command]
    start = perf_counter()
    done = subprocess.run(measured, check=True, capture_output=True, text=True)
    return Done(
        seconds=perf_counter() - start,
        peak_mib=int(done.stdout.splitlines()[-1]) / 1024,
        built=tuple(re.findall(r"^building layer (\w+)", done.stderr, re.MULTILINE)),
        stored_mib=held(scratch / "store"),
    )


def held(root: Path) -> float:
    """MiB of disk that the store takes, as ``du`` counts."""
    done = subprocess.run(["du", "--summarize", "--block-size=1024", root], check=True, stdout=subprocess.PIPE)
    return int(done.stdout.split()[0]) / 1024
