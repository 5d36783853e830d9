"""Pinned wheels → the entries of the ``python`` layer: ``/opt/venv``, made inside the locked image."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from nanobench.archives.entries import Entry
from nanobench.ecosystems.installed import tidied
from nanobench.ecosystems.py_sealed import UV, VENV, Pinned, pins, run, tools, uv_install, wheels_of
from nanobench.ecosystems.workshop import PINS, Workshop
from nanobench.errors import Refused
from nanobench.model.lock import Built, Package
from nanobench.sandbox.interface import Mount


def install(packages: Sequence[Package], *, shop: Workshop, built: Iterable[Built] = ()) -> tuple[Entry, ...]:
    """The virtual environment from the packages of role ``python``, without network.

    Same packages and same image: the same entries, whoever installs when and where.

    Args:
        packages: all locked packages; their files are in the store.
        built: the wheels of those that are source archives.

    Raises:
        Refused: ``NB_PYTHON_INSTALL`` when a wheel does not install, ``NB_PYTHON_CONFLICT`` when what is installed
            does not fit together (a source archive whose metadata lied), ``NB_PYTHON_VERSION`` when the image has
            another Python than the target.
    """
    venv = shop.directory("venv")
    make_venv(venv, VENV, wheels_of(packages, "python", built), packages, shop)
    run(
        shop,
        *(UV, "pip", "check", "--no-config", "--no-cache", "--offline", "--python", f"{VENV}/bin/python"),
        phase="check",
        mounts=(Mount(source=venv, target=VENV), tools(shop, packages)),
        refusal=partial(
            Refused,
            "NB_PYTHON_CONFLICT",
            "the installed packages do not fit together",
            where="python.requirements",
            hint="add what is missing to python.requirements and lock again",
        ),
    )
    return tuple(tidied(venv, prefix=VENV[1:], epoch=shop.epoch))


def make_venv(path: Path, target: str, wheels: Sequence[Pinned], packages: Iterable[Package], shop: Workshop) -> None:
    """Fill the host directory ``path`` with an environment that lives at ``target`` inside.

    The locked interpreter makes it and the locked uv fills it.
    """
    shop.engine.own(path)
    home = Mount(source=path, target=target, writable=True)
    refusal = partial(Refused, "NB_PYTHON_INSTALL", "the virtual environment could not be made", where=target)
    command = (shop.target.command, "-m", "venv", "--without-pip", target)
    run(shop, *command, phase="venv", mounts=(home,), refusal=refusal)
    if not (path / shop.target.site_packages).is_dir():
        raise Refused(
            "NB_PYTHON_VERSION",
            f"the image's Python is not {shop.target.python}",
            where="base.packages, python.interpreter",
            hint=f"an interpreter of that version is expected at {shop.target.command}",
        )
    if wheels:
        add_wheels(home, wheels, packages, shop)


def add_wheels(home: Mount, wheels: Sequence[Pinned], packages: Iterable[Package], shop: Workshop) -> None:
    """Install pinned wheels into the environment that is mounted at ``home``."""
    run(
        shop,
        *uv_install(
            "--no-build", "--require-hashes", "-r", f"{PINS}/requirements.txt", python=f"{home.target}/bin/python"
        ),
        phase="install",
        mounts=(home, tools(shop, packages), pins(shop, wheels)),
        refusal=partial(
            Refused,
            "NB_PYTHON_INSTALL",
            "uv could not install the locked wheels",
            where=home.target,
            hint="lock the environment again if the packages changed; else report this",
        ),
    )
