"""A store to be damaged, and ways to die."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from attrs import frozen

from nanobench.image.realise import Locks, realise
from nanobench.image.workbench import Workbench
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.store.store import Store

DYING = """
import os, pathlib, psutil, signal
def die():
    children = psutil.Process().children(recursive=True)
    pathlib.Path(os.environ["DYING"]).write_text("\\n".join(f"{p.pid} {p.create_time()}" for p in children))
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def dying() -> str:
    """Python that defines ``die()``: note all descendants in the file ``$DYING``, then SIGKILL oneself."""
    return DYING


@frozen
class Descendants:
    """What a process that died had started."""

    note: Path

    def count(self) -> int:
        return len(self.note.read_text().splitlines())

    def alive(self) -> list[psutil.Process]:
        """Those that are still there after a while."""
        found = []
        for line in self.note.read_text().splitlines():
            pid, created = line.split()
            try:
                process = psutil.Process(int(pid))
                found += [process] if str(process.create_time()) == created else []
            except psutil.NoSuchProcess:
                continue
        alive = psutil.wait_procs(found, timeout=20)[1]
        return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture
def descendants(tmp_path: Path) -> Descendants:
    return Descendants(tmp_path / "descendants")


@frozen
class Spare:
    """A store of its own whose blobs are the warm store's until they are touched. It has no closure."""

    root: Path
    warm: Path

    def own_blob(self, digest: str) -> Path:
        """A blob's own copy, to be changed; its neighbours stay."""
        algorithm, value = digest.split(":")
        folder = self.root / "blobs" / algorithm / value[:2]
        if folder.is_symlink():
            folder.unlink()
            shutil.copytree(self.warm / "blobs" / algorithm / value[:2], folder)
        return folder / value

    def forget(self, digest: str) -> None:
        """Neither the layer nor its tree is here, nor is it known which it was."""
        value = digest.partition(":")[2]
        self.own_blob(digest).unlink()
        for path in (self.root / "trees").glob(f"{value}*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for recipe in (self.root / "recipes").glob("*/*"):
            if value in recipe.read_text():
                recipe.unlink()

    def unpack(self, locks: Locks) -> None:
        """Make every tree of the image that is not here."""
        bench = Workbench(store=Store(self.root), engine=Bubblewrap(), say=lambda _: None)
        realise(locks, online=None, bench=bench)

    def restore(self) -> None:
        """Every blob is the warm store's again."""
        for folder in (self.root / "blobs").glob("*/*"):
            if folder.is_symlink():
                folder.unlink()
            else:
                shutil.rmtree(folder)
        for folder in (self.warm / "blobs").glob("*/*"):
            place = self.root / "blobs" / folder.parent.name / folder.name
            place.symlink_to(folder, target_is_directory=True)


@pytest.fixture(scope="session")
def spare_of_session(warm_store: Path, locks: Locks, tmp_path_factory: pytest.TempPathFactory) -> Spare:
    root = Store(tmp_path_factory.mktemp("spare") / "store").root
    shutil.copytree(warm_store / "recipes", root / "recipes", dirs_exist_ok=True)
    return Spare(root, warm_store)


@pytest.fixture
def spare(spare_of_session: Spare) -> Iterator[Spare]:
    spare_of_session.restore()
    yield spare_of_session


@pytest.fixture
def flip() -> Callable[[Path], None]:
    """Change one bit in the middle of a file: its size and its time stay."""

    def change(path: Path) -> None:
        before, mode = path.stat(), path.stat().st_mode
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.chmod(0o644)
        path.write_bytes(bytes(data))
        path.chmod(mode)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    return change
