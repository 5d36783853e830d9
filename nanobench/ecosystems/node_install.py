"""Pinned tarballs → the ``node_modules`` of a workspace, laid out by the real npm or pnpm inside the locked image.

The tool runs on a copy of the base tree, without network, against a loopback server of the pinned files
(``node_registry.mjs``); no package's script runs that the environment does not name. Of what it leaves only the new
``node_modules`` folders count, without the notes that a manager keeps for itself about moment and place.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from json import dumps
from pathlib import Path

from attrs import frozen
from packageurl import PackageURL

from nanobench.archives.entries import Entry
from nanobench.archives.names import shown
from nanobench.ecosystems.installed import stamped
from nanobench.ecosystems.node_layer import manager_path
from nanobench.ecosystems.node_lockfile import LOCKFILES, read_plain, with_registry
from nanobench.ecosystems.node_tarballs import check_tarballs
from nanobench.ecosystems.workshop import PINS, SCRATCH, TOOLS, Workshop
from nanobench.errors import Refused
from nanobench.formats.digest import split
from nanobench.model.environment import NodeRequest
from nanobench.model.lock import Package
from nanobench.sandbox.interface import WORKSPACE, Mount

PORT = 41751
REGISTRY = f"http://127.0.0.1:{PORT}"
MODULES = "node_modules"

_SERVER = Path(__file__).with_name("node_registry.mjs")
_NOTES = (".package-lock.json", ".modules.yaml", ".pnpm-workspace-state.json", ".pnpm-workspace-state-v1.json")
_LAYOUT = re.compile(
    r"(hoist(-pattern\[\])?|public-hoist-pattern\[\]|shamefully-hoist|node-linker|auto-install-peers"
    r"|strict-peer-dependencies|legacy-peer-deps|install-links|install-strategy|link-workspace-packages"
    r"|hoist-workspace-packages|prefer-workspace-packages|shared-workspace-lockfile|inject-workspace-packages"
    r"|dedupe-peer-dependents|dedupe-direct-deps|exclude-links-from-lockfile|virtual-store-dir-max-length)"
    r"\s*=\s*[^$]*"
)
"""Lines of a project's ``.npmrc`` that shape the tree. No other is heard: they name registries, keys and programs."""


@frozen(kw_only=True)
class Modules:
    """What installing added: entries below ``workspace``, and the folders that they lie in, relative to it."""

    entries: tuple[Entry, ...]
    folders: tuple[str, ...]


def install(base: Path, packages: Sequence[Package], request: NodeRequest, *, shop: Workshop) -> Modules:
    """The ``node_modules`` of the base tree from the packages of role ``npm``; the tree itself is not changed.

    Same packages, tree and image: the same entries, whoever installs when and where.

    Args:
        base: a clean base tree; its lockfile is the pinned one (:func:`.node_lockfile.check_lockfile`).
        packages: all locked packages; their files are in the store, the layer ``node`` is in the shop.

    Raises:
        Refused: ``NB_NODE_INSTALL`` with the tool's last words; ``NB_NODE_TRACKED`` when the tree has a
            ``node_modules`` of its own; ``NB_NODE_LINK`` for a link out of the workspace; what
            :func:`.node_tarballs.check_tarballs` raises.
    """
    pinned = [p for p in packages if p.role == "npm"]
    check_tarballs(pinned, shop.store)
    work = shop.directory("workspace")
    _lay_out(base, work, request)
    shop.engine.own(work)
    mounts = (Mount(source=work, target=WORKSPACE, writable=True), _pins(pinned, shop), _tools(shop))
    manager = manager_path(packages)
    for command in _commands(manager, request):
        shop.command(
            *("/usr/local/bin/node", f"{TOOLS}/{_SERVER.name}", PINS, str(PORT), *command),
            phase="node",
            mounts=mounts,
            env=_environment(),
            cwd=WORKSPACE,
            refusal=partial(
                Refused,
                "NB_NODE_INSTALL",
                f"{request.manager} could not install the locked packages",
                where="node",
                hint="a package that is not pinned is missing from the lockfile or the filters; lock with "
                "--upgrade-input node if the project's lockfile is right",
            ),
        )
    return _modules(work, set(_folders(base)), shop.epoch)


