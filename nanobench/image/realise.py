"""From locks alone to the image they name: fetch what is pinned, build, and compare every digest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.online import Online
from nanobench.errors import Refused
from nanobench.formats.converter import structure
from nanobench.formats.documents import spec_of
from nanobench.image.environment import BuiltEnvironment, build_environment
from nanobench.image.sources import bring, source_of
from nanobench.image.task import BuiltTask, build_task
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.model.lock import EnvironmentLock, Package, TaskLock
from nanobench.model.task import Task
from nanobench.sources.interface import Source


@frozen(kw_only=True)
class Locks:
    """A task's lock and the environment's lock that it names; and the task's folder, if it is at hand."""

    task: TaskLock
    environment: EnvironmentLock
    folder: Path | None = None

    @property
    def spec(self) -> Task:
        """The task spec that was locked."""
        return spec_of(self.task)

    @property
    def source(self) -> Source:
        """The task's source."""
        return source_of(self.spec, self.task.source.pins, folder=self.folder)


def packages_of(locks: Locks) -> tuple[Package, ...]:
    """Every file of a registry that the image is made from."""
    return (*locks.environment.package, *locks.source.packages())


def realise_environment(lock: EnvironmentLock, *, online: Online | None, bench: Workbench) -> BuiltEnvironment:
    """The layers of an environment lock.

    Raises:
        Refused: ``NB_IMAGE_DIFFERS`` naming the layer that came out different.
    """
    where = f"locks/environments/{lock.name}.lock.toml"
    spec = structure(lock.original, Environment, where=f"{where}: original")
    _bring(lock.package, online, bench)
    built = build_environment(
        spec,
        lock.package,
        epoch=lock.source_date_epoch,
        bench=bench,
        built=lock.built,
        lockfile=lock.lockfile,
    )
    differing = tuple(
        f"layer {new.role}: built {new.diff_id} ({new.size} bytes), locked {old.diff_id} ({old.size} bytes)"
        for old, new in zip(lock.layer, built.layers, strict=False)
        if old != new
    )
    if differing or len(lock.layer) != len(built.layers):
        raise _differs(where, differing)
    return built


def realise(locks: Locks, *, online: Online | None, bench: Workbench) -> BuiltTask:
    """The image of a task's lock, every digest compared.

    Raises:
        Refused: ``NB_IMAGE_DIFFERS`` naming every digest that came out different.
    """
    environment = realise_environment(locks.environment, online=online, bench=bench)
    bring(locks.source, bench.store, online=online, say=bench.say, progress=bench.fetched)
    built = build_task(locks.source, environment, bench=bench)
    differing = identity_differences(locks.task, built)
    if differing:
        raise _differs(f"locks/{locks.task.task}.lock.toml", differing)
    return built


def _bring(packages: Iterable[Package], online: Online | None, bench: Workbench) -> None:
    """Have every file, and look at each: a damaged one is refused even where nothing is built from it any more."""
    wanted = tuple(packages)
    fetch(wanted, bench.store, online=online, say=bench.say, progress=bench.fetched)
    for package in wanted:
        bench.store.blob(package.digest)


def identity_differences(lock: TaskLock, built: BuiltTask) -> tuple[str, ...]:
    """Every way in which a built image is not the locked one."""
    found = built.locked()
    pairs = {
        "image.manifest_digest": (lock.image.manifest_digest, found.manifest_digest),
        "image.config_digest": (lock.image.config_digest, found.config_digest),
        "image.source_date_epoch": (lock.image.source_date_epoch, found.source_date_epoch),
        "image.captured": (lock.image.captured, found.captured),
        "source.commit": (lock.source.commit, built.repository.commit),
        "source.tree": (lock.source.tree, built.repository.tree),
        **{
            f"image.diff_ids[{n}]": pair
            for n, pair in enumerate(zip(lock.image.diff_ids, found.diff_ids, strict=False))
        },
        "image.diff_ids": (len(lock.image.diff_ids), len(found.diff_ids)),
    }
    return tuple(f"{key}: built {new}, locked {old}" for key, (old, new) in pairs.items() if old != new)


def _differs(where: str, details: tuple[str, ...]) -> Refused:
    return Refused(
        "NB_IMAGE_DIFFERS",
        "what was built from the lock is not what it names",
        where=where,
        details=details,
        hint="nanobench store verify looks for damage; a changed recipe needs nanobench lock --upgrade-input recipe",
    )
