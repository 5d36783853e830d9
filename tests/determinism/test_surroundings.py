"""One kind of surroundings at a time, on a small part of every layer: which one makes which path differ?"""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from packageurl import PackageURL

from nanobench.archives.entries import Entry
from nanobench.archives.layer import write_layer
from nanobench.model.lock import Package
from nanobench.project.files import Project
from nanobench.store.store import Store

TASK = "unidiff-1.0.1"
DEBS = {"base-files", "base-passwd", "ca-certificates", "debianutils", "libc-bin", "tzdata"}
"""What no root file system can be without, the time zone, and a file whose name is not ASCII."""

TARBALLS = 20
CASES: dict[str, dict[str, Any]] = {
    "a closed umask": {"umask": "077"},
    "another time zone, locale and hash seed": {
        "env": {"TZ": "America/St_Johns", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONHASHSEED": "1"}
    },
    "shuffled directories and one processor": {"shuffle": True, "cpus": str(min(os.sched_getaffinity(0)))},
    "a clock a year on": {"days": 365},
    "a clock before the epoch of the environment": {"days": -365},
}


@frozen(kw_only=True)
class Built:
    """What was built in some surroundings: layers by part, and what the clocks inside and outside said."""

    layers: dict[str, Path]
    commit: str
    clocks: tuple[int, int]


@pytest.fixture(scope="module")
def few(demos: Any) -> tuple[Package, ...]:
    """Some pinned files of every kind."""
    image = [p for p in demos.packages(TASK) if p.role != "debian" or PackageURL.from_string(p.purl).name in DEBS]
    tarballs = [p for p in demos.harness.package if p.role == "npm" and p.target]
    return (*image, *sorted(tarballs, key=lambda p: p.size)[:TARBALLS])


@pytest.fixture(scope="module")
def build(
    go: Any, seed: Any, surroundings: Any, few: tuple[Package, ...], demos: Any, repository: Project,
    warm_store: Path, tmp_path_factory: pytest.TempPathFactory,
) -> Callable[..., Built]:  # fmt: skip
    def make(folder: str, **kind: Any) -> Built:
        place = tmp_path_factory.mktemp("parts") / folder
        place.mkdir()
        seed(few, place / "store")
        trees = [str(Store(warm_store).tree(layer.diff_id[7:])) for layer in demos.environment.layer]
        done = go(
            surroundings(**kind), "parts", "store", place=place, task=TASK, project=str(repository.root), trees=trees
        )
        assert done.code == 0, done.err
        said = json.loads(done.out)
        blobs = place / "store/blobs/sha256"
        return Built(
            layers={part: blobs / digest[7:9] / digest[7:] for part, digest in said["layers"].items()},
            commit=said["commit"],
            clocks=(said["date"], done.facts["time"]),
        )

    return make


@pytest.fixture(scope="module")
def at_home(build: Callable[..., Built]) -> Built:
    return build("plain")


def test_the_parts_are_those_of_the_locks(
    at_home: Built, demos: Any, warm_store: Path, differences: Callable[[Path, Path], list[str]]
) -> None:
    (task,) = (task for task in demos.tasks if task.task == TASK)
    for part, digest in (("python", task.image.diff_ids[1]), ("task", task.image.diff_ids[-1])):
        locked, layer = Store(warm_store).blob(digest), at_home.layers[part]
        assert layer.name == locked.name, f"{part}: {differences(locked, layer)}"
    assert at_home.commit == task.source.commit


@pytest.mark.parametrize("case", CASES)
def test_no_layer_is_another_with(
    case: str, build: Callable[..., Built], at_home: Built, differences: Callable[[Path, Path], list[str]],
    libfaketime: Path | None,
) -> None:  # fmt: skip
    days = CASES[case].get("days", 0)
    if days and libfaketime is None:
        pytest.skip("libfaketime is not installed")
    there = build("of her 'own', şo to say", **CASES[case])
    for part, layer in there.layers.items():
        home = at_home.layers[part]
        assert layer.name == home.name, f"{part}: {differences(home, layer)}"
    assert there.commit == at_home.commit
    for now, before in zip(there.clocks, at_home.clocks, strict=True):
        assert round((now - before) / 86_400) == days, "the clock is not where the test wanted it"


def test_where_layers_differ_is_told_by_path_and_fact(
    tmp_path: Path, differences: Callable[[Path, Path], list[str]]
) -> None:
    def layer(name: str, mode: int, text: bytes) -> Path:
        file = Entry(path="a/b", kind="file", mode=mode, mtime=7, size=len(text), content=lambda: BytesIO(text))
        with (tmp_path / name).open("wb") as out:
            write_layer([file], out, epoch=9)
        return tmp_path / name

    plain = layer("plain", 0o644, b"text")
    (other,) = differences(plain, layer("other", 0o755, b"text"))
    assert other.startswith("a/b: ")
    assert " 644 " in other
    assert " 755 " in other
    assert len(differences(plain, layer("third", 0o644, b"Text"))) == 1
    assert differences(plain, plain) == []


def test_members_in_another_order_are_told(tmp_path: Path, differences: Callable[[Path, Path], list[str]]) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for layer, names in ((one, ("a", "b")), (other, ("b", "a"))):
        with tarfile.open(layer, "w") as tar:
            for name in names:
                tar.addfile(tarfile.TarInfo(name))
    assert differences(one, other) == ["a: b stands in its place"]
