from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.ecosystems.node_lockfile import check_lockfile, lockfile_of, read_project_lock, with_registry
from nanobench.errors import Refused
from nanobench.formats.converter import structure
from nanobench.model.environment import Environment, NodeRequest
from nanobench.model.lock import Lockfile

INTEGRITY, OTHER = "sha512-" + "A" * 86 + "==", "sha512-" + "B" * 85 + "A=="
Tree = Callable[[dict[str, Any]], Path]
NPM = NodeRequest(node="22.23.3", manager="npm@11.21.1", lockfile="project")
PNPM = NodeRequest(node="22.23.3", manager="pnpm@10.12.1", lockfile="project")


def lock(placed: dict[str, Any], **changes: Any) -> bytes:
    entries = {
        target: {"version": "1.0.0", "integrity": INTEGRITY, **entry} if "node_modules/" in target else entry
        for target, entry in placed.items()
    }
    return json.dumps({"lockfileVersion": 3, "packages": {"": {"name": "p"}, **entries}} | changes).encode()


def read(placed: dict[str, Any], **changes: Any) -> list[str]:
    return [p.purl for p in read_project_lock(lock(placed, **changes), where="package-lock.json")]


def refused(code: str, call: Callable[[], object]) -> str:
    with pytest.raises(Refused) as caught:
        call()
    assert caught.value.code == code
    return str(caught.value)


def test_everything_that_npm_ci_would_fetch_is_wanted_once() -> None:
    assert read(
        {
            "node_modules/a": {},
            "node_modules/b": {"dev": True},
            "node_modules/b/node_modules/a": {"version": "2.0.0"},
            "packages/x": {"name": "x", "version": "0.0.0"},
            "node_modules/x": {"link": True, "resolved": "packages/x"},
            "packages/x/node_modules/a": {},
            "node_modules/c": {"inBundle": True},
            "node_modules/d": {"optional": True, "os": ["darwin"]},
            "node_modules/e": {"devOptional": True, "cpu": "arm64"},
        }
    ) == ["pkg:npm/a@1.0.0", "pkg:npm/a@2.0.0", "pkg:npm/b@1.0.0"]


@pytest.mark.parametrize(
    "placed",
    [
        {"node_modules/x": {"link": True, "resolved": "../x"}},
        {"node_modules/x": {"link": True, "resolved": "/etc"}},
        {"node_modules/x": {"link": True, "resolved": "file:/etc"}},
        {"node_modules/x": {"link": True}},
        {"../node_modules/x": {}},
        {"/node_modules/x": {}},
    ],
)
def test_a_place_or_link_out_of_the_workspace_is_refused(placed: dict[str, Any]) -> None:
    refused("NB_NODE_LINK", lambda: read(placed))


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"integrity": ""}, "NB_INTEGRITY"),
        ({"integrity": "sha1-AAAA"}, "NB_INTEGRITY"),
        ({"resolved": "git+ssh://git@example.org/a.git#1"}, "NB_NPM_SOURCE"),
        ({"resolved": "file:vendor/a.tgz"}, "NB_NPM_SOURCE"),
        ({"os": "darwin"}, "NB_NPM_PLATFORM"),
    ],
)
def test_what_cannot_be_pinned_is_refused(entry: dict[str, Any], code: str) -> None:
    assert "node_modules/a" in refused(code, lambda: read({"node_modules/a": entry}))


def test_two_files_of_one_version_are_refused() -> None:
    placed = {"node_modules/a": {}, "node_modules/b/node_modules/a": {"integrity": OTHER}}
    refused("NB_INTEGRITY", lambda: read(placed))


def test_the_lockfile_of_an_old_npm_is_refused() -> None:
    refused("NB_NPM_LOCK", lambda: read({}, lockfileVersion=1))


def test_installed_is_from_our_registry_whatever_the_lockfile_says() -> None:
    data = lock({"node_modules/@s/a": {"resolved": "https://evil.example/deep/@s/a/-/a-1.0.0.tgz"}})
    entry = json.loads(with_registry(data, "http://127.0.0.1:1", where="lock"))["packages"]["node_modules/@s/a"]
    assert entry["resolved"] == "http://127.0.0.1:1/@s/a/-/a-1.0.0.tgz"


