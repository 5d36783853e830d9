"""What steps work on: one file of an exact version each, whatever registry it is in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import evolve
from packageurl import PackageURL

from nanobench.ecosystems import npm_registry, py_resolve
from nanobench.ecosystems.npm import package_of
from nanobench.ecosystems.online import Online
from nanobench.ecosystems.py_requirements import Pin
from nanobench.ecosystems.py_target import Target
from nanobench.model.lock import Package
from nanobench.store.store import Store


def resolve(purls: Iterable[str], *, target: Target, store: Store, online: Online, work: Path) -> Iterator[Package]:
    """The pinned file of each of these purls (``pypi``: the wheel that fits ``target``, or else the source archive).

    Args:
        work: an empty private directory.

    Raises:
        Refused, CannotTell: as :mod:`.py_resolve` and :mod:`.npm_registry` say.
    """
    for purl in purls:
        parsed = PackageURL.from_string(purl)
        name, version = "/".join(filter(None, (parsed.namespace, parsed.name))), str(parsed.version)
        if parsed.type == "npm":
            placed = npm_registry.look_up(name, version, online=online)
            package = package_of(placed, "step", npm_registry.obtain([placed], store, online=online))
        else:
            package = py_resolve.look_up(Pin(name, version), "step", online=online, work=work, target=target)
        yield evolve(package, purl=purl)
