"""A question: it is answered in the final text, which the bundle's report holds; the tree stays as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.formats.documents import dump_json, read_json
from nanobench.grading.locked import LockedArena, locked_arena
from nanobench.grading.trial import fresh_workspace, try_patch
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.lock import EnvironmentLock, TaskLock
from nanobench.model.result import CellResult, GradingRecord, Outcome, Score
from nanobench.project.files import Project
from nanobench.scoring.score import score
from nanobench.sources.difference import take_patch
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.question import spoken

TASK = "fixture-question"
ANSWERED, UNCHANGED = "module|answer", "tree|unchanged"
RIGHT = "mailroom/render/digest.py"
SPOILED = "mailroom/pipeline.py"


@pytest.fixture(scope="module")
def lock(repository: Project) -> TaskLock:
    return repository.lock(TaskLock, TASK).value


@pytest.fixture(scope="module")
def question(lock: TaskLock, repository: Project, bench: Workbench) -> LockedArena:
    environment = repository.lock(EnvironmentLock, lock.environment.name).value
    return locked_arena(
        Locks(task=lock, environment=environment, folder=repository.folder(TASK)), online=None, bench=bench
    )


@pytest.fixture(scope="module")
def bundles(nanobench: Any, repository: Project, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What ``run`` publishes for an agent that knows the answer and for one that says something else."""
    place = tmp_path_factory.mktemp("question")
    for provider in ("oracle", "nop"):
        where = ("--out", place / provider, "--project", repository.root)
        modes = ("--mode", "hinted", "--mode", "navigation") if provider == "oracle" else ()
        done = nanobench("run", "--frozen", TASK, "--provider", provider, *modes, *where)
        assert done.code == 0, done.err
    return {name: place / name for name in ("oracle", "nop")}


@pytest.fixture(scope="module")
def spoiling(question: LockedArena, bench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The patch of an agent that changed a file."""
    place = tmp_path_factory.mktemp("spoiled")
    workspace = fresh_workspace(question.image.workspace, place / "workspace")
    with (workspace / SPOILED).open("a") as file:
        file.write("# seen\n")
    (place / "git").mkdir()
    gitbox = Gitbox(engine=bench.engine, layers=question.image.trees, scratch=place / "git")
    return take_patch(gitbox, workspace).patch


def test_who_knows_solves_it_in_both_modes_and_a_stranger_can_check_it(
    bundles: dict[str, Path], forge: Any, retest: Callable[[Path], Any]
) -> None:
    forger = forge(bundles["oracle"])
    found = [(r.cell.mode, r.score.value, r.files_changed) for r in forger.results()]
    assert found == [("hinted", "1.0", ()), ("navigation", "1.0", ())]
    assert {step.verdict for step in retest(forger.root).values()} == {"pass"}


def test_who_says_nothing_of_it_gets_nothing(bundles: dict[str, Path], forge: Any) -> None:
    (result,) = forge(bundles["nop"]).results()
    assert (result.score.value, result.score.targets_passed, result.score.broken) == ("0.0", 0, ())


@pytest.mark.parametrize(
    ("said", "spoiled", "answered", "value"),
    [
        (spoken(RIGHT), False, True, "1.0"),
        (spoken(RIGHT), True, True, "0.0"),
        (spoken("mailroom/store.py"), False, False, "0.0"),
        (RIGHT, False, False, "0.0"),
        (None, True, False, "0.0"),
    ],
)
@pytest.mark.parametrize("mode", ["hinted", "navigation"])
def test_a_right_answer_counts_only_with_the_tree_as_it_was(
    question: LockedArena,
    lock: TaskLock,
    spoiling: bytes,
    tmp_path: Path,
    said: str | None,
    spoiled: bool,
    answered: bool,
    value: str,
    mode: Any,
) -> None:
    patch = spoiling if spoiled else b""
    outcomes = try_patch(question.arena, patch, said=said, scratch=tmp_path).grading.outcomes
    assert outcomes == {
        ANSWERED: Outcome.PASSED if answered else Outcome.FAILED,
        UNCHANGED: Outcome.FAILED if spoiled else Outcome.PASSED,
    }
    found = score(
        outcomes=outcomes,
        fail_to_pass=lock.tests.fail_to_pass,
        pass_to_pass=lock.tests.pass_to_pass,
        files_changed=(SPOILED,) if spoiled else (),
        required_files=lock.source.to_change,
        mode=mode,
    )
    assert found.value == value


def test_neither_the_agents_prompt_nor_its_tree_holds_the_answer(question: LockedArena, repository: Project) -> None:
    assert RIGHT not in repository.statement(TASK).decode()
    assert not list(question.image.workspace.rglob("answer.txt"))


def test_a_changed_answer_is_found_twice(bundles: dict[str, Path], forge: Any, retest: Callable[[Path], Any]) -> None:
    forger = forge(bundles["oracle"])
    forger.blobs(lambda result: {"report": _saying(forger, result, "mailroom/store.py")})
    steps = retest(forger.root)
    assert steps["bytes"].verdict == "pass"
    assert any("'mailroom/store.py', which the transcript does not say" in r for r in steps["rescore"].reasons)
    assert any(f"{ANSWERED}: published passed, now failed" in reason for reason in steps["retest"].reasons)


def test_an_answer_put_in_afterwards_is_found_though_everything_else_fits(
    bundles: dict[str, Path], forge: Any, look: Callable[..., Any]
) -> None:
    forger = forge(bundles["nop"])

    def better(result: CellResult) -> CellResult:
        assert result.blobs.outcomes is not None
        record = read_json(forger.blob(result.blobs.outcomes), GradingRecord, where="outcomes")
        record = evolve(record, outcomes={**record.outcomes, ANSWERED: Outcome.PASSED})
        report = _saying(forger, result, RIGHT)
        blobs = evolve(result.blobs, report=report, outcomes=forger.put(dump_json(record)))
        solved = Score(value="1.0", label="Complete Resolution", resolved=True, targets_passed=1, targets=1)
        return evolve(result, blobs=blobs, score=solved, failure=None)

    forger.each(better)
    (reason,) = look(forger.root)["rescore"].reasons
    assert f"report: answers {RIGHT!r}, which the transcript does not say" in reason


def test_without_the_projects_files_there_is_no_telling(
    bundles: dict[str, Path], forge: Any, look: Callable[..., Any]
) -> None:
    steps = look(forge(bundles["oracle"]).root, project=None)
    assert {steps["derive"].verdict, steps["retest"].verdict} == {"unknown"}


def _saying(forger: Any, result: CellResult, answer: str) -> str:
    assert result.blobs.report is not None
    report = json.loads(forger.blob(result.blobs.report))
    report["finalText"] = spoken(answer)
    digest: str = forger.put(json.dumps(report).encode())
    return digest
