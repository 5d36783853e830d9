"""Run by path in surroundings that a test made; makes those that only the process itself can make.

    python elsewhere.py OPTIONS nanobench ARGUMENT…     the command line
    python elsewhere.py OPTIONS parts STORE             a small part of everything; prints part → digest as JSON

OPTIONS is JSON: ``shuffle`` (list every directory in another order each time), ``clock`` (libfaketime and by how many
days it moves the clock, for sandboxes and what they write), and for the second form ``project``, ``task`` and
``trees``. At the end the file ``facts`` in the current directory says what the surroundings looked like.
"""

from __future__ import annotations

import json
import os
import random
import re
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from attrs import evolve

from nanobench.archives.entries import Entry, entries_of
from nanobench.cli import common
from nanobench.cli.main import main
from nanobench.ecosystems import debian, python
from nanobench.errors import Refused
from nanobench.formats.converter import structure
from nanobench.harness.closure import EPOCH, assemble
from nanobench.image.environment import BuiltEnvironment, workshop
from nanobench.image.layers import pack
from nanobench.image.realise import Locks
from nanobench.image.task import build_task
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.model.lock import EnvironmentLock, HarnessLock, Package, TaskLock
from nanobench.project.files import Project
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.interface import MOUNTS, Finished, Mount, Request
from nanobench.store.store import Store

HOUR, DAY = 3600, 86_400


class Shuffled:
    """What ``os.scandir`` returns, in another order."""

    def __init__(self, listing: Any) -> None:
        self._listing, self._entries = listing, list(listing)
        random.shuffle(self._entries)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if not self._entries:
            raise StopIteration
        return self._entries.pop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._listing.close()


def shuffle() -> None:
    """From now on nothing in this process sees a directory in the order of its file system."""
    scandir, listdir = os.scandir, os.listdir

    def listed(path: Any = ".") -> list[Any]:
        return random.sample(names := listdir(path), len(names))

    vars(os).update(scandir=lambda path=".": Shuffled(scandir(path)), listdir=listed)


def with_clock(library: Path, days: int) -> type[Bubblewrap]:
    """The engine, with another clock inside; what is written there has that clock's times."""
    mount = Mount(source=library.parent, target=f"{MOUNTS}/elsewhere")
    clock = {"LD_PRELOAD": f"{mount.target}/{library.name}", "FAKETIME": f"{days:+d}d", "NO_FAKE_STAT": "1"}

    class WithClock(Bubblewrap):
        def run(self, request: Request) -> Finished:
            mounts = (*request.mounts, mount)
            own = "LD_PRELOAD" in request.env  # a clock that a gate moved
            env = request.env if own else {**request.env, **clock}
            finished = super().run(evolve(request, env=env, mounts=mounts))
            for written in (m.source for m in request.mounts if m.writable):
                redate(written, days * DAY)
            return finished

    return WithClock


def redate(top: Path, shift: int) -> None:
    """Move the times of what was just written below ``top``: libfaketime leaves times of files to the kernel."""
    just_now = time.time() - shift - HOUR
    for folder, folders, names in os.walk(top):
        for path in (os.path.join(folder, name) for name in (*folders, *names)):
            written = os.lstat(path).st_mtime
            if written > just_now:
                os.utime(path, (written + shift, written + shift), follow_symlinks=False)


def surroundings() -> dict[str, Any]:
    """What this process sees of where and when it is."""
    umask = os.umask(0o022)
    os.umask(umask)
    status = Path("/proc/self/status").read_text()
    peak = re.search(r"VmHWM:\s*(\d+) kB", status)
    return {
        "uid": os.getuid(),
        "umask": umask,
        "host": socket.gethostname(),
        "cpus": len(os.sched_getaffinity(0)),
        "time": int(time.time()),
        "utc_offset": time.localtime().tm_gmtoff,
        "encoding": sys.getfilesystemencoding(),
        "peak_mib": int(peak[1]) // 1024 if peak else None,
    }


class Parts:
    """Builds parts of what a task's locks name, from whatever pinned files are in the store.

    ``trees`` are the environment's, lowest first.
    """

    def __init__(self, project: Project, task_id: str, trees: Sequence[Path], bench: Workbench) -> None:
        task = project.lock(TaskLock, task_id).value
        environment = project.lock(EnvironmentLock, task.environment.name).value
        self.harness = project.lock(HarnessLock, task.harness.name).value
        self.locks, self.bench = Locks(task=task, environment=environment), bench
        self.built = BuiltEnvironment(
            spec=structure(environment.original, Environment, where="environment"),
            packages=environment.package,
            epoch=environment.source_date_epoch,
            layers=environment.layer,
            trees=tuple(trees),
        )

    def build(self) -> dict[str, Any]:
        """``layers`` (part → digest), ``commit`` and ``date``."""
        task = build_task(self.locks.source, self.built, bench=self.bench)
        layers = {
            "debian": self._debian(),
            "python": self._python(),
            "task": task.image.layers[-1].diff_id,
            "harness": self._harness(),
        }
        return {"layers": layers, "commit": task.repository.commit, "date": self._date()}

    def _date(self) -> int:
        """Seconds since 1970, by the clock inside."""
        with workshop(self.built, self.bench, "clock") as shop:
            shop.command("/bin/date", "+%s", phase="clock", refusal=lambda **_: Refused("TEST", "no date"))
            return int(next(shop.scratch.glob("*-log/output")).read_text())

    def _debian(self) -> str:
        with self.bench.store.scratch("debian") as scratch:
            made = debian.assemble(self._here("debian"), self.bench.store, scratch, epoch=self.built.epoch)
            return self._packed(made.entries)

    def _python(self) -> str:
        below = evolve(self.built, trees=self.built.trees[:1])
        with workshop(below, self.bench, "python") as shop:
            return self._packed(python.install([p for p in self.built.packages if p.role != "debian"], shop=shop))

    def _harness(self) -> str:
        with self.bench.store.scratch("harness") as scratch:
            assemble(self._here("npm"), self.bench.store, scratch)
            return self._packed(tuple(entries_of(scratch, epoch=EPOCH)), epoch=EPOCH)

    def _here(self, role: str) -> list[Package]:
        pinned = (*self.built.packages, *self.harness.package)
        return [p for p in pinned if p.role == role and self.bench.store.has(p.digest)]

    def _packed(self, entries: Sequence[Entry], epoch: int | None = None) -> str:
        return pack(self.bench.store, entries, epoch=self.built.epoch if epoch is None else epoch).diff_id


@contextmanager
def told(options: dict[str, Any]) -> Iterator[Callable[[], Bubblewrap]]:
    """The surroundings that OPTIONS ask for; yields the engine. At the end the facts are written."""
    if options.get("shuffle"):
        shuffle()
    clock = options.get("clock")
    engine = with_clock(Path(clock["library"]), clock["days"]) if clock else Bubblewrap
    try:
        yield engine
    finally:
        Path("facts").write_text(json.dumps(surroundings()))


def run(options: dict[str, Any], verb: str, arguments: list[str]) -> None:
    with told(options) as engine:
        if verb == "nanobench":
            vars(common)["Bubblewrap"] = engine
            sys.argv = ["nanobench", *arguments]
            main()
        else:
            bench = Workbench(store=Store(Path(arguments[0])), engine=engine(), say=lambda _: None)
            trees = [Path(tree) for tree in options["trees"]]
            print(json.dumps(Parts(Project(Path(options["project"])), options["task"], trees, bench).build()))


if __name__ == "__main__":
    run(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3:])
