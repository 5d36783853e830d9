"""Other surroundings for the real command line, a second store with pinned files only, and where layers differ."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from attrs import evolve, field, frozen

from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.online import Online
from nanobench.gates.tools import TOOLS
from nanobench.image.realise import Locks, packages_of
from nanobench.model.fields import Digest
from nanobench.model.lock import EnvironmentLock, HarnessLock, Package, TaskLock
from nanobench.project.files import Project
from nanobench.store.store import Store

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("elsewhere.py")
DEMOS = ("unidiff-1.0.1",)
ODD = "Önder's: an odd, şmall folder"
"""Everything that needs quoting somewhere, and letters that need an encoding."""

HOST, NOBODY = "elsewhere", 12345
"""Another host name, and a uid that no machine names."""


@frozen(kw_only=True)
class Surroundings:
    """How a process is started. ``days`` is by how much its clock is moved, inside sandboxes too; ``root`` is where
    its root directory is for us."""

    umask: str = "022"
    shuffle: bool = False
    days: int = 0
    cpus: str | None = None
    uid: int | None = None
    env: dict[str, str] = field(factory=dict)
    wrapper: tuple[str, ...] = ()
    root: Path = Path("/")

    def here(self, path: Path) -> Path:
        """Where we find what is at ``path`` there."""
        return self.root / path.relative_to("/")

    def own(self, path: Path) -> None:
        """Give all below ``path`` to who runs there."""
        if self.uid is not None:
            subprocess.run(["chown", "-R", f"{self.uid}:{self.uid}", self.here(path)], check=True)

    def command(self, *command: object, cwd: Path, env: dict[str, str]) -> list[str]:
        """The command that starts ``command`` there."""
        uid = self.uid
        shed = () if uid is None else ("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups")
        begin = ("sh", "-c", 'umask "$1"; cd "$2"; shift 2; exec "$@"', "sh", self.umask, cwd)
        bound = ("taskset", "--cpu-list", self.cpus) if self.cpus else ()
        clean = ("env", "-i", *(f"{name}={value}" for name, value in (self.env | env).items()))
        return [str(part) for part in (*self.wrapper, *shed, *begin, *bound, *clean, *command)]


@frozen(kw_only=True)
class Done:
    """What a process came to, and what it saw of its surroundings."""

    code: int
    out: str
    err: str
    facts: dict[str, Any]


@pytest.fixture(scope="session")
def libfaketime() -> Path | None:
    """The library that puts a process into another time. Where it is missing the time stays; CI must have it."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found and os.environ.get("CI") == "true":
        pytest.fail("libfaketime is missing: apt-get install faketime")
    return found[0] if found else None


@pytest.fixture(scope="session")
def surroundings() -> type[Surroundings]:
    return Surroundings


@pytest.fixture(scope="session")
def go(libfaketime: Path | None) -> Callable[..., Done]:
    """Runs ``elsewhere.py`` in surroundings, to its end: ``go(there, "nanobench", "lock", …, place=…)``."""

    def run(there: Surroundings, *arguments: object, place: Path, **options: Any) -> Done:
        env = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
        options["shuffle"] = there.shuffle
        if there.days and libfaketime:
            options["clock"] = {"library": str(libfaketime), "days": there.days}
            # The store tells by the kernel's times of files whether they were changed.
            env |= {"LD_PRELOAD": str(libfaketime), "FAKETIME": f"{there.days:+d}d", "NO_FAKE_STAT": "1"}
        command = there.command(sys.executable, SCRIPT, json.dumps(options), *arguments, cwd=place, env=env)
        done = subprocess.run(command, capture_output=True, timeout=500, encoding="utf-8", errors="replace")
        facts = there.here(place / "facts")
        seen = json.loads(facts.read_text()) if facts.exists() else {}
        return Done(code=done.returncode, out=done.stdout, err=done.stderr, facts=seen)

    return run


# Far away: another user on another file system of another host ------------------------------------------------------


