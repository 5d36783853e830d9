"""What may a curator ask for? Names, versions, extras and markers; never an option, a URL or a path."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from nanobench.errors import Refused


@frozen
class Pin:
    """A requirement of exactly one version, the only kind that may end in a source archive."""

    name: str
    version: str


def parse(requirements: Iterable[str], *, where: str) -> tuple[Requirement, ...]:
    """The requirements, each a plain dependency specifier (PEP 508 without a URL).

    Raises:
        Refused: ``NB_PYTHON_REQUIREMENT`` naming every one that is something else.
    """
    good, bad = [], []
    for text in requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            bad.append(f"{text!r:.200}: {str(error).splitlines()[0]}")
            continue
        if requirement.url is not None:
            bad.append(f"{text!r:.200}: a URL or path")
        good.append(requirement)
    if bad:
        raise Refused(
            "NB_PYTHON_REQUIREMENT",
            "only names with versions, extras and markers can be resolved from an index",
            where=where,
            details=tuple(bad),
            hint='write requirements such as "pytest>=8" or "coverage[toml]==7.6.1"',
        )
    return tuple(good)


def exact_pins(requirements: Iterable[Requirement]) -> tuple[Pin, ...]:
    """Those that are ``name==version`` and nothing else, without duplicates."""
    pins = {}
    for requirement in requirements:
        clauses = list(requirement.specifier)
        if len(clauses) == 1 and clauses[0].operator == "==" and not clauses[0].version.endswith(".*"):
            pin = Pin(canonicalize_name(requirement.name), clauses[0].version)
            pins[pin.name] = pin
    return tuple(pins.values())