def test_the_projects_lockfile_is_found_and_named_by_content(tree: Tree) -> None:
    data = lock({"node_modules/a": {}})
    base = tree({"package-lock.json": data, "package.json": {"packageManager": "npm@11.21.1+sha512.aa"}})
    locked, placed = lockfile_of(NPM, base)
    assert locked == Lockfile(path="package-lock.json", sha256=hashlib.sha256(data).hexdigest())
    assert [p.name for p in placed] == ["a"]
    check_lockfile(locked, base, environment="e")


def test_pnpms_filters_know_the_names_of_workspace_packages(tree: Tree) -> None:
    importers = {"packages/a": {"dependencies": {"x": {"version": "1.0.0"}}}, ".": {}}
    whole = {"packages": {"x@1.0.0": {"resolution": {"integrity": INTEGRITY}}}, "snapshots": {"x@1.0.0": {}}}
    base = tree(
        {
            "pnpm-lock.yaml": {"lockfileVersion": "9.0", "importers": importers, **whole},
            "packages/a/package.json": {"name": "@s/a"},
        }
    )
    request = NodeRequest(node="22.23.3", manager="pnpm@10.12.1", lockfile="project", filters=("@s/a",))
    assert [p.name for p in lockfile_of(request, base)[1]] == ["x"]


def test_another_lockfile_is_refused_with_the_remedy(tree: Tree) -> None:
    base = tree({"package-lock.json": lock({})})
    other = Lockfile(path="package-lock.json", sha256="0" * 64)
    said = refused("NB_NODE_LOCKFILE", lambda: check_lockfile(other, base, environment="shared"))
    assert "environments/shared.toml" in said
    missing = Lockfile(path="pnpm-lock.yaml", sha256="0" * 64)
    assert "the base has none" in refused("NB_NODE_LOCKFILE", lambda: check_lockfile(missing, base, environment="e"))


def test_another_package_manager_than_the_projects_is_refused(tree: Tree) -> None:
    base = tree({"package-lock.json": lock({}), "package.json": {"packageManager": "npm@10.0.0"}})
    assert "npm@10.0.0" in refused("NB_NODE_MANAGER", lambda: lockfile_of(NPM, base))


@pytest.mark.parametrize("kind", ["link", "folder", "fifo", "linked folder"])
def test_a_lockfile_that_is_no_plain_file_is_not_followed(tree: Tree, tmp_path: Path, kind: str) -> None:
    base = tree({"x": b""})
    (tmp_path / "secret").write_bytes(lock({}))
    path = base / "package-lock.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(tmp_path / "secret" if kind == "link" else tmp_path)
    refused("NB_NODE_LOCKFILE", lambda: lockfile_of(NPM, base))


def test_a_project_without_the_lockfile_is_refused(tree: Tree) -> None:
    assert "no pnpm-lock.yaml" in refused("NB_NODE_LOCKFILE", lambda: lockfile_of(PNPM, tree({"a": b""})))


def test_a_manifest_that_is_no_json_is_refused(tree: Tree) -> None:
    base = tree({"package-lock.json": lock({}), "package.json": b"{" * 100_000})
    refused("NB_NODE_MANIFEST", lambda: lockfile_of(NPM, base))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "lockfile"),
        ({"lockfile": "project", "packages": ["a@1"], "before": "2026-01-01"}, "lockfile"),
        ({"packages": ["a@1"]}, "before"),
        ({"lockfile": "project", "before": "2026-01-01"}, "before"),
        ({"packages": ["a@1"], "before": "2026-01-01", "manager": "pnpm@10.12.1"}, "npm"),
        ({"lockfile": "project", "filters": ["."]}, "filters"),
        ({"lockfile": "project", "manager": "pnpm@10.12.1", "filters": ["!x"]}, "filters"),
        ({"packages": ["a@git+ssh://x/y"], "before": "2026-01-01"}, "packages"),
        ({"lockfile": "project", "manager": "yarn@1.0.0"}, "manager"),
        ({"lockfile": "project", "node": "22"}, "node"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(table: dict[str, Any], said: str) -> None:
    node = {"node": "22.23.3", "manager": "npm@11.21.1", **table}
    document = {"schema": 1, "name": "e", "base": {"debian": "bookworm"}, "node": node}
    assert said in refused("NB_SCHEMA", lambda: structure(document, Environment, where="e"))
