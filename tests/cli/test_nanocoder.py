"""Released Nanocoders and a packed build side by side: locked, run by one command, published, verified."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen

from nanobench.formats.digest import sha256_hex
from nanobench.formats.documents import dump_json, dump_lock, read_json
from nanobench.harness.build import NANOCODER
from nanobench.harness.contract import CONTRACTS
from nanobench.model.lock import HarnessLock
from nanobench.model.result import BundleManifest, CellResult, RunManifest
from nanobench.project.files import Project
from nanobench.store.store import Store

pytestmark = [pytest.mark.network, pytest.mark.timeout(1200)]

OLD, NEW, VERSION = "nanocoder-1.29.0", "nanocoder-1.30.0", "1.31.0-test.1"
SERIALISED = b"JSON.stringify(report, null, 2)"
"""Where 1.30.0 prints its report; the build adds a field to it."""


@frozen
class Side:
    """A project of the demo task with three harnesses."""

    project: Project
    build: Path
    name: str

    @property
    def where(self) -> tuple[object, ...]:
        return ("--project", self.project.root)


def repacked(original: Path, path: Path) -> Path:
    """The registry's 1.30.0 as a build of a branch: another version, and one more field in its report. It always has
    the same bytes, so that a store which is kept holds one of it."""
    with (
        tarfile.open(original) as old,
        gzip.GzipFile(path, "wb", mtime=0) as packed,
        tarfile.open(None, "w", packed) as new,
    ):
        for member in old:
            file = old.extractfile(member)
            data = file.read() if file else b""
            if member.name == "package/package.json":
                data = json.dumps({**json.loads(data), "version": VERSION}).encode()
            if member.name == "package/dist/plain/shell.js":
                assert data.count(SERIALISED) == 1
                data = data.replace(SERIALISED, b"JSON.stringify({...report, steps: 7}, null, 2)")
            member.size = len(data)
            new.addfile(member, io.BytesIO(data))
    return path


@pytest.fixture(scope="module")
def side(
    nanobench: Any, repository: Project, demo: str, warm_store: Path, tmp_path_factory: pytest.TempPathFactory
) -> Side:
    place = tmp_path_factory.mktemp("side")
    for folder in (f"tasks/{demo}", "environments", "locks/environments", "locks/harness"):
        shutil.copytree(repository.root / folder, place / "project" / folder)
    shutil.copy(repository.root / f"locks/{demo}.lock.toml", place / "project/locks")
    project = Project(place / "project")
    released = project.lock(HarnessLock, NEW).value.package
    (own,) = (package for package in released if package.target == f"node_modules/{NANOCODER}")
    build = repacked(Store(warm_store).blob(own.digest), place / "build.tgz")
    done = nanobench("lock", "--nanocoder", build, "--nanocoder", "1.29.0", "--project", project.root, "--json")
    assert done.code == 0, done.err
    (name,) = set(done.document) - {OLD}
    assert done.document[OLD]["written"] == []
    assert done.document[name]["written"] == [f"locks/harness/{name}.lock.toml"]
    return Side(project, build, name)


@pytest.fixture(scope="module")
def bundles(nanobench: Any, side: Side, demo: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By provider: one command each, all three harnesses."""
    place = tmp_path_factory.mktemp("bundles")
    three = ("--nanocoder", "1.29.0", "--nanocoder", "1.30.0", "--nanocoder", side.build)
    for provider in ("oracle", "nop"):
        done = nanobench("run", demo, *three, "--provider", provider, "--out", place / provider, *side.where)
        assert done.code == 0, done.err
        assert "unknown to the contract of the report: " + side.name + ": steps" in done.err
    return {provider: place / provider for provider in ("oracle", "nop")}


def results(bundle: Path) -> dict[str, CellResult]:
    found = (read_json(path.read_bytes(), CellResult, where=path.name) for path in (bundle / "cells").rglob("*.json"))
    return {result.cell.harness: result for result in found}


def test_a_build_is_locked_by_content_with_the_closure_of_the_release_that_it_was_made_from(side: Side) -> None:
    lock, release = (side.project.lock(HarnessLock, name).value for name in (side.name, NEW))
    assert lock.original == evolve(release.original, nanocoder=VERSION, tarball=lock.original.tarball)
    assert lock.report_schema_sha256 == CONTRACTS[-1].sha256
    own, others = [p for p in lock.package if p not in release.package], set(release.package) - set(lock.package)
    assert [p.digest for p in own] == [lock.original.tarball]
    assert [p.target for p in others] == [f"node_modules/{NANOCODER}"]
    assert lock.closure != release.closure


