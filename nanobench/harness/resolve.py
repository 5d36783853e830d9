"""Nanocoder's whole dependency closure and the Node that runs it, each file pinned by integrity.

The real npm resolves once, with a date as its horizon, and only writes a package-lock. What that lock says is
then fetched; nothing is installed by npm, and no script of any package ever runs. The date is that of the
dependencies: it may lie before the day on which Nanocoder itself appeared.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attrs import frozen

from nanobench.ecosystems.npm import NODE, package_of
from nanobench.ecosystems.npm_lockfile import read_package_lock
from nanobench.ecosystems.npm_registry import look_up, obtain
from nanobench.ecosystems.npm_tool import Npm
from nanobench.ecosystems.online import Online
from nanobench.harness.build import NANOCODER, TARGET, read_build
from nanobench.model.lock import HarnessRequest, Package
from nanobench.store.store import Store


@frozen(kw_only=True)
class Closure:
    """Roles: ``node`` (target ``node``), ``npm`` (targets ``node_modules/…``), ``installer`` (npm itself, no target).

    ``scripts`` are the purls of packages with an install script.
    """

    packages: tuple[Package, ...]
    scripts: tuple[str, ...]


def resolve_closure(
    request: HarnessRequest, *, store: Store, online: Online, work: Path, say: Callable[[str], None]
) -> Closure:
    """Nanocoder's closure as of ``request.before``; afterwards the store holds every file.

    Its dependencies are resolved as if they were a project's own, which puts them where they lie for an installed
    Nanocoder; it is put beside them itself, a release like a packed build.

    Args:
        work: an empty directory of the caller; npm and Node are unpacked there.
        say: told in words what is done.

    Raises:
        Refused, CannotTell: as :func:`.build.read_build` and the modules ``npm_…`` of :mod:`nanobench.ecosystems`
            say.
    """
    node = look_up(NODE, request.node, online=online, target="node")
    npm = look_up("npm", request.npm, online=online)
    released = [] if request.tarball else [look_up(NANOCODER, request.nanocoder, online=online, target=TARGET)]
    sizes = obtain([node, npm, *released], store, online=online)
    say(f"npm {request.npm} resolves {NANOCODER} {request.nanocoder} as of {request.before}")
    tool = Npm(node=node, npm=npm, store=store, online=online, work=work)
    where = f"npm: {NANOCODER}@{request.nanocoder}"
    build = read_build(request.tarball or released[0].digest, store)
    data = tool.package_lock(build.dependencies, optional=build.optional, before=request.before, where=where)
    placed = (*read_package_lock(data, where="package-lock.json"), *released)
    say(f"fetching {len({p.digest for p in placed})} tarballs")
    sizes |= obtain(placed, store, online=online)
    closure = [package_of(p, "npm", sizes) for p in placed] + ([build.package] if request.tarball else [])
    return Closure(
        packages=(
            package_of(npm, "installer", sizes),
            package_of(node, "node", sizes),
            *sorted(closure, key=lambda p: str(p.target)),
        ),
        scripts=tuple(sorted({p.purl for p in placed if p.script})),
    )
