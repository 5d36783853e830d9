"""From an environment spec to its lock: resolve once, then only what is pinned counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from attrs import evolve, frozen

from nanobench.curate.base import resolve_base
from nanobench.ecosystems import node, python, step_inputs
from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell
from nanobench.image.environment import BuiltEnvironment, build_environment, python_of
from nanobench.image.workbench import Workbench
from nanobench.model.environment import DebianBase, Environment, PythonRequest
from nanobench.model.lock import LOCK_REVISION, LOCK_VERSION, PLATFORM, RECIPE, EnvironmentLock, Lockfile, Package
from nanobench.project.context import context_sha256
from nanobench.project.files import Spec
from nanobench.project.stale import changes
from nanobench.sources.interface import Source

ROLES = {
    "base": ("debian", "image", "captured"),
    "python": ("interpreter", "python", "python-build", "installer"),
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
    context_sha256: str | None


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
        upgrade: input names (``base``, ``python``, ``node``, ``step``) to resolve anew.
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
    context = context_sha256(spec)
    stale = {name for name in ROLES if name in upgrade or old is None or _changed(name, old, spec)}
    if old is not None and old.context_sha256 != context:
        stale.add("base")
    # A new base brings another interpreter or C library, which other wheels fit.
    if "base" in stale and _suite_changed(old, spec):
        stale |= {"python", "step"}
    packages = [] if old is None else [p for p in old.package if _input_of(p) not in stale]
    epoch, lockfile = (0, None) if old is None else (old.source_date_epoch, old.lockfile)
    if "base" in stale:
        resolved = resolve_base(spec, online=_need(online, spec), bench=bench)
        packages += resolved.packages
        epoch = resolved.source_date_epoch
    if "python" in stale and spec.value.python is not None:
        target = _target(spec.value, packages, epoch, online, bench)
        packages += _resolve_python(spec.value.python, target, _need(online, spec), bench)
    if "node" in stale:
        found = _resolve_node(spec, source, online, bench)
        packages += found.packages
        lockfile = found.lockfile
    if "step" in stale and _step_inputs(spec.value):
        target = _target(spec.value, packages, epoch, online, bench)
        packages += _resolve_step_inputs(spec.value, target, _need(online, spec), bench)
    return Pins(packages=_ordered(packages), epoch=epoch, lockfile=lockfile, context_sha256=context)


def _target(
    spec: Environment, packages: Sequence[Package], epoch: int, online: Online | None, bench: Workbench
) -> python.Target:
    """The interpreter that wheels have to fit: that of the base, which is built to ask it."""
    if isinstance(spec.base, DebianBase):
        return python.target_of(spec.base.debian, spec.interpreter)
    pinned = _ordered(p for p in packages if _input_of(p) == "base")
    fetch(pinned, bench.store, online=online, say=bench.say, progress=bench.fetched)
    bare = evolve(spec, python=None, node=None)
    return python_of(build_environment(bare, pinned, epoch=epoch, bench=bench), bench)


def _ordered(packages: Iterable[Package]) -> tuple[Package, ...]:
    return tuple(sorted(packages, key=lambda p: (p.role, p.purl)))


def _input_of(package: Package) -> str:
    return next(name for name, roles in ROLES.items() if package.role in roles)


def _changed(name: str, old: EnvironmentLock, spec: Spec[Environment]) -> bool:
    if name == "step":
        return {p.purl for p in old.package if p.role == "step"} != _step_inputs(spec.value)
    return bool(list(changes(old.original.get(name, {}), spec.document.get(name, {}))))


def _suite_changed(old: EnvironmentLock | None, spec: Spec[Environment]) -> bool:
    suite = spec.value.base.debian if isinstance(spec.value.base, DebianBase) else None
    return old is None or suite is None or old.original.get("base", {}).get("debian") != suite


def _need(online: Online | None, spec: Spec[Environment]) -> Online:
    if online is None:
        raise CannotTell(
            "NB_OFFLINE",
            "packages must be resolved, and the network may not be used",
            where=f"environments/{spec.value.name}.toml",
            hint="leave out --offline",
        )
    return online


def _resolve_python(
    request: PythonRequest, target: python.Target, online: Online, bench: Workbench
) -> Sequence[Package]:
    bench.say(f"resolving Python {target.python} packages as of {request.exclude_newer}")
    with bench.store.scratch("resolve") as work:
        found = python.resolve(request, online=online, work=work, python=target.python, glibc=target.glibc)
    asked = request.interpreter
    return found if asked is None else (*found, python.interpreter_package(asked))


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


def _resolve_step_inputs(
    spec: Environment, target: python.Target, online: Online, bench: Workbench
) -> Sequence[Package]:
    bench.say("resolving what steps work on")
    wanted = sorted(_step_inputs(spec))
    with bench.store.scratch("resolve") as work:
        return tuple(step_inputs.resolve(wanted, target=target, store=bench.store, online=online, work=work))


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
        context_sha256=pins.context_sha256,
        layer=built.layers,
        warning=built.warnings,
        built=built.built,
        lockfile=pins.lockfile,
        package=pins.packages,
    )
