"""What an environment's Node part consists of: every file by integrity, each in the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from attrs import evolve, frozen

from nanobench.ecosystems.node_lockfile import lockfile_of
from nanobench.ecosystems.npm import NODE, package_of
from nanobench.ecosystems.npm_lockfile import Placed, read_package_lock
from nanobench.ecosystems.npm_registry import look_up, obtain
from nanobench.ecosystems.npm_tool import Npm
from nanobench.ecosystems.online import Online
from nanobench.model.environment import NodeRequest
from nanobench.model.lock import Lockfile, Package
from nanobench.store.store import Store


@frozen(kw_only=True)
class NodeResolution:
    """``packages`` in roles ``node`` (Node and its package manager) and ``npm`` (what is installed for the project),
    sorted by role and purl. ``lockfile`` is the project's, if they were pinned from it."""

    packages: tuple[Package, ...]
    lockfile: Lockfile | None


def resolve(
    request: NodeRequest,
    *,
    tree: Path | None,
    store: Store,
    online: Online,
    work: Path,
    say: Callable[[str], None],
) -> NodeResolution:
    """Pin the Node part of an environment; afterwards the store holds every file. No package's code runs.

    Args:
        tree: the base tree of the task; needed when the project's lockfile is asked for.
        work: an empty private directory.

    Raises:
        Refused, CannotTell: as :mod:`.node_lockfile`, :mod:`.npm_registry` and :mod:`.npm_tool` say.
    """
    node = look_up(NODE, request.node, online=online)
    manager = look_up(*request.manager.split("@"), online=online)
    sizes = obtain([node, manager], store, online=online)
    lockfile = None
    if request.lockfile is None:
        say(f"{request.manager} resolves {', '.join(request.packages)} as of {request.before}")
        tool = Npm(node=node, npm=manager, store=store, online=online, work=work)
        placed = _resolved(request, tool)
    else:
        assert tree is not None
        lockfile, placed = lockfile_of(request, tree)
    placed = _once(placed)
    say(f"pinning {len(placed)} npm packages")
    sizes |= obtain(placed, store, online=online)
    packages = [package_of(p, "node", sizes) for p in (node, manager)]
    packages += [package_of(p, "npm", sizes) for p in placed]
    return NodeResolution(packages=tuple(sorted(packages, key=lambda p: (p.role, p.purl))), lockfile=lockfile)


def _resolved(request: NodeRequest, tool: Npm) -> tuple[Placed, ...]:
    wanted = dict(package.rpartition("@")[::2] for package in request.packages)
    data = tool.package_lock(wanted, before=str(request.before), where="node.packages")
    return read_package_lock(data, where="package-lock.json")


def _once(placed: Iterable[Placed]) -> tuple[Placed, ...]:
    """Each version once, without its place: where it goes is decided when it is installed."""
    return tuple({p.purl: evolve(p, target="", script=False) for p in placed}.values())
