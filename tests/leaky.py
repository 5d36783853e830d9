"""A harness that no task may be run with."""

from __future__ import annotations

import gzip
import io
import tarfile

import pytest
from attrs import evolve

from nanobench.grading.locked import LockedArena
from nanobench.harness.closure import assemble, measure
from nanobench.image.workbench import Workbench
from nanobench.model.lock import HarnessLock, Package
from nanobench.project.files import Project


@pytest.fixture(scope="session")
def leaky(place: LockedArena, repository: Project, bench: Workbench) -> HarnessLock:
    """A harness whose closure is the demo task's golden patch and nothing else."""
    member, packed = tarfile.TarInfo("package/fix.patch"), io.BytesIO()
    member.size = len(place.change.golden)
    with gzip.GzipFile("", "wb", fileobj=packed, mtime=0) as file, tarfile.open(None, "w", file) as archive:
        archive.addfile(member, io.BytesIO(place.change.golden))
    package = Package(
        purl="pkg:npm/leak@1.0.0",
        role="npm",
        path="leak/-/leak-1.0.0.tgz",
        digest=bench.store.put(packed.getvalue()),
        size=len(packed.getvalue()),
        target="node_modules/leak",
    )
    with bench.store.scratch("leaky") as tree:
        tree.chmod(0o755)
        assemble([package], bench.store, tree)
        facts = measure(tree)
    real = repository.lock(HarnessLock, "nanocoder-1.29.0").value
    name = "nanocoder-1.29.0-2026-11-02"
    return evolve(real, name=name, closure=facts.diff_id, closure_size=facts.size, package=(package,))
