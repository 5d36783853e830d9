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
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Document
from nanobench.model.lock import PLATFORM, LockedImage
from nanobench.sandbox.interface import SANDBOX_UID, WORKSPACE, fixed_env
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.interface import Source, Trees
from nanobench.sources.workspace import Repository, make_repository

TASK_ROLES = ("python-build", "installer", "npm")
"""Roles of the environment's packages that installing the project under test needs."""

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
        )


def build_task(source: Source, environment: BuiltEnvironment, *, bench: Workbench) -> BuiltTask:
    """Build a task's image; its source's files and the environment's packages are in the store."""

    def make() -> Packed:
        bench.say("building layer task")
        with workshop(environment, bench, "task") as shop:
            trees = source.stage(bench.store.blob, shop.directory("source"))
            installed = _install(trees, environment, shop)
            modules = _install_modules(trees, environment, shop)
            return _pack(trees, installed, modules, environment, bench, shop.directory("git"))

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
    venv = environment.trees[1] / "opt" / "venv"
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


def _pack(
    trees: Trees,
    installed: Editable | None,
    modules: node.Modules | None,
    environment: BuiltEnvironment,
    bench: Workbench,
    scratch: Path,
) -> Packed:
    laid = installed.workspace if installed else ()
    prefix = f"{WORKSPACE[1:]}/"
    folders = modules.folders if modules else ()
    products = tuple(sorted((*(e.path.removeprefix(prefix) for e in laid), *folders)))
    gitbox = Gitbox(engine=bench.engine, layers=environment.trees[:1], scratch=scratch)
    repository = make_repository(gitbox, trees.base, products=products)
    notes: Document = {
        "commit": repository.commit,
        "tree": repository.tree,
        "dropped": list(trees.dropped),
        "products": list(products),
    }
    if installed:
        notes |= {"name": installed.name, "version": installed.version, "kept": list(installed.kept)}
    entries = [*_owned(entries_of(trees.base, prefix=WORKSPACE[1:], epoch=environment.epoch)), *_owned(laid)]
    entries += installed.venv if installed else ()
    entries += _owned(modules.entries if modules else ())
    return pack(bench.store, dated(entries, environment.epoch), epoch=environment.epoch, notes=notes)


def _owned(entries: Iterable[Entry]) -> Iterator[Entry]:
    for entry in entries:
        yield evolve(entry, uid=SANDBOX_UID, gid=SANDBOX_UID)


def _recipe(source: Source, environment: BuiltEnvironment) -> Document:
    asked = {} if environment.spec.node is None else {"node": unstructure(environment.spec.node)}
    return {
        **asked,
        "role": "task",
        "below": [layer.diff_id for layer in environment.layers],
        "source": source.identity(),
        "tools": sorted(p.digest for p in environment.packages if p.role in TASK_ROLES),
        "epoch": environment.epoch,
    }
