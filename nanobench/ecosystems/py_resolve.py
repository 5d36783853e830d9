"""Requirements → exactly one pinned file a package, each with its role."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version as installed_version
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packageurl import PackageURL
from packaging.pylock import Package as Locked
from packaging.pylock import PackageSdist, PackageWheel
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from nanobench.ecosystems import py_requirements
from nanobench.ecosystems.online import Gone, Online, Unreachable
from nanobench.ecosystems.py_requirements import Pin
from nanobench.ecosystems.py_sdist import Said, read_sdist
from nanobench.ecosystems.py_target import Target, best_wheel
from nanobench.ecosystems.py_uv import Resolver, Static
from nanobench.errors import CannotTell, Refused
from nanobench.model.environment import PythonRequest
from nanobench.model.fields import Digest
from nanobench.model.lock import Package, PackageRole

_REQUIREMENTS, _BUILD = "python.requirements", "python.build_requirements"
_MAX_SDIST = 512 << 20


def resolve(request: PythonRequest, *, online: Online, work: Path, python: str, glibc: str) -> tuple[Package, ...]:
    """Every file that the environment's Python part needs, sorted by role and name.

    Roles: ``python`` (installed into the image), ``python-build`` (what building the project under test and the
    source archives needs), ``installer`` (uv itself, in the version of our own dependency: other versions may
    write other bytes). Only wheels are taken, but for a package that has none and whose exact version is asked
    for: its source archive, to be built later. No package's code runs here.

    Args:
        work: an empty private directory.
        python: the target's version, such as ``3.11``.
        glibc: the target's C library, such as ``2.36``.

    Raises:
        Refused: ``NB_PYTHON_REQUIREMENT``, ``NB_PYTHON_RESOLVE`` (with uv's own words), ``NB_PYTHON_FILE``.
        CannotTell: ``NB_PYTHON_INDEX`` when the index does not answer.
    """
    target = Target(python=python, glibc=glibc)
    wanted = py_requirements.parse(request.requirements, where=_REQUIREMENTS)
    building = py_requirements.parse(request.build_requirements, where=_BUILD)
    resolver = Resolver(online=online, work=work, target=target, exclude_newer=request.exclude_newer)
    found, said = _with_sdists(resolver, wanted)
    building += py_requirements.parse((r for s in said for r in s.build_requires), where="build-system.requires")
    packages = [*_pins(found, "python", target)]
    if building:
        packages += _pins(resolver.solve(building, where=_BUILD), "python-build", target)
    packages += _installer(Resolver(online=online, work=work, target=target, exclude_newer=None))
    return tuple(sorted(packages, key=lambda p: (p.role, p.purl)))


def look_up(pin: Pin, role: PackageRole, *, online: Online, work: Path, target: Target) -> Package:
    """The one file of an exact version: the wheel that fits the target best, or else the source archive.

    Raises:
        Refused, CannotTell: as :func:`resolve`.
    """
    resolver = Resolver(online=online, work=work, target=target, exclude_newer=None)
    (package,) = _pins(resolver.look_up([pin], where=f"{pin.name}=={pin.version}"), role, target)
    return package


def _installer(resolver: Resolver) -> Iterator[Package]:
    # Not subject to the date: which uv installs is our choice, not the environment's.
    uv = Requirement(f"uv=={installed_version('uv')}")
    return _pins(resolver.solve([uv], where="uv"), "installer", resolver.target)


def _with_sdists(resolver: Resolver, wanted: Sequence[Requirement]) -> tuple[tuple[Locked, ...], tuple[Said, ...]]:
    """The solution, and what each source archive in it says about itself."""
    try:
        return resolver.solve(wanted, where=_REQUIREMENTS), ()
    except Refused as refusal:
        sources = _wheelless(resolver, wanted)
        if not sources:
            raise refusal from None
    said = {package.name: _read(package, resolver) for package in sources}
    pins = [pin for pin in py_requirements.exact_pins(wanted) if pin.name in said]
    statics = [Static(pin=pin, requires_dist=said[canonicalize_name(pin.name)].requires_dist) for pin in pins]
    return resolver.solve(wanted, sdists=statics, where=_REQUIREMENTS), tuple(said.values())


def _wheelless(resolver: Resolver, wanted: Sequence[Requirement]) -> tuple[Locked, ...]:
    """The exactly pinned packages that have a source archive and no wheel for the target."""
    pins = py_requirements.exact_pins(wanted)
    try:
        found = resolver.look_up(pins, where=_REQUIREMENTS) if pins else ()
    except Refused:
        return ()
    return tuple(p for p in found if p.sdist and not best_wheel(_names(p.wheels or ()), resolver.target))


def _read(package: Locked, resolver: Resolver) -> Said:
    (pin,) = _pins([package], "python", resolver.target)
    url = package.sdist.url if package.sdist else None
    if not url or pin.size > _MAX_SDIST:
        raise Refused("NB_PYTHON_FILE", f"{pin.path}: no URL, or more than {_MAX_SDIST} bytes", where=pin.purl)
    try:
        data = resolver.online.get(url, limit=pin.size, accept="*/*").content
    except (Gone, Unreachable) as error:
        raise CannotTell(
            "NB_PYTHON_INDEX", str(error), where=pin.purl, hint="check the network, try again"
        ) from error
    if pin.digest != f"sha256:{hashlib.sha256(data).hexdigest()}":
        raise Refused("NB_DIGEST", "the source archive is not what its index says", where=pin.purl)
    archive = resolver.work / Path(pin.path).name
    archive.write_bytes(data)
    return read_sdist(archive, resolver.work / f"sdist-{package.name}", where=pin.path)


def _pins(found: Iterable[Locked], role: PackageRole, target: Target) -> Iterator[Package]:
    for package in found:
        file = _one_file(package, target)
        name, digest, size = _name(file), file.hashes.get("sha256"), file.size
        purl = PackageURL("pypi", None, package.name, str(package.version)).to_string()
        if digest is None or size is None:
            raise Refused(
                "NB_PYTHON_FILE",
                f"the index gives no sha256 or no size for {name}",
                where=purl,
                hint="use an index with the JSON API (NANOBENCH_PYPI_INDEX)",
            )
        yield Package(
            purl=purl, role=role, path=f"{package.name}/{name}", digest=Digest(f"sha256:{digest}"), size=size
        )


def _one_file(package: Locked, target: Target) -> PackageWheel | PackageSdist:
    wheels = {_name(wheel): wheel for wheel in package.wheels or ()}
    best = best_wheel(wheels, target)
    if best is not None:
        return wheels[best]
    if package.sdist is None:
        raise Refused(
            "NB_PYTHON_FILE",
            f"no file fits Python {target.python} with glibc {target.glibc}",
            where=f"{package.name}=={package.version}",
            hint="choose another version of this package",
        )
    return package.sdist


def _names(wheels: Iterable[PackageWheel]) -> Iterator[str]:
    return (_name(wheel) for wheel in wheels)


def _name(file: PackageWheel | PackageSdist) -> str:
    return file.name or unquote(urlsplit(file.url or "").path.rpartition("/")[2])
