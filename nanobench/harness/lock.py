"""Lock one Nanocoder version: resolve, fetch, unpack once, and write down what came of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from nanobench.ecosystems.online import Online
from nanobench.errors import Refused
from nanobench.formats import json
from nanobench.formats.digest import sha256_hex, split
from nanobench.harness import report
from nanobench.harness.closure import EPOCH, assemble, measure
from nanobench.harness.resolve import resolve_closure
from nanobench.model.lock import LOCK_REVISION, LOCK_VERSION, PLATFORM, RECIPE, HarnessLock, HarnessRequest
from nanobench.store.store import Store

DEFAULT = HarnessRequest(nanocoder=report.NANOCODER, node="22.23.3", npm="11.21.1", before="2026-11-01")
"""What is locked when nobody asks for anything else."""


def lock_name(request: HarnessRequest) -> str:
    """The name of its lock, which tasks use."""
    return f"nanocoder-{request.nanocoder}"


def lock_harness(request: HarnessRequest, *, store: Store, online: Online, say: Callable[[str], None]) -> HarnessLock:
    """The lock of ``request``. Same request, same bytes, as long as the registry keeps its files.

    Afterwards the store holds every tarball and the closure's tree.

    Raises:
        Refused: ``NB_HARNESS_VERSION`` for a version whose report this program does not know.
    """
    check_version(request.nanocoder)
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
        name=lock_name(request),
        nanocoder=request.nanocoder,
        node=request.node,
        platform=PLATFORM,
        closure=facts.diff_id,
        closure_size=facts.size,
        report_schema_sha256=report_schema_sha256(),
        original=request,
        warning=tuple(f"{purl}: its install script is never run" for purl in found.scripts),
        package=found.packages,
    )


def report_schema_sha256() -> str:
    """sha256 of the checked-in schema of the report."""
    return sha256_hex(json.pretty(report.schema()))


def check_contract(lock: HarnessLock) -> None:
    """Make sure that this program reads the reports of the locked Nanocoder by the locked schema.

    Raises:
        Refused: ``NB_HARNESS_VERSION``, ``NB_REPORT_SCHEMA``.
    """
    check_version(lock.nanocoder)
    if lock.report_schema_sha256 != report_schema_sha256():
        raise Refused(
            "NB_REPORT_SCHEMA",
            f"locked {lock.report_schema_sha256}, this program has {report_schema_sha256()}",
            where=f"{lock.name}: report_schema_sha256",
            hint="lock the harness again, or use the nanobench that made this lock",
        )


def check_version(version: str) -> None:
    """Refuse a version whose report has no contract here."""
    if version != report.NANOCODER:
        raise Refused(
            "NB_HARNESS_VERSION",
            f"Nanocoder {version} was asked for; the report of {report.NANOCODER} is known",
            hint=f"use {report.NANOCODER}: older ones print no usable report",
        )


def _move(tree: Path, made: Path) -> None:
    for path in tree.iterdir():
        path.rename(made / path.name)
    os.utime(made, (EPOCH, EPOCH))
