"""The demo tasks, locked again far away: every byte of their locks, so every digest, is the committed one."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from nanobench.project.files import Project

Seed = Callable[[Iterable[Any], Path], None]
SPECS = ("tasks", "environments", "locks")
PEAK_MIB = 300


@frozen
class Journey:
    """``project`` and ``store`` are where we find them; ``first`` and ``second`` are what two lockings came to."""

    project: Path
    store: Path
    first: Any
    second: Any


@pytest.fixture(scope="module")
def journey(far_away: Any, go: Any, seed: Seed, demos: Any, repository: Project) -> Journey:
    there, place = far_away
    project, store = place / "project", place / "store"
    for folder in SPECS:
        shutil.copytree(repository.root / folder, there.here(project / folder))
    tasks = [task.task for task in demos.tasks]
    seed((*demos.packages(*tasks), *demos.for_gates()), there.here(store))
    there.own(place)
    lock = ("nanobench", "lock", "--offline", *tasks, "--store", store, "--project", project)
    first, second = (go(there, *lock, place=place) for _ in range(2))
    return Journey(there.here(project), there.here(store), first, second)


def test_locking_far_away_changes_no_byte(
    journey: Journey, repository: Project, demos: Any, located: Callable[..., str]
) -> None:
    where = located(journey.store, demos.layers())
    assert journey.first.code == 0, f"{journey.first.err}\n{where}"
    assert not where, where
    assert files(journey.project) == files(repository.root)
    assert journey.first.out.count("no byte changed") == len(demos.tasks)


def test_locking_twice_changes_no_byte_and_builds_nothing(journey: Journey, demos: Any) -> None:
    assert journey.second.code == 0
    cost = r"\S+: [\d.]+ s, gates 0\.0 s, 12 recalled; image .*; 0 bytes fetched\n"
    assert re.fullmatch(f"({cost})+", journey.second.err)
    assert journey.second.out.count("no byte changed") == len(demos.tasks)


def test_every_layer_is_what_its_name_says(journey: Journey, demos: Any) -> None:
    for digest in demos.layers():
        blob = journey.store / "blobs/sha256" / digest[7:9] / digest[7:]
        with blob.open("rb") as file:
            assert f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}" == digest


def test_evidence_says_nothing_of_where_and_when_it_was_gathered(journey: Journey, demos: Any, far_away: Any) -> None:
    there, place = far_away
    tests = " ".join(name for task in demos.tasks for name in (*task.tests.fail_to_pass, *task.tests.pass_to_pass))
    words = [place.name, str(there.uid), journey.first.facts["host"], "Kathmandu", "ascii"]
    words = [word for word in words if word not in tests]  # a host may be called as a test is
    assert {place.name, "Kathmandu"} <= set(words)
    for digest in sorted(gate.evidence_sha256 for task in demos.tasks for gate in task.gate):
        text = (journey.store / "blobs/sha256" / digest[:2] / digest).read_text("utf-8")
        assert not [word for word in words if re.search(rf"\b{re.escape(word)}\b", text)], text


def test_it_really_was_far_away(journey: Journey, far_away: Any, libfaketime: Path | None) -> None:
    there, _ = far_away
    seen = journey.first.facts
    assert (seen["umask"], seen["cpus"], seen["encoding"]) == (0o077, 1, "ascii")
    assert seen["utc_offset"] == 20_700
    if there.uid is not None:
        assert (seen["uid"], seen["host"]) == (there.uid, "elsewhere")
    if libfaketime:
        assert seen["time"] - journey.store.stat().st_ctime > 364 * 86_400


def test_locking_takes_little_memory(journey: Journey) -> None:
    assert 0 < journey.first.facts["peak_mib"] < PEAK_MIB


def files(project: Path) -> dict[str, bytes]:
    found = (path for folder in SPECS for path in (project / folder).rglob("*") if path.is_file())
    return {path.relative_to(project).as_posix(): path.read_bytes() for path in found}
