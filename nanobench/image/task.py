"""A task's image: the environment's layers and one more with the base tree, its repository and its installation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from attrs import evolve, frozen

from nanobench.archives.entries import Entry, dated, entries_of
from nanobench.archives.oci import Image, ImageLayer, image_of
from nanobench.ecosystems import node
from nanobench.ecosystems.python import Editable, Workshop, editable
from nanobench.formats.converter import unstructure
from nanobench.image.environment import BuiltEnvironment, workshop
from nanobench.image.layers import Packed, layer_tree, pack, pack_once
from nanobench.image.steps import run_steps
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Document
from nanobench.model.lock import PLATFORM, LockedImage
from nanobench.sandbox.interface import SANDBOX_UID, WORKSPACE, fixed_env
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.interface import Source, Trees
from nanobench.sources.workspace import Repository, make_repository
from nanobench.store.store import Store

TASK_ROLES = ("python-build", "installer", "npm", "step")
"""Roles of the environment's packages that the task layer is made with."""

PYTHON_PROJECT = ("pyproject.toml", "setup.py")
"""What tells that a base tree is to be installed; a fixture may be any tree."""


@frozen(kw_only=True)
class BuiltTask:
    """The image of a task and what its workspace is.

    ``trees`` are all layers' trees, lowest first; the last is the task layer's, whose ``workspace`` a run copies.
    """

    environment: BuiltEnvironment
    image: Image
    trees: tuple[Path, ...]
    repository: Repository
    notes: Document

    @property
    def workspace(self) -> Path:
        """The pristine workspace: the base tree, its one-commit repository, the products of installing it."""
        return self.trees[-1] / WORKSPACE[1:]

    def locked(self) -> LockedImage:
        """The image's identity, as a lock holds it."""
        return LockedImage(
            platform=PLATFORM,
            manifest_digest=self.image.manifest_digest,
            config_digest=self.image.config_digest,
            source_date_epoch=self.environment.epoch,
            diff_ids=tuple(layer.diff_id for layer in self.image.layers),
            captured=True if any(layer.role == "captured" for layer in self.image.layers) else None,
        )


def build_task(source: Source, environment: BuiltEnvironment, *, bench: Workbench) -> BuiltTask:
    """Build a task's image; its source's files and the environment's packages are in the store."""

    def make() -> Packed:
        bench.say("building layer task")
        with workshop(environment, bench, "task") as shop:
            trees = source.stage(bench.store.blob, shop.directory("source"))
            added = _add(trees, environment, shop)
            gitbox = Gitbox(engine=bench.engine, layers=environment.trees[:1], scratch=shop.directory("git"))
            return _pack(trees, added, environment.epoch, gitbox, bench.store)

    packed = pack_once(bench.store, _recipe(source, environment), make)
    tree = layer_tree(bench.store, packed.diff_id, bench.engine.own)
    layers = [ImageLayer(role=lay.role, diff_id=lay.diff_id, size=lay.size) for lay in environment.layers]
    layers.append(ImageLayer(role="task", diff_id=packed.diff_id, size=packed.size))
    return BuiltTask(
        environment=environment,
        image=image_of(layers, epoch=environment.epoch, env=fixed_env() | environment.spec.env),
        trees=(*environment.trees, tree),
        repository=Repository(commit=packed.notes["commit"], tree=packed.notes["tree"]),
        notes=packed.notes,
    )


def _install(trees: Trees, environment: BuiltEnvironment, shop: Workshop) -> Editable | None:
    if environment.spec.python is None or not any((trees.base / name).is_file() for name in PYTHON_PROJECT):
        return None
    venv = environment.tree("python") / "opt" / "venv"
    return editable(
        trees.base, environment.packages, venv=venv, shop=shop, env=_pretended(trees.project, trees.version)
    )


def _install_modules(trees: Trees, environment: BuiltEnvironment, shop: Workshop) -> node.Modules | None:
    if environment.spec.node is None:
        return None
    if environment.lockfile is not None:
        node.check_lockfile(environment.lockfile, trees.base, environment=environment.spec.name)
    return node.install(trees.base, environment.packages, environment.spec.node, shop=shop)


def _pretended(project: str | None, version: str | None) -> Mapping[str, str]:
    """What build backends that would ask git for a version are told instead."""
    if version is None:
        return {}
    name = "" if project is None else "_FOR_" + re.sub(r"[-_.]+", "_", project).upper()
    told = {f"SETUPTOOLS_SCM_PRETEND_VERSION{name}": version, "PBR_VERSION": version}
    others = ("PDM_BUILD_SCM_VERSION", "POETRY_DYNAMIC_VERSIONING_BYPASS", "UV_DYNAMIC_VERSIONING_BYPASS")
    return told if project else told | dict.fromkeys(others, version)


@frozen(kw_only=True)
class _Added:
    """What the layer holds beside the base tree; ``products`` are the paths of it that git must ignore."""

    entries: tuple[Entry, ...]
    products: tuple[str, ...]
    notes: Document


def _add(trees: Trees, environment: BuiltEnvironment, shop: Workshop) -> _Added:
    installed = _install(trees, environment, shop)
    modules = _install_modules(trees, environment, shop)
    entries = (*installed.workspace, *installed.venv) if installed else ()
    products = tuple(e.path.removeprefix(f"{WORKSPACE[1:]}/") for e in installed.workspace) if installed else ()
    if modules:
        entries, products = (*entries, *modules.entries), (*products, *modules.folders)
    made = run_steps(trees.base, entries, environment.spec, environment.packages, shop=shop)
    replaced = {entry.path for entry in made.entries}
    facts = {"name": installed.name, "version": installed.version, "kept": list(installed.kept)} if installed else {}
    return _Added(
        entries=(*(entry for entry in entries if entry.path not in replaced), *made.entries),
        products=tuple(sorted({*products, *made.ignored})),
        notes=facts,
    )


def _pack(trees: Trees, added: _Added, epoch: int, gitbox: Gitbox, store: Store) -> Packed:
    repository = make_repository(gitbox, trees.base, products=added.products)
    notes: Document = {
        "commit": repository.commit,
        "tree": repository.tree,
        "dropped": list(trees.dropped),
        "products": list(added.products),
        **added.notes,
    }
    entries = (*entries_of(trees.base, prefix=WORKSPACE[1:], epoch=epoch), *added.entries)
    return pack(store, dated(_owned(entries), epoch), epoch=epoch, notes=notes)


def _owned(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The workspace is the agent's own, all else is root's."""
    for entry in entries:
        inside = entry.path == WORKSPACE[1:] or entry.path.startswith(f"{WORKSPACE[1:]}/")
        yield evolve(entry, uid=SANDBOX_UID, gid=SANDBOX_UID) if inside else entry


def _recipe(source: Source, environment: BuiltEnvironment) -> Document:
    spec = environment.spec
    asked: Document = {} if spec.node is None else {"node": unstructure(spec.node)}
    if spec.step:
        asked |= {"step": [unstructure(step) for step in spec.step], "env": spec.env}
    return {
        **asked,
        "role": "task",
        "below": [layer.diff_id for layer in environment.layers],
        "source": source.identity(),
        "tools": sorted(p.digest for p in environment.packages if p.role in TASK_ROLES),
        "epoch": environment.epoch,
    }
