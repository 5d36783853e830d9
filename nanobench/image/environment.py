"""The layers that all tasks of an environment share: the base, an interpreter, Python packages, bytecode, Node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, frozen

from nanobench.ecosystems import debian, image, node, python
from nanobench.ecosystems.python import Target, Workshop, target_of
from nanobench.errors import Refused
from nanobench.formats.converter import structure, unstructure
from nanobench.formats.digest import document_sha256
from nanobench.image.layers import Packed, layer_tree, pack, pack_once
from nanobench.image.workbench import Workbench
from nanobench.model.environment import DebianBase, Environment
from nanobench.model.fields import Document
from nanobench.model.lock import Built, Layer, LayerRole, Lockfile, Package

_BASES: tuple[LayerRole, ...] = ("debian", "image", "captured")
_PYTHON = ("python", "python-build", "installer")


@frozen(kw_only=True)
class BuiltEnvironment:
    """Layers and their unpacked trees, lowest first; ``packages`` are the pinned files they were made of, and those
    that tasks install. ``lockfile`` is the project's that the latter come from."""

    spec: Environment
    packages: tuple[Package, ...]
    epoch: int
    layers: tuple[Layer, ...]
    trees: tuple[Path, ...]
    warnings: tuple[str, ...] = ()
    built: tuple[Built, ...] = ()
    lockfile: Lockfile | None = None

    def tree(self, role: LayerRole) -> Path:
        """The unpacked tree of one layer."""
        return next(tree for layer, tree in zip(self.layers, self.trees, strict=True) if layer.role == role)


def build_environment(
    spec: Environment,
    packages: Sequence[Package],
    *,
    epoch: int,
    bench: Workbench,
    built: Iterable[Built] = (),
    lockfile: Lockfile | None = None,
) -> BuiltEnvironment:
    """Build the environment from pinned files that are in the store; what is known by its digest is not built again.

    Args:
        epoch: source_date_epoch of the environment.
        built: the wheels that the lock says were built from source archives.
        lockfile: the project's lockfile that the lock says the npm packages come from.
    """
    made = BuiltEnvironment(
        spec=spec,
        packages=tuple(packages),
        epoch=epoch,
        layers=(),
        trees=(),
        built=tuple(built),
        lockfile=lockfile,
    )
    made = _base_layer(made, bench)
    if spec.interpreter is not None:
        made = _interpreter_layer(made, bench)
    if spec.python is not None:
        made = _python_layer(made, bench)
        made = _bytecode_layer(made, bench)
    if spec.node is not None:
        made = _node_layer(made, bench)
    return made


@contextmanager
def workshop(made: BuiltEnvironment, bench: Workbench, purpose: str) -> Iterator[Workshop]:
    """A workshop in the image made so far, with a scratch directory that lives as long as the block."""
    target = python_of(made, bench) if made.spec.python else None
    with bench.store.scratch(purpose) as scratch:
        yield _shop(made, bench, scratch, target)


def _shop(made: BuiltEnvironment, bench: Workbench, scratch: Path, target: Target | None) -> Workshop:
    return Workshop(
        engine=bench.engine,
        store=bench.store,
        layers=made.trees,
        scratch=scratch,
        epoch=made.epoch,
        target=target,
    )


def python_of(made: BuiltEnvironment, bench: Workbench) -> Target:
    """The interpreter: a Debian suite's own or the one asked for in its place, or the one that an image has.

    Raises:
        Refused: ``NB_PYTHON_SUITE``, ``NB_PYTHON_ABSENT``.
    """
    if isinstance(made.spec.base, DebianBase):
        return target_of(made.spec.base.debian, made.spec.interpreter)
    recipe = document_sha256({"python of": made.layers[0].diff_id})
    known = bench.store.recall(recipe)
    if known is not None:
        return Target(**known)
    with bench.store.scratch("python") as scratch:
        found = python.find(_shop(made, bench, scratch, None))
    bench.store.remember(recipe, asdict(found))
    return found