def test_locking_again_changes_no_byte_and_needs_no_network(nanobench: Any, side: Side, tmp_path: Path) -> None:
    copy = shutil.copy(side.build, tmp_path / "elsewhere.tgz")
    asked = [part for each in (copy, OLD, NEW) for part in ("--nanocoder", each)]
    done = nanobench("lock", "--offline", *asked, *side.where)
    assert (done.code, done.out.count("no byte changed")) == (0, 3), done.err


def test_another_date_is_another_lock_and_only_harnesses_have_one(nanobench: Any, side: Side) -> None:
    def code(*arguments: object) -> tuple[int, str]:
        done = nanobench("lock", "--offline", *arguments, *side.where, "--json")
        return done.code, done.document.get("error", {}).get("code", "")

    kept = side.project.lock(HarnessLock, OLD).value.original.before
    dated = f"{OLD}-{kept}"
    lock = side.project.lock(HarnessLock, OLD).value
    assert code("--nanocoder", OLD, "--before", kept) == (3, "NB_OFFLINE")
    side.project.write_lock(dated, evolve(lock, name=dated))
    assert [code("--nanocoder", *asked) for asked in ((OLD, "--before", kept), (dated,), (dated[10:],))] == [
        (0, "")
    ] * 3
    assert side.project.lock(HarnessLock, OLD).value == lock
    side.project.lock_path(HarnessLock, dated).unlink()
    assert code("--nanocoder", OLD, "--before", "tomorrow") == (2, "NB_USAGE")
    assert code("--before", kept, "unidiff-1.0.1") == (2, "NB_USAGE")


def test_every_harness_lock_is_checked(nanobench: Any, side: Side) -> None:
    done = nanobench("lock", "--check", *side.where, "--json")
    assert done.code == 0
    assert {f"harness/{name}" for name in (OLD, NEW, side.name)} < set(done.document)


@pytest.mark.parametrize(("provider", "score"), [("oracle", "1.0"), ("nop", "0.0")])
def test_one_command_runs_them_side_by_side(bundles: dict[str, Path], side: Side, provider: str, score: str) -> None:
    found = results(bundles[provider])
    assert set(found) == {OLD, NEW, side.name}
    assert {result.score.value for result in found.values() if result.score} == {score}
    assert [found[name].nanocoder for name in (OLD, NEW, side.name)] == ["1.29.0", "1.30.0", VERSION]
    assert [found[name].unknown_fields for name in (OLD, NEW, side.name)] == [(), (), ("steps",)]
    # 1.29.0's report tells no tokens: what the gateway counted stands for all of them.
    assert all(result.usage.input_tokens for result in found.values())
    run = read_json((bundles[provider] / "run.json").read_bytes(), RunManifest, where="run.json")
    locks = {name: side.project.lock(HarnessLock, name).sha256 for name in found}
    assert run.harnesses == locks == {name: result.harness_sha256 for name, result in found.items()}


def test_a_bundle_of_other_harnesses_than_the_tasks_own_verifies(
    nanobench: Any, bundles: dict[str, Path], side: Side
) -> None:
    done = nanobench("verify", bundles["oracle"], "--offline", *side.where, "--json")
    assert (done.code, done.err.count("testing the patch again")) == (0, 3), done.out


def test_where_the_builds_lock_is_not_published_there_is_no_verdict(
    nanobench: Any, bundles: dict[str, Path], repository: Project
) -> None:
    done = nanobench("verify", bundles["nop"], "--offline", "--project", repository.root, "--json")
    steps = done.document["steps"]
    assert done.code == 3
    assert {name for name, step in steps.items() if step["verdict"] != "pass"} == {"lock"}
    assert "NB_NO_PUBLISHED_LOCK" in steps["lock"]["reasons"][0]