def _lay_out(base: Path, work: Path, request: NodeRequest) -> None:
    """What the tool works on: the base tree, or an empty project that wants the packages."""
    if os.path.lexists(base / MODULES):
        raise Refused("NB_NODE_TRACKED", "the project tracks a node_modules of its own", where=MODULES)
    if request.lockfile is None:
        wanted = dict(p.rpartition("@")[::2] for p in request.packages)
        _write(work / "package.json", dumps({"private": True, "dependencies": wanted}).encode())
        return
    shutil.copytree(base, work, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git"))
    for folder, _, files in os.walk(work):
        if ".npmrc" in files:
            _keep_layout(Path(folder) / ".npmrc")
    if request.manager.startswith("npm@"):
        path = LOCKFILES["npm"]
        data = read_plain(work, path, limit=64 << 20)
        assert data is not None
        _write(work / path, with_registry(data, REGISTRY, where=path))


def _keep_layout(path: Path) -> None:
    plain = not path.is_symlink() and path.is_file()
    lines = path.read_text("utf-8", "replace").splitlines() if plain else []
    _write(path, "".join(f"{line}\n" for line in lines if _LAYOUT.fullmatch(line.strip())).encode())


def _write(path: Path, data: bytes) -> None:
    """Write where a link or anything else may stand, never through it."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    path.chmod(0o644)


def _pins(packages: Iterable[Package], shop: Workshop) -> Mount:
    """Exactly these tarballs and the index that the server reads, mounted read-only."""
    folder, index = shop.directory("pins"), {}
    for package in packages:
        algorithm, value = split(package.digest)
        purl = PackageURL.from_string(package.purl)
        name = f"{purl.namespace}/{purl.name}" if purl.namespace else purl.name
        integrity = f"{algorithm}-{base64.b64encode(bytes.fromhex(value)).decode()}"
        file = f"{value[:32]}.tgz"
        index[package.path] = {"file": file, "name": name, "version": purl.version, "integrity": integrity}
        if not (folder / file).exists():
            shutil.copyfile(shop.store.blob(package.digest), folder / file)
    _write(folder / "index.json", dumps(index, sort_keys=True).encode())
    shop.engine.own(folder)
    return Mount(source=folder, target=PINS)


def _tools(shop: Workshop) -> Mount:
    # A copy: the package itself may be closed to the user that runs inside.
    folder = shop.directory("tools")
    _write(folder / _SERVER.name, _SERVER.read_bytes())
    shop.engine.own(folder)
    return Mount(source=folder, target=TOOLS)


def _commands(manager: str, request: NodeRequest) -> Iterator[tuple[str, ...]]:
    """The tool's commands, one after the other."""
    if request.manager.startswith("npm@"):
        verb = ("ci",) if request.lockfile else ("install", "--no-package-lock")
        yield (manager, *verb, "--ignore-scripts")
        if request.scripts:
            yield (manager, "rebuild", "--ignore-scripts=false", "--foreground-scripts", *request.scripts)
        return
    filters = [part for wanted in request.filters for part in ("--filter", wanted)]
    frozen = ("--frozen-lockfile", "--ignore-scripts", "--ignore-pnpmfile", "--reporter=append-only")
    yield (manager, *filters, "install", *frozen)
    if request.scripts:
        allowed = [f"--config.onlyBuiltDependencies={name}" for name in request.scripts]
        yield (manager, *filters, *allowed, "--reporter=append-only", "rebuild", *request.scripts)


def _environment() -> dict[str, str]:
    """Nothing of a configuration counts but this; npm and pnpm read the same variables."""
    settings = {
        "registry": f"{REGISTRY}/",
        "userconfig": f"{SCRATCH}/userconfig",
        "globalconfig": f"{SCRATCH}/globalconfig",
        "cache": f"{SCRATCH}/cache",
        "store_dir": f"{SCRATCH}/store",
        "package_import_method": "copy",
        "manage_package_manager_versions": "false",
        "package_manager_strict": "false",
        "loglevel": "warn",
        "fetch_retries": "0",
        **{name: "false" for name in ("audit", "fund", "update_notifier", "progress", "color")},
    }
    places = {f"XDG_{kind}_HOME": f"{SCRATCH}/{kind.lower()}" for kind in ("CACHE", "CONFIG", "DATA", "STATE")}
    return {f"npm_config_{name}": value for name, value in settings.items()} | places | {"CI": "true"}


def _modules(work: Path, tracked: set[str], epoch: int) -> Modules:
    """Every new ``node_modules`` folder as entries; those that the project tracks (fixtures) are its own."""
    found: list[Entry] = []
    folders = tuple(sorted(set(_folders(work)) - tracked))
    for folder in folders:
        for entry in stamped(work / folder, prefix=f"{WORKSPACE[1:]}/{folder}", epoch=epoch):
            if entry.kind == "symlink":
                _check_link(work, entry)
            if os.path.split(entry.path) not in [(f"{WORKSPACE[1:]}/{folder}", note) for note in _NOTES]:
                found.append(entry)
    return Modules(entries=tuple(found), folders=folders)


def _folders(tree: Path) -> Iterator[str]:
    """The outermost ``node_modules`` below ``tree``, relative to it."""
    pending = [""]
    while pending:
        above = pending.pop()
        with os.scandir(tree / above) as listing:
            for entry in listing:
                if entry.name == MODULES:
                    yield above + MODULES
                elif entry.name != ".git" and entry.is_dir(follow_symlinks=False):
                    pending.append(f"{above}{entry.name}/")


def _check_link(work: Path, entry: Entry) -> None:
    place = os.path.realpath(work / entry.path.removeprefix(f"{WORKSPACE[1:]}/"))
    if entry.link.startswith("/") or not Path(place).is_relative_to(os.path.realpath(work)):
        raise Refused("NB_NODE_LINK", f"a link out of the workspace: {shown(entry.link)}", where=shown(entry.path))