def _base_layer(made: BuiltEnvironment, bench: Workbench) -> BuiltEnvironment:
    role = next((role for role in _BASES if any(p.role == role for p in made.packages)), None)
    if role is None:
        raise Refused("NB_BASE", "nothing is pinned to build a base of", where=f"environments/{made.spec.name}.toml")
    pinned = tuple(p for p in made.packages if p.role == role)
    if role == "captured":  # it is the layer itself
        return _with(made, role, Packed(diff_id=pinned[0].digest, size=pinned[0].size), bench)

    def make() -> Packed:
        bench.say(f"building layer {role}: {len(pinned)} files")
        with bench.store.scratch(role) as scratch:
            assemble = debian.assemble if role == "debian" else image.assemble
            tree = assemble(pinned, bench.store, scratch, epoch=made.epoch)
            return pack(bench.store, tree.entries, epoch=made.epoch, notes={"warnings": list(tree.warnings)})

    packed = pack_once(bench.store, _recipe(role, made, pinned), make)
    return _with(made, role, packed, bench, warnings=tuple(packed.notes["warnings"]))


def _interpreter_layer(made: BuiltEnvironment, bench: Workbench) -> BuiltEnvironment:
    pinned = tuple(p for p in made.packages if p.role == "interpreter")

    def make() -> Packed:
        bench.say("building layer interpreter")
        with workshop(made, bench, "interpreter") as shop:
            return pack(bench.store, python.unpack_interpreter(pinned, shop=shop), epoch=made.epoch)

    return _with(made, "interpreter", pack_once(bench.store, _recipe("interpreter", made, pinned), make), bench)


def _python_layer(made: BuiltEnvironment, bench: Workbench) -> BuiltEnvironment:
    pinned = tuple(p for p in made.packages if p.role in _PYTHON)

    def make() -> Packed:
        bench.say(f"building layer python: {sum(p.role == 'python' for p in pinned)} packages")
        with workshop(made, bench, "python") as shop:
            wheels = python.build_wheels(pinned, shop=shop, locked=made.built)
            entries = python.install(pinned, shop=shop, built=wheels)
            return pack(bench.store, entries, epoch=made.epoch, notes={"built": [unstructure(w) for w in wheels]})

    packed = pack_once(bench.store, _recipe("python", made, pinned), make)
    wheels = tuple(structure(w, Built, where="recipe") for w in packed.notes["built"])
    return _with(made, "python", packed, bench, built=wheels)


def _bytecode_layer(made: BuiltEnvironment, bench: Workbench) -> BuiltEnvironment:
    def make() -> Packed:
        bench.say("building layer bytecode")
        with workshop(made, bench, "bytecode") as shop:
            return pack(bench.store, python.bytecode(shop=shop), epoch=made.epoch)

    return _with(made, "bytecode", pack_once(bench.store, _recipe("bytecode", made, ()), make), bench)


def _node_layer(made: BuiltEnvironment, bench: Workbench) -> BuiltEnvironment:
    pinned = tuple(p for p in made.packages if p.role == "node")

    def make() -> Packed:
        bench.say("building layer node")
        with bench.store.scratch("node") as scratch:
            entries = node.assemble(pinned, bench.store, scratch, epoch=made.epoch)
            return pack(bench.store, entries, epoch=made.epoch)

    return _with(made, "node", pack_once(bench.store, _recipe("node", made, pinned), make), bench)


def _with(made: BuiltEnvironment, role: LayerRole, packed: Packed, bench: Workbench, **more: Any) -> BuiltEnvironment:
    layer = Layer(role=role, diff_id=packed.diff_id, size=packed.size)
    tree = layer_tree(bench.store, packed.diff_id, bench.engine.own)
    return evolve(made, layers=(*made.layers, layer), trees=(*made.trees, tree), **more)


def _recipe(role: str, made: BuiltEnvironment, packages: Sequence[Package]) -> Document:
    return {
        "role": role,
        "below": [layer.diff_id for layer in made.layers],
        "packages": [[p.purl, p.role, p.digest] for p in packages],
        "epoch": made.epoch,
        "suite": made.spec.base.debian if isinstance(made.spec.base, DebianBase) else None,
    }
