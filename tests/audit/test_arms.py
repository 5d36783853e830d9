"""One command runs several arms of a fixture, for real; and an auditor finds each one as it was run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.bundle.read import open_bundle
from nanobench.gateway.request import read_request
from nanobench.gateway.transcript import read_transcript
from nanobench.model.profile import Profile
from nanobench.model.result import Cell, CellResult, RunManifest, Served
from nanobench.project.files import Project
from nanobench.runner.plan import interleaved
from nanobench.scoring.efficiency import efficiency

pytestmark = pytest.mark.network

MATRIX = """\
schema = 1
tasks = ["fixture-create-file"]
order_seed = 3

[[provider]]
name = "oracle"

[[provider]]
name = "nop"
models = ["idle", "idler"]

[[profile]]
name = "usual"

[[profile]]
name = "small"
tool_profile = "nano"
disabled_tools = ["execute_bash"]
context_limit = 100
"""


@pytest.fixture(scope="module")
def done(nanobench: Any, repository: Project, tmp_path_factory: pytest.TempPathFactory) -> Any:
    place = tmp_path_factory.mktemp("arms")
    (place / "matrix.toml").write_text(MATRIX)
    where = ("--out", place / "run", "--project", repository.root, "--jobs", "1", "--json")
    done = nanobench("run", "--matrix", place / "matrix.toml", *where)
    assert done.code == 0, done.err
    return done


@pytest.fixture(scope="module")
def root(done: Any) -> Path:
    return Path(done.document["bundle"])


@pytest.fixture(scope="module")
def run(root: Path) -> RunManifest:
    return open_bundle(root).run


@pytest.fixture(scope="module")
def results(root: Path, run: RunManifest) -> dict[tuple[str, str | None], CellResult]:
    """By model and profile."""
    bundle = open_bundle(root)
    return {(cell.model, cell.profile): bundle.result(cell) for cell in run.cells}


def test_every_arm_is_run_and_the_plan_says_what_each_is(run: RunManifest, results: Any) -> None:
    assert [(facts.name, facts.models) for facts in run.providers] == [
        ("oracle", ("oracle",)),
        ("nop", ("idle", "idler")),
    ]
    small = Profile(name="small", tool_profile="nano", disabled_tools=("execute_bash",), context_limit=100)
    assert (run.order_seed, run.profiles) == (3, (Profile(name="usual"), small))
    assert {arm: (r.score.value, r.cause.value) for arm, r in results.items()} == {
        ("oracle", "usual"): ("1.0", "finished"),
        ("oracle", "small"): ("1.0", "context"),  # the file was written before the conversation was too long
        **{(model, profile): ("0.0", "finished") for model in ("idle", "idler") for profile in ("usual", "small")},
    }


def test_the_arms_were_begun_in_the_seeds_order(done: Any, run: RunManifest) -> None:
    def said(cell: Cell) -> str:
        return f": {cell.task} {cell.harness} {cell.profile} {cell.provider}/{cell.model} {cell.mode} #0: "

    order = interleaved(run.cells, 3)
    assert order != run.cells
    places = [done.err.index(f"cell {number} of 6{said(cell)}") for number, cell in enumerate(order, 1)]
    assert places == sorted(places)


def test_a_profile_reaches_the_model_through_nanocoder(root: Path, results: Any) -> None:
    def offered(result: CellResult) -> set[str]:
        first = next(read_transcript(root / "blobs/sha256" / result.blobs.transcript))
        request = read_request(first.request.raw())
        return set(request.offered) if request else set()

    small = {"read_file", "diff_edit", "write_file", "search_file_contents"}
    assert offered(results["idle", "small"]) == offered(results["oracle", "small"]) == small
    assert offered(results["idle", "usual"]) > small | {"execute_bash", "git_diff"}


def test_who_answered_and_with_which_tools_is_counted_and_a_script_has_no_price(results: Any) -> None:
    idle, solved = results["idle", "usual"], results["oracle", "usual"]
    assert idle.served == (Served(model="idle", steps=1),)
    assert (idle.usage.by_tool, solved.usage.by_tool) == ({}, {"write_file": 1})
    assert (idle.cost, idle.no_model_usage) == (None, None)
    assert all(result.attempts[-1].wall_ms > 0 and result.attempts[-1].cpu_ms > 0 for result in results.values())
    (row,) = efficiency(result for (model, _), result in results.items() if model != "oracle")
    assert (row.cells, row.missing) == (4, 1)


def test_an_auditor_computes_every_arm_again(root: Path, look: Any) -> None:
    steps = look(root)
    assert {name: steps[name].reasons for name in ("bytes", "lock", "rescore")} == dict.fromkeys(
        ("bytes", "lock", "rescore"), ()
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda profile: evolve(profile, tool_profile="minimal", disabled_tools=()),
            "tool_profile: published minimal",
        ),
        (lambda profile: evolve(profile, disabled_tools=("read_file",)), "disabled_tools: published read_file"),
        (
            lambda profile: evolve(profile, context_limit=None),
            "context_limit: published None, the transcript says: the conversation has",
        ),
    ],
)
def test_a_profile_that_was_not_run_is_named(
    root: Path, forge: Any, look: Any, change: Callable[[Profile], Profile], words: str
) -> None:
    forger = forge(root)
    forger.run(lambda run: evolve(run, profiles=(run.profiles[0], change(run.profiles[1]))))
    assert any(words in reason for reason in look(forger.root)["rescore"].reasons)


@pytest.mark.parametrize("change", [{"agents_md": False}, {"context_limit": 101}])
def test_a_profile_that_says_something_else_of_the_same_transcripts_is_named_too(
    root: Path, forge: Any, look: Any, change: dict[str, Any]
) -> None:
    forger = forge(root)
    forger.run(lambda run: evolve(run, profiles=(evolve(run.profiles[0], **change), run.profiles[1])))
    reasons = look(forger.root)["rescore"].reasons
    assert len([reason for reason in reasons if "usual" in reason and "setting: " in reason]) == 3


def test_another_address_of_a_provider_is_named(root: Path, forge: Any, look: Any) -> None:
    forger = forge(root)
    forger.run(lambda run: evolve(run, provider=evolve(run.provider, base_url="http://other.example/v1")))
    reasons = look(forger.root)["rescore"].reasons
    assert len(reasons) == 2 and all("/nanocoder-" in reason and "setting: " in reason for reason in reasons)


def test_a_finished_run_is_not_begun_again_and_it_is_said_how_to_see_it(
    root: Path, nanobench: Any, repository: Project
) -> None:
    where = ("--out", root, "--project", repository.root, "--json")
    error = nanobench("run", "fixture-create-file", "--provider", "nop", *where).document["error"]
    assert (error["code"], error["message"]) == ("NB_EXISTS", "holds a finished run, which nothing is added to")
    assert f"nanobench verify {root}" in error["hint"]


def test_a_plan_says_its_arms_without_running_them(nanobench: Any, repository: Project, root: Path) -> None:
    matrix = root.parent / "matrix.toml"
    options = ("--repeats", "5", "--mode", "hinted", "--mode", "navigation", "--dry-run", "--json")
    done = nanobench("run", "--matrix", matrix, "--project", repository.root, *options)
    assert json.loads(done.out)["cells"] == 60