@pytest.fixture(scope="module")
def far_away(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Surroundings, Path]]:
    """As far as this user gets: as root another host name, a file system in memory, and an ordinary user without a
    name or home, in namespaces that are gone when this process is. Yields an empty folder there too."""
    odd = Surroundings(
        umask="077",
        shuffle=True,
        days=365,
        cpus=str(min(os.sched_getaffinity(0))),
        # Names of files are bytes, and this encoding has no letters for most of them.
        env={"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )
    own = tmp_path_factory.mktemp("elsewhere")
    if os.geteuid() != 0:
        place = own / ODD
        place.mkdir()
        yield odd, place
        return
    with _namespaces() as holder:
        base, enter = _free_mountpoint(), ("nsenter", f"--target={holder}", "--mount", "--uts")
        _set_up(enter, base, own)
        there, place = evolve(odd, uid=NOBODY, wrapper=enter, root=Path(f"/proc/{holder}/root")), base / ODD
        there.here(place).mkdir()
        there.own(place)
        yield there, place


@contextmanager
def _namespaces() -> Iterator[int]:
    """The pid of a process in a mount and a host name namespace of its own; it ends when its input does."""
    command = ["unshare", "--mount", "--uts", "sh", "-c", "echo; exec cat"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"\n"
        yield holder.pid
        holder.communicate()


def _set_up(enter: tuple[str, ...], base: Path, disk: Path) -> None:
    """Mount ``base`` (in memory, when there is enough of it), name the host, open the way to Python."""

    def call(*command: object) -> None:
        subprocess.run([*enter, *map(str, command)], check=True)

    if psutil.virtual_memory().available > 8 << 30:
        call("mount", "-t", "tmpfs", "-o", "size=6g", "nanobench", base)
    else:
        call("mount", "--bind", disk, base)
    call("chmod", "0755", base)
    call("sh", "-c", f"echo {HOST} > /proc/sys/kernel/hostname")
    opened: list[Path] = []
    for number, path in enumerate(_closed()):
        if not any(above in opened for above in path.parents):
            upper, work = base / f"upper{number}", base / f"work{number}"
            call("mkdir", upper, work)
            call("mount", "-t", "overlay", "-o", f"lowerdir={path},upperdir={upper},workdir={work}", "overlay", path)
            opened.append(path)
        call("chmod", "o+x", path)


def _free_mountpoint() -> Path:
    """A directory that every machine has and that nothing needed lies below."""
    needed = _needed()
    return next(p for p in map(Path, ("/mnt", "/media", "/srv")) if not any(n.is_relative_to(p) for n in needed))


def _closed() -> list[Path]:
    """The directories on the way to Python and this checkout that others may not enter; opened there only."""
    above = {parent for path in _needed() for parent in (path, *path.parents)}
    return sorted(path for path in above if path.is_dir() and not path.stat().st_mode & 0o001)


def _needed() -> set[Path]:
    places = (ROOT, Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable))
    return {path for place in places for path in (place, place.resolve())}


# The committed locks, and a second store ----------------------------------------------------------------------------


@frozen(kw_only=True)
class Demos:
    """The committed locks of the demo tasks, which share an environment and a harness."""

    tasks: tuple[TaskLock, ...]
    environment: EnvironmentLock
    harness: HarnessLock

    def packages(self, *tasks: str) -> tuple[Package, ...]:
        """Every pinned file that the images of these tasks are made from."""
        chosen = (task for task in self.tasks if task.task in tasks)
        images = (packages_of(Locks(task=task, environment=self.environment)) for task in chosen)
        return tuple(package for packages in images for package in packages)

    def for_gates(self) -> tuple[Package, ...]:
        """What the gates need beside the images."""
        return (*self.harness.package, *TOOLS)

    def layers(self) -> frozenset[Digest]:
        """Every layer of every image."""
        return frozenset(digest for task in self.tasks for digest in task.image.diff_ids)


@pytest.fixture(scope="session")
def demos(repository: Project) -> Demos:
    tasks = tuple(repository.lock(TaskLock, name).value for name in DEMOS)
    (environment,) = {task.environment.name for task in tasks}
    (harness,) = {task.harness.name for task in tasks}
    return Demos(
        tasks=tasks,
        environment=repository.lock(EnvironmentLock, environment).value,
        harness=repository.lock(HarnessLock, harness).value,
    )


@pytest.fixture(scope="session")
def seed(warm_store: Path) -> Callable[[Iterable[Package], Path], None]:
    """Puts the pinned files of packages, and nothing else, into the store at a path; fetched once if at all."""
    full = Store(warm_store)

    def fill(packages: Iterable[Package], place: Path) -> None:
        pinned = {package.digest: package for package in packages}
        with Online() as online:
            fetch(pinned.values(), full, online=online, say=lambda _: None)
        for digest in pinned:
            blob = full.blob(digest)
            copy = place / blob.relative_to(full.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(blob, copy)

    return fill


# Where layers differ ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def differences() -> Callable[[Path, Path], list[str]]:
    """The paths in which two layers differ, and in what."""
    return _differences


@pytest.fixture(scope="session")
def located(warm_store: Path) -> Callable[[Path, frozenset[Digest]], str]:
    """Which of the expected layers a store has not, and where the layer that it has in its place differs."""
    home = Store(warm_store)

    def look(place: Path, expected: frozenset[Digest]) -> str:
        blobs = (path for path in (place / "blobs/sha256").glob("??/*") if not path.suffix)
        there = {Digest(f"sha256:{path.name}"): path for path in blobs}
        missing = sorted(digest for digest in expected if digest not in there)
        strange = [path for digest, path in there.items() if digest not in expected and _is_layer(path)]
        lines = []
        for digest in missing:
            lines.append(f"no layer {digest}")
            lines += _nearest(home.blob(digest), strange) if home.has(digest) else ["and none here to compare with"]
        return "\n".join(lines)

    return look


def _is_layer(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(262)[257:] == b"ustar"


def _nearest(layer: Path, others: list[Path]) -> list[str]:
    """Where a layer of mostly the same paths differs from ``layer``."""
    names = _members(layer).keys()
    alike = [other for other in others if 2 * len(names & _members(other).keys()) > len(names)]
    return min((_differences(layer, other) for other in alike), key=len, default=["it was not built"])[:30]


def _differences(one: Path, other: Path) -> list[str]:
    before, after = _members(one), _members(other)
    paths = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
    moved = [(a, b) for a, b in zip(before, after, strict=False) if a != b and not paths][:1]
    return [
        *(f"{path}: {before.get(path)} → {after.get(path)}" for path in paths),
        *(f"{a}: {b} stands in its place" for a, b in moved),
    ]


def _members(layer: Path) -> dict[str, str]:
    found = {}
    with tarfile.open(layer) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.isreg() else None
            content = hashlib.sha256(file.read()).hexdigest()[:12] if file else member.linkname
            facts = (member.type.decode(), f"{member.mode:o}", f"{member.uid}:{member.gid}", member.mtime)
            found[member.name] = " ".join(map(str, (*facts, member.size, content)))
    return found
