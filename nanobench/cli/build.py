"""``nanobench build`` and ``nanobench fetch``: from locks alone to images, and the files for it."""

from __future__ import annotations

from typing import Annotated

import typer

from nanobench.cli import common
from nanobench.cli.locked import current, keep, of_task
from nanobench.ecosystems.fetch import fetch as fetch_packages
from nanobench.gates.tools import TOOLS
from nanobench.harness.realise import fetch_closure, realise_closure
from nanobench.image.realise import packages_of, realise
from nanobench.image.sources import bring
from nanobench.project.files import Project
from nanobench.sandbox.choose import EngineName

Tasks = Annotated[list[str] | None, typer.Argument(metavar="TASK", help="Locked tasks (default: all).")]


@common.verb
def build(
    tasks: Tasks = None,
    offline: common.Offline = False,
    store: common.StorePath = None,
    engine: common.Engines = EngineName.AUTO,
    project: common.ProjectPath = None,
    as_json: common.AsJson = False,
) -> None:
    """Build the images of locked tasks and compare every digest with the lock.

    Examples:

        nanobench build tomlkit-0.15.2

        nanobench build --offline --json
    """
    found, bench = common.project(project), common.workbench(store, engine)
    digests = {}
    for task in _named(found, tasks):
        locked = current(found, task)
        with common.network(offline=offline) as online, of_task(task):
            image = realise(locked.locks, online=online, bench=bench)
            realise_closure(locked.harness.value, online=online, bench=bench)
        keep(locked, bench.store)
        digests[task] = image.image.manifest_digest
    lines = [f"{task}: {digest}, as locked" for task, digest in digests.items()]
    common.show(digests, "\n".join(lines), as_json=as_json)


@common.verb
def fetch(
    tasks: Tasks = None,
    store: common.StorePath = None,
    project: common.ProjectPath = None,
    as_json: common.AsJson = False,
) -> None:
    """Bring every pinned file of locked tasks into the store, so that everything after works offline.

    Examples:

        nanobench fetch

        nanobench fetch unidiff-1.0.1
    """
    found, files = common.project(project), common.store(store)
    common.talk.begin()
    counts = {}
    with common.network(offline=False) as online:
        for task in _named(found, tasks):
            locked = current(found, task)
            locks = locked.locks
            pinned = (*packages_of(locks), *TOOLS)
            packages = (*pinned, *locked.harness.value.package)
            fetch_packages(pinned, files, online=online, say=common.say, progress=common.talk.fetched)
            fetch_closure(locked.harness.value, files, online=online, say=common.say, progress=common.talk.fetched)
            bring(locks.source, files, online=online, say=common.say)
            keep(locked, files)
            counts[task] = len({p.digest for p in packages} | {f.digest for f in locks.source.pinned()})
    lines = [f"{task}: {count} files in the store" for task, count in counts.items()]
    common.show(counts, "\n".join(lines), as_json=as_json)


def _named(project: Project, tasks: list[str] | None) -> tuple[str, ...]:
    return tuple(tasks or project.locked_ids())
