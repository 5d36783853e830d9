"""Python inside the locked image: the locked uv, the pinned wheels, and how they are installed without network."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from attrs import frozen
from packageurl import PackageURL
from packaging.utils import canonicalize_name
from packaging.version import Version

from nanobench.archives.reader import extract
from nanobench.ecosystems.workshop import PINS, TOOLS, Workshop
from nanobench.errors import Refused
from nanobench.formats.digest import split
from nanobench.model.fields import Digest
from nanobench.model.lock import Built, Package
from nanobench.sandbox.interface import Mount

VENV = "/opt/venv"
UV = f"{TOOLS}/uv"


@frozen(kw_only=True)
class Pinned:
    """One wheel to install: from the lock, or built from a locked source archive."""

    name: str
    version: str
    file: str
    digest: Digest


def run(
    shop: Workshop,
    *argv: str,
    phase: str,
    refusal: Callable[..., Refused],
    mounts: Iterable[Mount] = (),
    env: Mapping[str, str] | None = None,
) -> None:
    """:meth:`.Workshop.command`, in an image that has Python.

    Raises:
        Refused: ``NB_PYTHON_ABSENT``, and what the command raises.
    """
    if not has(shop, shop.target.command):
        raise Refused(
            "NB_PYTHON_ABSENT",
            f"the image has no {shop.target.command}",
            where="base.packages, python.interpreter",
            hint='add "python3" to base.packages of the environment; an interpreter\'s archive must hold bin/python3',
        )
    shop.command(*argv, phase=phase, refusal=refusal, mounts=mounts, env=env)


def has(shop: Workshop, path: str) -> bool:
    """Whether something is at the absolute ``path`` inside."""
    return any((layer / path[1:]).is_symlink() or (layer / path[1:]).exists() for layer in shop.layers)


def tools(shop: Workshop, packages: Iterable[Package]) -> Mount:
    """The locked uv, unpacked from its wheel once in a store's life, mounted read-only."""
    wheel = next((p for p in packages if p.role == "installer"), None)
    if wheel is None:
        raise Refused("NB_INSTALLER", "no package of role installer is locked", hint="lock the environment again")

    def fill(dest: Path) -> None:
        extract(shop.store.blob(wheel.digest), dest, where=wheel.path)
        for script in dest.glob("*.data/scripts/*"):
            script.chmod(0o755)

    tree = shop.store.make_tree(split(wheel.digest)[1], fill)
    (binary,) = tree.glob("*.data/scripts/uv")
    return Mount(source=binary.parent, target=TOOLS)


def pins(shop: Workshop, wheels: Iterable[Pinned]) -> Mount:
    """Exactly these wheels and a hashed requirements file for them, mounted read-only."""
    path, lines = shop.directory("pins"), []
    for wheel in wheels:
        shutil.copyfile(shop.store.blob(wheel.digest), path / wheel.file)
        lines.append(f"{wheel.name}=={wheel.version} --hash={wheel.digest}\n")
    (path / "requirements.txt").write_text("".join(sorted(lines)), encoding="utf-8")
    shop.engine.own(path)
    return Mount(source=path, target=PINS)


def wheels_of(packages: Iterable[Package], role: str, built: Iterable[Built] = ()) -> tuple[Pinned, ...]:
    """The wheels of one role; for a source archive, the wheel that was built from it.

    Raises:
        Refused: ``NB_SDIST_UNBUILT`` when ``built`` has none for it.
    """
    made = {b.sdist: b for b in built}
    wheels = []
    for package in packages:
        if package.role != role:
            continue
        file, digest = package.path.rpartition("/")[2], package.digest
        if not file.endswith(".whl"):
            if digest not in made:
                raise Refused("NB_SDIST_UNBUILT", "no wheel was built from this source archive", where=package.purl)
            file, digest = made[digest].file, made[digest].wheel
        name, version = _identity(package.purl)
        wheels.append(Pinned(name=name, version=version, file=file, digest=digest))
    return tuple(wheels)


def _identity(text: str) -> tuple[str, str]:
    try:
        purl = PackageURL.from_string(text)
        return canonicalize_name(purl.name, validate=True), str(Version(purl.version or ""))
    except ValueError as error:  # InvalidName and InvalidVersion are ValueErrors too
        raise Refused("NB_PURL", f"no name and version of a Python package: {error}", where=text) from error


def uv_install(*arguments: str, python: str) -> tuple[str, ...]:
    """The command that installs pinned wheels and nothing else into the environment of ``python``."""
    hermetic = ("--no-config", "--no-cache", "--offline", "--no-index", "--no-python-downloads", "--no-progress")
    exact = ("--find-links", PINS, "--no-deps", "--link-mode", "copy", "--color", "never")
    return (UV, "pip", "install", *hermetic, *exact, "--python", python, *arguments)
