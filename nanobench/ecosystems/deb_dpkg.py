"""The dpkg database of the tree, so that ``dpkg -l`` and ``dpkg -S`` inside tell the truth."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from nanobench.ecosystems.deb_tree import Tree, canonical
from nanobench.ecosystems.deb_unpack import Installed

_ROOT = "var/lib/dpkg"


def write_database(tree: Tree, packages: Sequence[Installed]) -> None:
    """Write status and info of ``packages`` into ``tree``."""
    for name in ("alternatives", "info", "parts", "triggers", "updates"):
        tree.directory(f"{_ROOT}/{name}")
    for name in ("available", "diversions", "statoverride"):
        tree.file(f"{_ROOT}/{name}", b"")
    tree.file(f"{_ROOT}/info/format", b"1\n")
    for package in packages:
        _write_info(tree, package)
    tree.file(f"{_ROOT}/status", b"\n".join(_status(tree, package) for package in packages))


def _write_info(tree: Tree, package: Installed) -> None:
    same = package.fields.get("Multi-Arch") == "same"
    base = f"{package.name}:{package.fields['Architecture']}" if same else package.name
    listing = "".join(f"{path}\n" for path in package.paths)
    tree.file(f"{_ROOT}/info/{base}.list", listing.encode("utf-8", "surrogateescape"))
    for name, data in package.control.items():
        if name != "control":
            executable = name in ("config", "postinst", "postrm", "preinst", "prerm")
            tree.file(f"{_ROOT}/info/{base}.{name}", data, 0o755 if executable else 0o644)


def _status(tree: Tree, package: Installed) -> bytes:
    """The package's own control text, with its status after the name and its conffiles at the end."""
    lines = package.control["control"].rstrip(b"\n").split(b"\n")
    first = next(index for index, line in enumerate(lines) if line.startswith(b"Package:"))
    lines.insert(first + 1, b"Status: install ok installed")
    conffiles = list(_conffiles(tree, package))
    return b"\n".join([*lines, *([b"Conffiles:", *conffiles] if conffiles else [])]) + b"\n"


def _conffiles(tree: Tree, package: Installed) -> Iterator[bytes]:
    for line in package.control.get("conffiles", b"").decode("utf-8", "replace").splitlines():
        path = canonical(line.strip().removeprefix("/"))
        # A line may begin with a flag such as remove-on-upgrade: then the file is not there.
        if tree.is_file(path):
            digest = hashlib.md5(tree.read(path), usedforsecurity=False).hexdigest()
            yield f" {line.strip()} {digest}".encode()
