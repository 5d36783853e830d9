"""What does a source archive say about itself, without running a line of it?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attrs import frozen
from packaging.metadata import parse_email

from nanobench.archives.reader import extract
from nanobench.errors import Refused
from nanobench.formats import toml

_MAX_TEXT = 4 << 20
_DEFAULT_BUILD = ("setuptools>=40.8.0",)
"""What the build-system specification says for a project that names nothing."""


@frozen(kw_only=True)
class Said:
    """Dependencies of the package, and what building it needs: dependency specifiers as they stand there."""

    requires_dist: tuple[str, ...]
    build_requires: tuple[str, ...]


def read_sdist(archive: Path, dest: Path, *, where: str) -> Said:
    """Unpack ``archive`` into ``dest`` (hostile input) and read its metadata.

    Raises:
        Refused: from the unpacker, or ``NB_SDIST_METADATA`` when a metadata file is not what it should be.
    """
    extract(archive, dest, where=where, strip=1)
    try:
        return Said(requires_dist=tuple(_requires_dist(dest)), build_requires=_build_requires(dest))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Refused("NB_SDIST_METADATA", f"its metadata cannot be read: {error}", where=where) from error


def _requires_dist(tree: Path) -> Iterator[str]:
    said, _ = parse_email(_text(tree / "PKG-INFO"))
    if said.get("requires_dist"):
        yield from said["requires_dist"]
        return
    # Before metadata 2.1 setuptools wrote dependencies only here: plain ones first, then sections "[extra:marker]".
    section = ""
    for path in sorted(tree.glob("*.egg-info/requires.txt")):
        for line in filter(None, map(str.strip, _text(path).splitlines())):
            if line.startswith("["):
                section = line.strip("[]")
            elif not section:
                yield line
            elif section.startswith(":"):
                yield f"{line}; {section[1:]}"


def _build_requires(tree: Path) -> tuple[str, ...]:
    project = toml.foreign(_text(tree / "pyproject.toml"))
    requires = project.get("build-system", {}).get("requires", _DEFAULT_BUILD)
    return tuple(str(item) for item in requires)


def _text(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        data = file.read(_MAX_TEXT + 1)
    if len(data) > _MAX_TEXT:
        raise ValueError(f"{path.name} is larger than {_MAX_TEXT} bytes")
    return data.decode("utf-8", errors="replace")
