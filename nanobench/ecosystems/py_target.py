"""Which interpreter does an environment have, and which of several wheels fits it best?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from attrs import evolve, frozen
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

from nanobench.errors import Refused
from nanobench.model.environment import Interpreter

PREFIX = "/opt/python"
"""Where an interpreter lies that is no package of the suite."""

_LEGACY = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


@frozen(kw_only=True)
class Target:
    """CPython ``python`` (such as ``3.11``) on x86-64 Linux with that ``glibc`` (such as ``2.36``), at ``prefix``."""

    python: str
    glibc: str
    prefix: str = "/usr"

    @property
    def command(self) -> str:
        """The interpreter."""
        return f"{self.prefix}/bin/python3"

    @property
    def library(self) -> str:
        """Where its standard library lies."""
        return f"{self.prefix}/lib/python{self.python}"

    @property
    def site_packages(self) -> str:
        """Where packages lie in a virtual environment of this interpreter."""
        return f"lib/python{self.python}/site-packages"


_SUITES = {
    "bookworm": Target(python="3.11", glibc="2.36"),
    "trixie": Target(python="3.13", glibc="2.41"),
}


def target_of(suite: str, interpreter: Interpreter | None = None) -> Target:
    """The interpreter that was asked for, or else the one that a Debian suite brings.

    Raises:
        Refused: ``NB_PYTHON_SUITE`` for a suite that the table does not have.
    """
    try:
        found = _SUITES[suite]
    except KeyError:
        known = ", ".join(sorted(_SUITES))
        raise Refused(
            "NB_PYTHON_SUITE",
            f"the Python of Debian {suite!r} is not known (known: {known})",
            where="base.debian",
            hint="use a known suite, or leave [python] out",
        ) from None
    return found if interpreter is None else evolve(found, python=interpreter.version, prefix=PREFIX)


def best_wheel(files: Iterable[str], target: Target) -> str | None:
    """The wheel among ``files`` that an installer on ``target`` would take, or ``None`` if none fits.

    Order as in the wheel specification: the most specific tag, then the highest build number; a tie of both
    goes to the lowest name, so that the choice never depends on the order of an index.
    """
    ranks = _ranks(target)
    fitting = []
    for file in files:
        _, _, build, tags = parse_wheel_filename(file)
        rank = min((ranks[tag] for tag in tags if tag in ranks), default=None)
        if rank is not None:
            number, suffix = build or (-1, "")
            fitting.append((rank, -number, [-ord(c) for c in suffix], file))
    return min(fitting)[-1] if fitting else None


@cache
def _ranks(target: Target) -> dict[Tag, int]:
    return {tag: rank for rank, tag in enumerate(_tags(target))}


def _tags(target: Target) -> Iterator[Tag]:
    major, minor = (int(part) for part in target.python.split("."))
    interpreter, platforms = f"cp{major}{minor}", list(_platforms(target.glibc))
    yield from cpython_tags((major, minor), abis=[interpreter], platforms=platforms)
    yield from compatible_tags((major, minor), interpreter=interpreter, platforms=platforms)


def _platforms(glibc: str) -> Iterator[str]:
    for minor in range(int(glibc.split(".")[1]), 4, -1):
        yield f"manylinux_2_{minor}_x86_64"
        if minor in _LEGACY:
            yield f"{_LEGACY[minor]}_x86_64"
    yield "linux_x86_64"
