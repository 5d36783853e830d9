"""From an environment spec to its lock: resolve once, then only what is pinned counts."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attrs import frozen

from nanobench.ecosystems import debian, inputs, node, python
from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell
from nanobench.image.environment import BuiltEnvironment, build_environment
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.model.lock import LOCK_REVISION, LOCK_VERSION, PLATFORM, RECIPE, EnvironmentLock, Lockfile, Package
from nanobench.project.files import Spec
from nanobench.project.stale import changes
from nanobench.sources.interface import Source

ROLES = {
    "debian": ("debian",),
    "python": ("python", "python-build", "installer"),
    "node": ("node", "npm"),
    "step": ("step",),
}
"""Input name of ``--upgrade-input`` → the roles of the packages that it resolves."""


@frozen(kw_only=True)
class Pins:
    """What an environment is built from."""

    packages: tuple[Package, ...]
    epoch: int
    lockfile: Lockfile | None


def lock_environment(
    spec: Spec[Environment],
    old: EnvironmentLock | None,
    *,
    upgrade: Collection[str],
    online: Online | None,
    bench: Workbench,
    source: Source | None = None,
) -> tuple[EnvironmentLock, BuiltEnvironment]:
    """The environment's lock and layers. What the old lock pinned stays, unless its request changed or ``upgrade``
    names it.

    Args:
        upgrade: input names (``debian``, ``python``, ``node``, ``step``) to resolve anew.
        source: of the task that is locked; an environment that asks for the project's lockfile reads it at the base.
        online: the permission to use the network; without it everything must be pinned and in the store.
    """
    pins = _pins(spec, old, source, upgrade, online, bench)
    fetch(pins.packages, bench.store, online=online, say=bench.say, progress=bench.fetched)
    keep = old.built if old is not None and old.package == pins.packages else ()
    built = build_environment(
        spec.value, pins.packages, epoch=pins.epoch, bench=bench, built=keep, lockfile=pins.lockfile
    )
    return _lock(spec, pins, built), built


def _pins(
    spec: Spec[Environment],
    old: EnvironmentLock | None,
    source: Source | None,
    upgrade: Collection[str],
    online: Online | None,
    bench: Workbench,
) -> Pins:
    stale = {name for name in ROLES if name in upgrade or old is None or _changed(name, old, spec)}
    # A new base brings another interpreter or C library, which other wheels fit.
    if "debian" in stale and _suite_changed(old, spec):
        stale |= {"python", "step"}
    packages = [] if old is None else [p for p in old.package if _input_of(p) not in stale]
    epoch, lockfile = (0, None) if old is None else (old.source_date_epoch, old.lockfile)
    if "debian" in stale:
        resolution = _resolve_debian(spec.value, _need(online, spec), bench)
        packages += resolution.packages
        epoch = resolution.source_date_epoch
    if "python" in stale and spec.value.python is not None:
        packages += _resolve_python(spec.value, _need(online, spec), bench)
    if "node" in stale:
        found = _resolve_node(spec, source, online, bench)
        packages += found.packages
        lockfile = found.lockfile
    if "step" in stale and _step_inputs(spec.value):
        packages += _resolve_step_inputs(spec.value, _need(online, spec), bench)
    ordered = sorted(packages, key=lambda p: (p.role, p.purl))
    return Pins(packages=tuple(ordered), epoch=epoch, lockfile=lockfile)


def _input_of(package: Package) -> str:
    return next(name for name, roles in ROLES.items() if package.role in roles)


def _changed(name: str, old: EnvironmentLock, spec: Spec[Environment]) -> bool:
    if name == "step":
        return {p.purl for p in old.package if p.role == "step"} != _step_inputs(spec.value)
    key = {"debian": "base", "python": "python", "node": "node"}[name]
    return bool(list(changes(old.original.get(key, {}), spec.document.get(key, {}))))


def _suite_changed(old: EnvironmentLock | None, spec: Spec[Environment]) -> bool:
    return old is None or old.original.get("base", {}).get("debian") != spec.value.base.debian


def _need(online: Online | None, spec: Spec[Environment]) -> Online:
    if online is None:
        raise CannotTell(
            "NB_OFFLINE",
            "packages must be resolved, and the network may not be used",
            where=f"environments/{spec.value.name}.toml",
            hint="leave out --offline",
        )
    return online


def _resolve_debian(spec: Environment, online: Online, bench: Workbench) -> debian.DebianResolution:
    bench.say(f"resolving Debian {spec.base.debian}")
    with bench.store.scratch("resolve") as work:
        return debian.resolve(spec.base, online=online, work=work / "apt")


def _resolve_python(spec: Environment, online: Online, bench: Workbench) -> Sequence[Package]:
    assert spec.python is not None
    target = python.target_of(spec.base.debian)
    bench.say(f"resolving Python {target.python} packages as of {spec.python.exclude_newer}")
    with bench.store.scratch("resolve") as work:
        return python.resolve(spec.python, online=online, work=work, python=target.python, glibc=target.glibc)


def _resolve_node(
    spec: Spec[Environment], source: Source | None, online: Online | None, bench: Workbench
) -> node.NodeResolution:
    request = spec.value.node
    if request is None:
        return node.NodeResolution(packages=(), lockfile=None)
    bench.say(f"resolving Node {request.node} and its packages")
    with bench.store.scratch("resolve") as scratch:
        (scratch / "source").mkdir()
        (scratch / "work").mkdir()
        tree = None
        if request.lockfile and source is not None:
            tree = source.stage(bench.store.blob, scratch / "source").base
        return node.resolve(
            request,
            tree=tree,
            store=bench.store,
            online=_need(online, spec),
            work=scratch / "work",
            say=bench.say,
        )


def _step_inputs(spec: Environment) -> set[str]:
    return {purl for step in spec.step for purl in step.inputs}


def _resolve_step_inputs(spec: Environment, online: Online, bench: Workbench) -> Sequence[Package]:
    bench.say("resolving what steps work on")
    purls, target = sorted(_step_inputs(spec)), python.target_of(spec.base.debian)
    with bench.store.scratch("resolve") as work:
        return tuple(inputs.resolve(purls, target=target, store=bench.store, online=online, work=work))


def _lock(spec: Spec[Environment], pins: Pins, built: BuiltEnvironment) -> EnvironmentLock:
    return EnvironmentLock(
        version=LOCK_VERSION,
        revision=LOCK_REVISION,
        recipe=RECIPE,
        name=spec.value.name,
        platform=PLATFORM,
        source_date_epoch=pins.epoch,
        spec_sha256=spec.sha256,
        original=spec.document,
        layer=built.layers,
        warning=built.warnings,
        built=built.built,
        lockfile=pins.lockfile,
        package=pins.packages,
    )
