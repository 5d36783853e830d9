"""Lock one Nanocoder version: resolve, fetch, unpack once, and write down what came of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from attrs import evolve

from nanobench.ecosystems.online import Online
from nanobench.formats.digest import split
from nanobench.harness.build import read_build
from nanobench.harness.closure import EPOCH, assemble, measure
from nanobench.harness.contract import CONTRACTS, contract_for
from nanobench.harness.resolve import resolve_closure
from nanobench.model.fields import Digest
from nanobench.model.lock import LOCK_REVISION, LOCK_VERSION, PLATFORM, RECIPE, HarnessLock, HarnessRequest
from nanobench.store.store import Store

DEFAULT = HarnessRequest(nanocoder=CONTRACTS[-1].version, node="22.23.3", npm="11.21.1", before="2026-11-01")
"""What is locked when nobody asks for anything else."""


_NAME = re.compile(r"nanocoder-(?P<version>.+?)(?:-(?P<before>\d{4}-\d\d-\d\d))?")


def request_named(name: str) -> HarnessRequest:
    """The request that the name of a release's lock stands for; without a date in it, today's.

    Raises:
        Refused: ``NB_HARNESS_VERSION`` for a version whose report this program does not know.
    """
    said = _NAME.fullmatch(name)
    version, before = said.group("version", "before") if said else (name, None)
    contract_for(version, build=False)
    return evolve(DEFAULT, nanocoder=version, before=before or DEFAULT.before)


def request_for_build(tarball: Digest, store: Store) -> HarnessRequest:
    """The request for a packed build in the store.

    Raises:
        Refused, CannotTell: as :func:`.build.read_build` says; ``NB_HARNESS_VERSION``.
    """
    version = read_build(tarball, store).version
    contract_for(version, build=True)
    return evolve(DEFAULT, nanocoder=version, tarball=tarball)


def lock_name(request: HarnessRequest, *, dated: bool) -> str:
    """The name of its lock, which tasks use. Two builds of one version have two; so has one version with packages of
    two dates, of which one at most is called without its date."""
    build = [split(request.tarball)[1][:8]] if request.tarball else []
    return "-".join(("nanocoder", request.nanocoder, *build, *([request.before] if dated else [])))


def lock_harness(
    name: str, request: HarnessRequest, *, store: Store, online: Online, say: Callable[[str], None]
) -> HarnessLock:
    """The lock of ``request``, called ``name``. Same request, same bytes, as long as the registry keeps its files.

    Afterwards the store holds every tarball and the closure's tree.

    Raises:
        Refused: ``NB_HARNESS_VERSION`` for a version whose report this program does not know; and as
            :func:`.resolve.resolve_closure` says.
    """
    contract = contract_for(request.nanocoder, build=request.tarball is not None)
    with store.scratch("harness") as scratch:
        work, tree = scratch / "npm", scratch / "tree"
        work.mkdir()
        tree.mkdir(0o755)
        tree.chmod(0o755)
        found = resolve_closure(request, store=store, online=online, work=work, say=say)
        say("unpacking the closure")
        assemble(found.packages, store, tree)
        facts = measure(tree)
        store.make_tree(split(facts.diff_id)[1], lambda made: _move(tree, made))
    return HarnessLock(
        version=LOCK_VERSION,
        revision=LOCK_REVISION,
        recipe=RECIPE,
        name=name,
        nanocoder=request.nanocoder,
        node=request.node,
        platform=PLATFORM,
        closure=facts.diff_id,
        closure_size=facts.size,
        report_schema_sha256=contract.sha256,
        original=request,
        warning=tuple(f"{purl}: its install script is never run" for purl in found.scripts),
        package=found.packages,
    )


def _move(tree: Path, made: Path) -> None:
    for path in tree.iterdir():
        path.rename(made / path.name)
    os.utime(made, (EPOCH, EPOCH))
