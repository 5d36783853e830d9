"""The second build of the image gate: from the same pins, into an empty store that is thrown away."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

from attrs import evolve

from nanobench.formats.converter import unstructure
from nanobench.formats.digest import document_sha256
from nanobench.image.environment import BuiltEnvironment, build_environment
from nanobench.image.task import TASK_ROLES, build_task
from nanobench.image.workbench import Workbench
from nanobench.model.lock import RECIPE, LockedImage, Package
from nanobench.sources.interface import Pinned, Source
from nanobench.store.store import Store


def rebuild(source: Source, environment: BuiltEnvironment, *, bench: Workbench) -> LockedImage:
    """The identity of the image when nothing that was built before is used again.

    An environment whose second build gave the same layers once is not built a third time for its next task.
    """
    recipe = document_sha256({"rebuilt": [unstructure(layer) for layer in environment.layers], "recipe": RECIPE})
    with bench.store.scratch("rebuild") as scratch:
        empty = evolve(bench, store=Store(scratch / "store"))
        known = bench.store.recall(recipe) is not None
        needed = [p for p in environment.packages if not known or p.role in TASK_ROLES]
        _copy_blobs((*source.pinned(), *needed), bench.store, empty.store)
        second = environment
        if not known:
            second = build_environment(
                environment.spec,
                environment.packages,
                epoch=environment.epoch,
                bench=empty,
                built=environment.built,
                lockfile=environment.lockfile,
            )
            if second.layers == environment.layers:
                bench.store.remember(recipe, {"same": True})
        return build_task(source, second, bench=empty).locked()


def _copy_blobs(files: Iterable[Package | Pinned], full: Store, empty: Store) -> None:
    for digest, size in {f.digest: f.size for f in files}.items():
        with full.blob(digest).open("rb") as file, empty.incoming(digest, size) as incoming:
            shutil.copyfileobj(file, incoming, 1 << 20)
