"""What of the store a set of locks reaches, so that collecting garbage leaves it."""

from __future__ import annotations

from nanobench.formats.digest import split
from nanobench.image.realise import Locks, packages_of
from nanobench.model.lock import HarnessLock


def kept_by(locks: Locks) -> tuple[str, ...]:
    """Digests of files, layers and evidence; sorted."""
    files = {p.digest for p in packages_of(locks)} | {f.digest for f in locks.source.pinned()}
    layers = set(locks.task.image.diff_ids)
    wheels = {b.wheel for b in locks.environment.built}
    evidence = {f"sha256:{gate.evidence_sha256}" for gate in locks.task.gate}
    return tuple(sorted({*files, *layers, *wheels, *evidence}))


def kept_by_harness(harness: HarnessLock) -> tuple[str, ...]:
    """Digests of the closure's files, and the key of its tree; sorted."""
    return tuple(sorted({*(package.digest for package in harness.package), split(harness.closure)[1]}))
