"""Locking the demo task for real, from its pins and without network; and every gate that may stand in the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.curate.lock import lock_task
from nanobench.errors import CannotTell, Refused
from nanobench.formats.documents import dump_lock
from nanobench.gates import harness, judge, relock, schema
from nanobench.gates.interface import Case, Gate
from nanobench.harness.session import run_agent
from nanobench.image.rebuild import rebuild
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Digest
from nanobench.model.lock import LOCK_REVISION, RECIPE, EnvironmentLock, TaskLock
from nanobench.model.result import Cause
from nanobench.project.files import Project
from nanobench.project.stale import REVISION_GATES
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.interface import Finished, Request
from nanobench.store.store import Store

Lock = Callable[..., Any]


@pytest.fixture
def lock(copied: Project, demo: str, bench: Workbench) -> Lock:
    def ask(*, upgrade: tuple[str, ...] = (), **options: Any) -> Any:
        return lock_task(copied, demo, upgrade=upgrade, online=None, bench=bench, **options)

    return ask


def files(project: Project) -> dict[str, bytes]:
    return {project.name(path): path.read_bytes() for path in sorted(project.root.rglob("*")) if path.is_file()}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new))


def test_to_lock_again_changes_no_byte_and_a_lock_that_was_lost_is_made_again(
    lock: Lock, copied: Project, demo: str
) -> None:
    before = files(copied)
    outcome = lock()
    assert outcome.written == ()
    assert files(copied) == before
    assert {j.finding.verdict for j in outcome.judged} == {"pass"}
    copied.lock_path(TaskLock, demo).unlink()
    assert lock(dry_run=True).written == (f"locks/{demo}.lock.toml",)
    assert not copied.has_lock(TaskLock, demo)
    assert lock().written == (f"locks/{demo}.lock.toml",)
    assert files(copied) == before


def test_a_lock_of_another_recipe_is_only_replaced_when_that_is_asked_for(lock: Lock, copied: Project) -> None:
    path = copied.lock_path(EnvironmentLock, "python-bookworm")
    old = copied.lock(EnvironmentLock, path.name.removesuffix(".lock.toml")).value
    path.write_bytes(dump_lock(evolve(old, recipe=RECIPE + 1)))
    with pytest.raises(Refused) as refused:
        lock()
    assert (refused.value.code, refused.value.where) == ("NB_RECIPE", copied.name(path))
    assert "--upgrade-input recipe" in refused.value.hint


def test_the_same_pins_with_other_layers_are_a_fault_and_nothing_is_written(lock: Lock, copied: Project) -> None:
    path = copied.lock_path(EnvironmentLock, "python-bookworm")
    old = copied.lock(EnvironmentLock, path.name.removesuffix(".lock.toml")).value
    layer = evolve(old.layer[1], diff_id=Digest("sha256:" + "5" * 64))
    path.write_bytes(dump_lock(evolve(old, layer=(old.layer[0], layer, *old.layer[2:]))))
    before = files(copied)
    with pytest.raises(Refused) as refused:
        lock()
    assert refused.value.code == "NB_IMAGE_DIFFERS"
    assert len(refused.value.details) == 1
    assert "layer python" in refused.value.details[0]
    assert files(copied) == before


def test_without_a_harness_lock_and_without_network_there_is_no_telling(lock: Lock, copied: Project) -> None:
    for path in (copied.root / "locks/harness").iterdir():
        path.unlink()
    with pytest.raises(CannotTell) as error:
        lock()
    assert error.value.code == "NB_OFFLINE"


# A gate that fails ----------------------------------------------------------------------------------------------


def break_schema(project: Project, task: str, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(schema, "schema_problems", lambda _: ("task: $.kind: it is wrong",))


def break_source(project: Project, task: str, patch: pytest.MonkeyPatch) -> None:
    edit(project.root / f"tasks/{task}/task.toml", '["unidiff/patch.py"]', '["unidiff/nowhere.py"]')


def break_image(project: Project, task: str, patch: pytest.MonkeyPatch) -> None:
    def other_epoch(source: Any, layers: Any, *, bench: Workbench) -> Any:
        return evolve(rebuild(source, layers, bench=bench), source_date_epoch=layers.epoch + 1)

    patch.setattr(relock, "rebuild", other_epoch)


def break_harness(project: Project, task: str, patch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: Any, **options: Any) -> Any:
        session = run_agent(*arguments, **options)
        return evolve(session, ending=evolve(session.ending, cause=Cause.AGENT_ERROR, detail="it broke"))

    patch.setattr(harness, "run_agent", failing)


def break_verification(project: Project, task: str, patch: pytest.MonkeyPatch) -> None:
    edit(project.root / f"tasks/{task}/task.toml", '"pytest", "tests"]', '"pytest", "no-such-folder"]')


def break_hermetic(project: Project, task: str, patch: pytest.MonkeyPatch) -> None:
    def leaking(engine: Bubblewrap, request: Request) -> Finished:
        finished = run(engine, request)
        if request.phase == "hermetic":
            request.stdout.write_bytes(request.stdout.read_bytes() + b"interface eth0\n")
        return finished

    run = Bubblewrap.run
    patch.setattr(Bubblewrap, "run", leaking)


class Forgetting(Store):
    """The store, without memory: a gate that has passed before is asked again."""

    def recall(self, recipe: str) -> None:
        return None


@pytest.mark.parametrize(
    ("gate", "breaking", "reason", "remedy"),
    [
        ("schema", break_schema, "$.kind: it is wrong", "mend the keys"),
        ("source", break_source, "unidiff/nowhere.py is not changed by the golden patch", "required_files"),
        ("image", break_image, "source_date_epoch: first build", "pin another version"),
        ("harness", break_harness, "ended with agent_error: it broke", "look at the harness lock"),
        ("verification", break_verification, "no test fails at base and passes with the golden patch", "path rules"),
        ("hermetic", break_hermetic, "found 'interface eth0'", "nanobench doctor"),
    ],
)
def test_the_gate_that_fails_is_named_alone_with_reason_and_remedy_and_no_lock_is_written(
    copied: Project,
    demo: str,
    nanobench: Any,
    monkeypatch: pytest.MonkeyPatch,
    gate: str,
    breaking: Any,
    reason: str,
    remedy: str,
) -> None:
    def forgetful(asked: Gate, case: Case, **options: Any) -> Any:
        if asked.name == gate:
            case = evolve(case, bench=evolve(case.bench, store=Forgetting(case.bench.store.root)))
        return answer(asked, case, **options)

    answer = judge._judge
    monkeypatch.setattr(judge, "_judge", forgetful)
    breaking(copied, demo, monkeypatch)
    before = files(copied)
    done = nanobench("lock", "--offline", demo, "--project", copied.root, "--json")
    assert done.code == 1, done.err
    error = done.document["error"]
    assert (error["code"], error["where"]) == ("NB_GATE_FAILED", f"tasks/{demo}")
    verdicts = [line.split() for line in error["details"] if not line.startswith(" ")]
    assert dict(verdicts) == {name: "fail" if name == gate else "pass" for name in REVISION_GATES[LOCK_REVISION]}
    assert any(reason in line for line in error["details"])
    assert any("→" in line and remedy in line for line in error["details"])
    assert files(copied) == before
