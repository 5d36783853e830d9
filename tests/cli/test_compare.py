"""``nanobench compare`` over published bundles."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.bundle.write import write_bundle
from nanobench.formats.digest import document_sha256, sha256_hex
from nanobench.formats.documents import dump_lock
from nanobench.model.lock import TaskLock
from nanobench.model.result import Blobs, CellResult, ProviderFacts, RunManifest
from nanobench.project.files import Project

Publish = Callable[..., Path]
Make = Callable[..., Any]
NOISE = "not distinguishable from noise"


@pytest.fixture
def publish(tmp_path: Path, task_lock: TaskLock, spec: Make) -> Publish:
    """``publish("a", results, tier=3)``: a bundle of these results, whose tasks are of one tier."""
    digest = sha256_hex(b"x")
    (tmp_path / "blob").write_bytes(b"x")

    def lock(task: str, tier: int) -> bytes:
        document = spec(task, tier=tier)
        return dump_lock(evolve(task_lock, task=task, spec_sha256=document_sha256(document), original=document))

    def make(name: str, results: list[CellResult], *, tier: int = 1) -> Path:
        locks = {task: lock(task, tier) for task in sorted({r.cell.task for r in results})}
        blobs = Blobs(patch=digest, transcript=digest, stderr=digest)
        kept = [evolve(r, blobs=blobs, lock_sha256=sha256_hex(locks[r.cell.task])) for r in results]
        run = RunManifest(
            schema=1,
            nanobench="0",
            provider=ProviderFacts(name="p", kind="scripted", models=tuple(sorted({r.cell.model for r in kept}))),
            locks={task: sha256_hex(data) for task, data in locks.items()},
            harnesses={r.cell.harness: r.harness_sha256 for r in kept},
            cells=tuple(r.cell for r in kept),
        )
        files = {f"{task}.lock.toml": data for task, data in locks.items()}
        place = {digest: tmp_path / "blob"}
        return write_bundle(tmp_path / name, run, kept, files, place, building=tmp_path / "building")

    return make


@pytest.fixture
def pair(publish: Publish, repeats: Make) -> Callable[..., tuple[Path, Path]]:
    """``pair("0", "1")``: two bundles of eight tasks that all went so."""

    def make(before: str, after: str, *, tasks: int = 8, tier: int = 1) -> tuple[Path, Path]:
        def run(digits: str) -> list[CellResult]:
            return [r for n in range(tasks) for r in repeats(f"t{n}", digits)]

        return publish("a", run(before), tier=tier), publish("b", run(after), tier=tier)

    return make


def test_a_regression_is_said_and_exits_1_where_that_is_asked(nanobench: Make, pair: Make) -> None:
    better, worse = pair("1", "0")
    assert nanobench("compare", better, worse).code == 0
    done = nanobench("compare", better, worse, "--fail-on", "regression")
    assert done.code == 1
    assert "  solves less: intervals over runs are apart, after below before; exact McNemar over 8 tasks" in done.out
    assert re.search(r"turned: t0 +1/1  →  0/1\n", done.out)
    assert "8 planned = 8 valid" in done.out


def test_a_gain_is_no_regression(nanobench: Make, pair: Make) -> None:
    worse, better = pair("0", "1")
    done = nanobench("compare", worse, better, "--fail-on", "regression", "--json")
    assert done.code == 0
    (found,) = done.document["comparisons"]
    assert found["verdict"]["word"] == "solves more" and not found["verdict"]["regression"]


def test_noise_is_no_regression(nanobench: Make, pair: Make) -> None:
    done = nanobench("compare", *pair("1", "0", tasks=5), "--fail-on", "regression")
    assert done.code == 0
    assert f"  {NOISE}: intervals over runs are apart" in done.out
    assert "no significance below 6 tasks" in done.out


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from leaves(inner, f"{path}/{key}")
    if not isinstance(value, dict | list):
        yield path, value


def test_the_document_holds_no_float_and_is_the_same_each_time(nanobench: Make, pair: Make) -> None:
    bundles = pair("11010", "01010")
    first, second = (nanobench("compare", *bundles, "--json").out for _ in range(2))
    assert first == second
    assert not [path for path, value in leaves(json.loads(first)) if isinstance(value, float)]
    (found,) = json.loads(first)["comparisons"]
    before = found["before"]
    assert before["solved"] == {"passed": 24, "n": 40, "interval": ["0.446", "0.737"]}
    assert (found["k"], before["tasks"]["t0"]) == (5, {"passed": 3, "n": 5, "first": True})


def test_no_percentage_stands_without_its_counts_and_interval(nanobench: Make, pair: Make) -> None:
    said = nanobench("compare", *pair("11010", "01010")).out.splitlines()
    shares = [part for line in said for part in line.split("→") if "%" in part and "In brackets" not in part]
    assert shares and all("/" in part and "[" in part for part in shares)


def test_models_of_one_bundle_are_compared_two_by_two(nanobench: Make, publish: Publish, repeats: Make) -> None:
    run = [
        r for m, d in (("m1", "1"), ("m2", "0"), ("m3", "1")) for n in range(8) for r in repeats(f"t{n}", d, model=m)
    ]
    bundle = publish("a", run)
    found = nanobench("compare", bundle, "--by", "model", "--json").document["comparisons"]
    words = {(c["arms"]["before"]["model"], c["arms"]["after"]["model"]): c["verdict"]["word"] for c in found}
    assert words == {("p/m1", "p/m2"): "solves less", ("p/m1", "p/m3"): NOISE, ("p/m2", "p/m3"): "solves more"}
    assert {c["paired"]["p_corrected"] for c in found} == {"0.0117", "1.0000"}  # 2/2⁸ of three
    based = ("compare", bundle, "--by", "model", "--fail-on", "regression", "--base")
    assert nanobench(*based, "p/m1").code == 1
    assert nanobench(*based, "p/m2").code == 0


def test_what_may_not_be_compared_is_told_task_by_task(nanobench: Make, pair: Make) -> None:
    done = nanobench("compare", *pair("1111", "1111", tasks=2, tier=3), "--fail-on", "regression")
    assert done.code == 3
    assert "NB_NOT_COMPARABLE" in done.err and "--repeats 5" in done.err
    assert "t1: tier 3 needs 5 runs that count on each side, and one has 4" in done.err


def test_results_of_another_lock_are_not_compared(nanobench: Make, publish: Publish, repeats: Make) -> None:
    one, other = publish("a", repeats("t", "1"), tier=1), publish("b", repeats("t", "1"), tier=2)
    done = nanobench("compare", one, other)
    assert done.code == 3 and "t: run from different locks" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "either a second bundle or --by"),
        (("--by", "phase"), "no axis 'phase'"),
        (("--by", "mode", "--base", "neither"), "no mode 'neither'"),
        (("--by", "mode", "--fail-on", "regression"), "worse than what?"),
        (("{}", "--base", "hinted"), "--base goes with --by"),
        (("{}/nowhere",), "there is no manifest.json"),
    ],
)
def test_misuse(nanobench: Make, publish: Publish, repeats: Make, words: tuple[str, ...], said: str) -> None:
    bundle = publish("a", repeats("t", "1"))
    done = nanobench("compare", bundle, *(word.format(bundle) for word in words))
    assert done.code == 2 and said in done.err


def test_a_folder_of_bundles_is_told_what_it_holds(nanobench: Make, publish: Publish, repeats: Make) -> None:
    bundle = publish("a", repeats("t", "1"))
    done = nanobench("compare", bundle, bundle.parent)
    assert done.code == 2 and f"give one of {bundle}" in done.err


def test_a_changed_byte_is_refused(nanobench: Make, pair: Make) -> None:
    one, other = pair("1", "1")
    changed = next((other / "cells").rglob("*.json"))
    changed.write_bytes(changed.read_bytes().replace(b'"finished"', b'"memory"', 1))
    done = nanobench("compare", one, other)
    assert done.code == 1 and "NB_BUNDLE_BYTES" in done.err


def test_the_scripted_solution_against_nothing(nanobench: Make, oracle_bundle: Path, nop_bundle: Path) -> None:
    done = nanobench("compare", oracle_bundle, nop_bundle, "--json")
    assert done.code == 0
    found = done.document["comparisons"]
    assert [c["arms"]["after"]["mode"] for c in found] == ["hinted", "navigation"]
    assert {c["verdict"]["word"] for c in found} == {NOISE}  # one task
    assert all(c["flips"] == [{"task": "unidiff-1.0.1", "before": "1/1", "after": "0/1"}] for c in found)


@pytest.mark.network
def test_a_real_run_against_itself_claims_nothing(nanobench: Make, repository: Project, tmp_path: Path) -> None:
    for name in "ab":
        words = ("--provider", "oracle", "--repeats", 2, "--out", tmp_path / name, "--project", repository.root)
        done = nanobench("run", "--locked", "fixture-create-file", *words)
        assert done.code == 0, done.err
    done = nanobench("compare", tmp_path / "a", tmp_path / "b", "--fail-on", "regression", "--json")
    assert done.code == 0
    (found,) = done.document["comparisons"]
    assert (found["verdict"]["word"], found["paired"]["p"]) == (NOISE, "1.0000")
    assert (found["flips"], found["set_aside"]) == ([], {})
    runs = {"fixture-create-file": {"passed": 2, "n": 2, "first": True}}
    assert found["before"]["tasks"] == found["after"]["tasks"] == runs


def test_what_costs_less_than_a_thousandth_of_a_dollar_is_not_said_to_cost_nothing(
    nanobench: Any, publish: Publish, repeats: Make
) -> None:
    def run(name: str, cost: str) -> Path:
        return publish(name, [evolve(r, cost=cost) for n in range(6) for r in repeats(f"t{n}", "11111")])

    before, after = run("a", "0.0002"), run("b", "0.00045")
    said = next(line for line in nanobench("compare", before, after).out.splitlines() if "cost" in line)
    assert "0.000200 [" in said and "0.000450 [" in said and "+0.000250 [" in said
    (comparison,) = nanobench("compare", before, after, "--json").document["comparisons"]
    (cost,) = [change for change in comparison["efficiency"] if change["figure"] == "cost"]
    assert cost["difference"]["value"] == "0.000250" and cost["before"]["value"] == "0.000200"
