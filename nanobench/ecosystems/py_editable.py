"""The project under test, installed editable from ``/workspace`` with pinned build packages only."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from attrs import frozen
from packaging.utils import canonicalize_name

from nanobench.archives.entries import Entry
from nanobench.ecosystems.installed import lost, snapshot, stamped, tidied
from nanobench.ecosystems.py_install import add_wheels
from nanobench.ecosystems.py_sealed import VENV, pins, run, tools, uv_install, wheels_of
from nanobench.ecosystems.workshop import Workshop
from nanobench.errors import Refused
from nanobench.model.lock import Package
from nanobench.sandbox.interface import WORKSPACE, Mount

_INFO = ".dist-info"


@frozen(kw_only=True)
class Editable:
    """What installing added.

    ``venv`` are entries below ``opt/venv``, ``workspace`` those below ``workspace`` (to be listed in
    ``.git/info/exclude``). ``kept`` names files of the project that the build changed or removed: the base tree's
    own are kept. ``name`` and ``version`` are those that the installed metadata carries.
    """

    name: str
    version: str
    venv: tuple[Entry, ...]
    workspace: tuple[Entry, ...]
    kept: tuple[str, ...]


def editable(
    workspace: Path, packages: Sequence[Package], *, venv: Path, shop: Workshop, env: Mapping[str, str] | None = None
) -> Editable:
    """Install the project in ``workspace`` editable, without network; neither argument directory is changed.

    The build packages go into a copy of the environment that is thrown away, so a build sees what it needs and the
    image does not.

    Args:
        workspace: the base tree on the host (a ``.git`` in it is not shown to the build).
        packages: all locked packages; their files are in the store.
        venv: the unpacked ``opt/venv`` of the python layer.
        env: more variables for the build, such as a pretended version.

    Raises:
        Refused: ``NB_EDITABLE`` when it does not install, with the last lines; ``NB_EDITABLE_CONFLICT`` when it
            would replace files of another package, or of an installed copy of itself.
    """
    home = _copy(venv, VENV, shop)
    work = _copy(workspace, WORKSPACE, shop)
    wheels = wheels_of(packages, "python-build")
    if wheels:
        add_wheels(home, wheels, packages, shop)
    before = snapshot(home.source), snapshot(work.source)
    run(
        shop,
        *uv_install("--no-build-isolation", "--editable", WORKSPACE, python=f"{VENV}/bin/python"),
        phase="editable",
        env={"CFLAGS": "-g0", "CXXFLAGS": "-g0", **(env or {})},
        mounts=(home, work, tools(shop, packages), pins(shop, ())),
        refusal=partial(
            Refused,
            "NB_EDITABLE",
            "the project could not be installed editable without network",
            where=WORKSPACE,
            hint="its build backend and the plugins it names belong into python.build_requirements, compilers into "
            "base.packages",
        ),
    )
    return _difference(before, home.source, work.source, shop)


def _copy(tree: Path, target: str, shop: Workshop) -> Mount:
    path = shop.directory("copy")

    # A build that looked at the history could tell more than the base tree does, or touch the index.
    def history(directory: str, _: list[str]) -> list[str]:
        return [".git"] if Path(directory) == tree else []

    shutil.copytree(tree, path, symlinks=True, dirs_exist_ok=True, ignore=history)
    shop.engine.own(path)
    return Mount(source=path, target=target, writable=True)


def _difference(before: tuple[dict[str, str], dict[str, str]], venv: Path, work: Path, shop: Workshop) -> Editable:
    replaced = lost(before[0], snapshot(venv))
    if replaced:
        raise Refused(
            "NB_EDITABLE_CONFLICT",
            "installing the project would replace installed files",
            where=VENV,
            details=replaced[:20],
            hint="take the project itself, and whatever overlaps it, out of python.requirements",
        )
    added = tuple(e for e in tidied(venv, prefix=VENV[1:], epoch=shop.epoch) if _new(e, VENV, before[0]))
    laid = tuple(e for e in stamped(work, prefix=WORKSPACE[1:], epoch=shop.epoch) if _new(e, WORKSPACE, before[1]))
    name, version = _named(added)
    return Editable(name=name, version=version, venv=added, workspace=laid, kept=lost(before[1], snapshot(work)))


def _new(entry: Entry, top: str, before: dict[str, str]) -> bool:
    # Directories come with what is in them.
    return entry.kind != "dir" and entry.path.removeprefix(f"{top[1:]}/") not in before


def _named(entries: Sequence[Entry]) -> tuple[str, str]:
    infos = {part for e in entries for part in e.path.split("/") if part.endswith(_INFO)}
    if len(infos) != 1:
        raise Refused("NB_EDITABLE", f"{len(infos)} distributions were installed instead of one", where=WORKSPACE)
    name, _, version = infos.pop().removesuffix(_INFO).partition("-")
    return canonicalize_name(name), version
