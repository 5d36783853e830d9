"""Locked source archives → wheels, built once inside the locked image, without network, reproducibly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from nanobench.archives.reader import extract
from nanobench.ecosystems.py_install import make_venv
from nanobench.ecosystems.py_sealed import UV, run, tools, wheels_of
from nanobench.ecosystems.py_target import best_wheel
from nanobench.ecosystems.workshop import Workshop
from nanobench.errors import Refused
from nanobench.model.lock import Built, Package
from nanobench.sandbox.interface import MOUNTS, Mount

_SOURCE, _BUILD, _OUT = f"{MOUNTS}/source", f"{MOUNTS}/build", f"{MOUNTS}/out"
_MAX_WHEEL = 1 << 30


def build_wheels(packages: Sequence[Package], *, shop: Workshop, locked: Iterable[Built] = ()) -> tuple[Built, ...]:
    """The wheel of every ``python`` package that is a source archive, put into the store.

    A wheel that is locked and in the store is not built again.

    Args:
        packages: all locked packages; their files are in the store.
        locked: what the lock says was built; empty when locking.

    Raises:
        Refused: ``NB_SDIST_BUILD`` when one does not build (with the last lines of the attempt),
            ``NB_SDIST_DIFFERS`` when a wheel is not the locked one.
    """
    known = {b.sdist: b for b in locked}
    results, venv = [], None
    for sdist in (p for p in packages if p.role == "python" and not p.path.endswith(".whl")):
        before = known.get(sdist.digest)
        if before is not None and shop.store.has(before.wheel):
            results.append(before)
            continue
        venv = venv or _build_environment(packages, shop)
        made = _build(sdist, venv, tools(shop, packages), shop)
        if before is not None and made != before:
            raise Refused(
                "NB_SDIST_DIFFERS",
                f"built {made.file} {made.wheel}; locked {before.file} {before.wheel}",
                where=sdist.purl,
                hint="its build is not reproducible: choose a version that has a wheel, and lock again",
            )
        results.append(made)
    return tuple(results)


def _build_environment(packages: Sequence[Package], shop: Workshop) -> Mount:
    path = shop.directory("build")
    make_venv(path, _BUILD, wheels_of(packages, "python-build"), packages, shop)
    return Mount(source=path, target=_BUILD)


def _build(sdist: Package, venv: Mount, tools: Mount, shop: Workshop) -> Built:
    # Always the same place inside, so that no path of ours can make a difference to what a compiler writes.
    source, out = shop.directory("source"), shop.directory("out")
    extract(shop.store.blob(sdist.digest), source, where=sdist.path, strip=1)
    shop.engine.own(source)
    shop.engine.own(out)
    flags = f"-g0 -ffile-prefix-map={_SOURCE}=."
    run(
        shop,
        *(UV, "build", "--wheel", "--no-build-isolation", "--python", f"{_BUILD}/bin/python", "--out-dir", _OUT),
        *("--no-config", "--no-cache", "--offline", "--no-index", "--no-python-downloads", "--no-progress"),
        *("--color", "never", _SOURCE),
        phase="build wheel",
        env={"CFLAGS": flags, "CXXFLAGS": flags, "PATH": f"{_BUILD}/bin:/usr/local/bin:/usr/bin:/bin"},
        mounts=(
            tools,
            venv,
            Mount(source=source, target=_SOURCE, writable=True),
            Mount(source=out, target=_OUT, writable=True),
        ),
        refusal=partial(_unbuilt, sdist, "its wheel could not be built without network"),
    )
    return _only_wheel(sdist, out, shop)


def _only_wheel(sdist: Package, out: Path, shop: Workshop) -> Built:
    wheels = [p for p in sorted(out.glob("*.whl")) if p.is_file() and not p.is_symlink()]
    if len(wheels) != 1 or wheels[0].stat().st_size > _MAX_WHEEL:
        raise _unbuilt(sdist, f"{len(wheels)} wheels came of it, or one of more than {_MAX_WHEEL} bytes")
    try:
        name, version, _, _ = parse_wheel_filename(wheels[0].name)
    except InvalidWheelFilename as error:
        raise _unbuilt(sdist, str(error)) from error
    if not sdist.purl.startswith(f"pkg:pypi/{name}@") or best_wheel([wheels[0].name], shop.target) is None:
        raise _unbuilt(sdist, f"{wheels[0].name} came of it (version {version})")
    wheel = shop.store.put(wheels[0].read_bytes())
    return Built(purl=sdist.purl, sdist=sdist.digest, wheel=wheel, file=wheels[0].name)


def _unbuilt(sdist: Package, message: str, *, details: tuple[str, ...] = ()) -> Refused:
    return Refused(
        "NB_SDIST_BUILD",
        message,
        where=sdist.purl,
        details=details,
        hint="add what the build needs: Debian packages (build-essential, python3-dev, …) to base.packages, Python "
        "packages to python.build_requirements; or pin a version that has a wheel",
    )