def test_a_bundle_with_another_lock_of_a_harness_than_the_published_one_is_refused(
    nanobench: Any, bundles: dict[str, Path], side: Side, tmp_path: Path
) -> None:
    forged = Path(shutil.copytree(bundles["nop"], tmp_path / "forged"))
    lock = evolve(side.project.lock(HarnessLock, OLD).value, warning=("forged",))
    data = dump_lock(lock)
    (forged / f"locks/harness/{OLD}.lock.toml").write_bytes(data)
    run = read_json((forged / "run.json").read_bytes(), RunManifest, where="run.json")
    run = evolve(run, harnesses={**run.harnesses, OLD: sha256_hex(data)})
    (forged / "run.json").write_bytes(dump_json(run))
    (cell,) = (forged / "cells").rglob(f"{OLD}--*.json")
    result = read_json(cell.read_bytes(), CellResult, where=cell.name)
    cell.write_bytes(dump_json(evolve(result, harness_sha256=sha256_hex(data))))
    names = sorted(path.relative_to(forged).as_posix() for path in forged.rglob("*") if path.is_file())
    files = {name: sha256_hex((forged / name).read_bytes()) for name in names if name != "manifest.json"}
    (forged / "manifest.json").write_bytes(dump_json(BundleManifest(schema=1, files=files)))
    done = nanobench("verify", forged, "--offline", *side.where, "--json")
    steps = done.document["steps"]
    assert (done.code, steps["bytes"]["verdict"], steps["lock"]["verdict"]) == (1, "pass", "fail")
    assert [
        f"locks/harness/{OLD}.lock.toml: the bundle's has sha256" in reason for reason in steps["lock"]["reasons"]
    ] == [True]


@pytest.fixture
def hidden(side: Side) -> Iterator[Project]:
    """The project without the build's lock."""
    path = side.project.lock_path(HarnessLock, side.name)
    path.rename(path.with_suffix(".aside"))
    yield side.project
    path.with_suffix(".aside").rename(path)


def test_what_is_not_locked_is_refused_with_the_command_that_locks_it(
    nanobench: Any, side: Side, hidden: Project, demo: str
) -> None:
    for asked in ("1.31.0", side.name, side.build):
        done = nanobench("run", demo, "--frozen", "--provider", "nop", "--nanocoder", asked, *side.where, "--json")
        error = done.document["error"]
        assert (done.code, error["code"]) == (1, "NB_HARNESS_NOT_LOCKED")
        assert error["hint"] == f"nanobench lock --nanocoder {asked}"


@pytest.mark.parametrize(
    ("asked", "code"), [("1.28.1", "NB_HARNESS_VERSION"), ("other", "NB_HARNESS_VERSION"), ("no.tgz", "NB_NO_FILE")]
)
def test_what_cannot_be_locked_is_said_before_the_network_is_asked(
    nanobench: Any, side: Side, asked: str, code: str
) -> None:
    done = nanobench("lock", "--offline", "--nanocoder", asked, *side.where, "--json")
    assert done.document["error"]["code"] == code
    assert not list(side.project.root.rglob("*1.28*"))


def test_the_same_harness_twice_is_misuse(nanobench: Any, side: Side, demo: str) -> None:
    twice = ("--nanocoder", "1.30.0", "--nanocoder", NEW)
    done = nanobench("run", demo, "--frozen", "--provider", "nop", *twice, *side.where, "--json")
    assert (done.code, done.document["error"]["code"]) == (2, "NB_PLAN")


def test_a_build_that_the_store_lacks_is_named_by_its_digest(
    nanobench: Any, side: Side, demo: str, tmp_path: Path
) -> None:
    empty = ("--store", tmp_path / "store")
    done = nanobench("run", demo, "--provider", "nop", "--nanocoder", side.build, *empty, *side.where, "--json")
    error = done.document["error"]
    tarball = side.project.lock(HarnessLock, side.name).value.original.tarball
    assert (done.code, error["code"], error["where"]) == (3, "NB_BUILD_MISSING", tarball)
    assert "nanobench lock --nanocoder PATH.tgz" in error["hint"]


@pytest.mark.parametrize(
    ("asked", "command"), [("1.29.0", f"lock --nanocoder {OLD}"), ("1.30.0", "fetch unidiff-1.0.1")]
)
def test_what_is_missing_offline_is_named_with_the_command_that_brings_it(
    nanobench: Any, repository: Project, demo: str, tmp_path: Path, asked: str, command: str
) -> None:
    where = ("--store", tmp_path / "store", "--project", repository.root, "--json")
    done = nanobench("run", demo, "--frozen", "--provider", "nop", "--nanocoder", asked, *where)
    error = done.document["error"]
    assert (done.code, error["code"]) == (3, "NB_OFFLINE")
    assert f"`nanobench {command}`" in error["hint"]


def test_one_harness_can_be_checked_alone(nanobench: Any, repository: Project) -> None:
    done = nanobench("lock", "--check", "--nanocoder", "1.29.0", "--project", repository.root, "--json")
    assert (done.code, done.document) == (0, {f"harness/{OLD}": {"current": True, "reasons": []}})
