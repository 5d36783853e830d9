"""What maintainer scripts would do and an image needs, each as a small function of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from nanobench.archives.names import to_bytes
from nanobench.ecosystems.base import EMPTY, GROUP, HOSTS, OPEN, OWNED, PASSWD, PLACES
from nanobench.ecosystems.deb_scripts import Alternative, alternatives, unmet
from nanobench.ecosystems.deb_tree import MERGED, Tree, canonical
from nanobench.ecosystems.deb_unpack import Installed
from nanobench.errors import Refused
from nanobench.sandbox.interface import SANDBOX_UID

_CERTIFICATES = "usr/share/ca-certificates/"
_LOADER_CONFIG = "etc/ld.so.conf.d/"
# The loader's own search path: directories that it finds without a cache.
_LOADER_PATH = {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib", "/usr/local/lib"}
_LOADER_PATH |= {"/usr/local/lib/x86_64-linux-gnu"}

_DIRECTORIES = (
    *(*EMPTY, "etc/opt", "home", "media", "mnt", "opt", "srv", "usr/lib64", "usr/local/bin"),
    *("usr/local/etc", "usr/local/games", "usr/local/include", "usr/local/lib", "usr/local/sbin", "usr/local/share"),
    *("usr/local/src", "var/cache", "var/lib", "var/log", "var/opt", "var/spool", *PLACES),
)
_OPEN = (*OPEN, "run/lock")

_COPIES = (
    ("usr/share/base-files/nsswitch.conf", "etc/nsswitch.conf"),
    ("usr/share/libc-bin/nsswitch.conf", "etc/nsswitch.conf"),
    ("usr/share/base-files/profile", "etc/profile"),
    ("usr/share/base-files/motd", "etc/motd"),
    ("usr/share/base-files/dot.bashrc", "root/.bashrc"),
    ("usr/share/base-files/dot.profile", "root/.profile"),
    ("usr/share/debianutils/shells", "etc/shells"),
)


def apply(tree: Tree, packages: Sequence[Installed]) -> tuple[str, ...]:
    """Complete ``tree``; the warnings about what was not done, unsorted."""
    _links(tree)
    _directories(tree)
    for source, path in _COPIES:
        tree.copy(source, path)
    _users(tree, packages)
    tree.file("etc/hosts", HOSTS)
    _time_zone(tree)
    _certificates(tree)
    found, computed = alternatives(packages)
    return (*unmet(packages), *computed, *_alternatives(tree, found), *_loader(tree))


def _links(tree: Tree) -> None:
    for name in MERGED:
        if name in ("bin", "sbin", "lib", "lib64") or f"usr/{name}" in tree:
            tree.symlink(name, f"usr/{name}")
    tree.symlink("var/run", "/run")
    tree.symlink("var/lock", "/run/lock")


def _directories(tree: Tree) -> None:
    for path in _DIRECTORIES:
        tree.directory(path)
    for path in _OPEN:
        tree.directory(path, 0o1777)
    tree.directory("root", 0o700)
    for path in OWNED:
        tree.directory(path, owner=SANDBOX_UID)


def _users(tree: Tree, packages: Sequence[Installed]) -> None:
    """Debian's fixed users and groups, and the agent. Passwords are locked (``*``): there is no shadow file."""
    passwd = _needed(tree, "usr/share/base-passwd/passwd.master")
    group = _needed(tree, "usr/share/base-passwd/group.master")
    if any(package.name == "apt" for package in packages):
        passwd += b"_apt:*:42:65534::/nonexistent:/usr/sbin/nologin\n"
    tree.file("etc/passwd", passwd + PASSWD.format("/bin/bash").encode())
    tree.file("etc/group", group + GROUP.encode())


def _needed(tree: Tree, path: str) -> bytes:
    if path not in tree:
        raise Refused("NB_DEB", "not a Debian base: this file is missing", where=path)
    return tree.read(path)


def _time_zone(tree: Tree) -> None:
    if "usr/share/zoneinfo/Etc/UTC" in tree:
        tree.symlink("etc/localtime", "/usr/share/zoneinfo/Etc/UTC")
        tree.file("etc/timezone", b"Etc/UTC\n")


def _certificates(tree: Tree) -> None:
    paths = tree.below(_CERTIFICATES, ".crt")
    if not paths:
        return
    listing = "".join(f"{path.removeprefix(_CERTIFICATES)}\n" for path in paths)
    tree.file("etc/ca-certificates.conf", to_bytes(listing))
    tree.file("etc/ssl/certs/ca-certificates.crt", b"".join(tree.read(p).rstrip(b"\n") + b"\n" for p in paths))
    for path in paths:
        tree.symlink(f"etc/ssl/certs/{PurePosixPath(path).stem}.pem", f"/{path}")


def _alternatives(tree: Tree, found: Sequence[Alternative]) -> list[str]:
    """Link the best of each name: the highest priority, the lowest path among equals."""
    best: dict[str, Alternative] = {}
    usable = [a for a in found if canonical(a.links[0][2].lstrip("/")) in tree]
    for alternative in sorted(usable, key=lambda a: (-a.priority, a.links)):
        best.setdefault(alternative.name, alternative)
    return [
        warning
        for _, alternative in sorted(best.items())
        for link in alternative.links
        for warning in _link(tree, link)
    ]


def _link(tree: Tree, link: tuple[str, str, str]) -> list[str]:
    place, name, path = link
    at = canonical(place.lstrip("/"))
    if canonical(path.lstrip("/")) not in tree:
        return []
    if at in tree:
        return [f"{place}: a package ships it, the alternative {path} is not linked"]
    tree.symlink(at, f"/etc/alternatives/{name}")
    tree.symlink(f"etc/alternatives/{name}", path)
    return []


def _loader(tree: Tree) -> list[str]:
    """Library directories that only a loader cache would make known: there is none, ldconfig is not run."""
    lines = ((p, line.strip()) for p in tree.below(_LOADER_CONFIG, ".conf") for line in _lines(tree, p))
    return [f"{path}: {line} is not searched (ldconfig is not run)" for path, line in lines if _outside(line)]


def _lines(tree: Tree, path: str) -> list[str]:
    return tree.read(path).decode("utf-8", "replace").splitlines()


def _outside(line: str) -> bool:
    return bool(line) and not line.startswith("#") and line.rstrip("/") not in _LOADER_PATH
