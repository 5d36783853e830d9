"""The judging of gates: doubles for gates and case; the store is real."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, field, frozen

from nanobench.errors import CannotTell, MachineFailure, Refused
from nanobench.gates import judge
from nanobench.gates.interface import Case, Finding
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Digest
from nanobench.model.lock import LOCK_REVISION, HarnessLock
from nanobench.project.files import Project
from nanobench.project.stale import REVISION_GATES
from nanobench.store.store import Store


@frozen
class Double:
    """A gate that answers, or raises, what it is told to, and counts how often it is asked."""

    name: str
    answer: Finding | Exception
    asked: list[Case] = field(factory=list[Case])

    def check(self, case: Case) -> Finding:
        self.asked.append(case)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


PASS = Finding(verdict="pass", evidence={"seen": 1})
FAIL = Finding(verdict="fail", evidence={"seen": 2}, reasons=("it is red", "it is round"), remedy="paint it")


@pytest.fixture
def toy(place: Any, locks: Locks, bench: Workbench, repository: Project, demo: str, tmp_path: Path) -> Case:
    nothing: Any = None
    return Case(
        task=locks.spec,
        environment=nothing,
        documents={"task": locks.task.original},
        statement=repository.statement(demo),
        cutoff=None,
        pins=None,
        tokens=0,
        tools=nothing,
        harness=repository.lock(HarnessLock, locks.task.harness.name).value,
        closure=tmp_path,
        image=place.image,
        change=place.change,
        arena=place.arena,
        base=nothing,
        golden=nothing,
        bench=evolve(bench, store=Store(tmp_path / "store")),
        rebuild=nothing,
    )


@pytest.fixture
def judged(toy: Case, monkeypatch: pytest.MonkeyPatch) -> Any:
    def ask(*gates: Double, **changes: Any) -> dict[str, judge.Judged]:
        monkeypatch.setattr(judge, "GATES", gates)
        return {j.name: j for j in judge.judge_all(evolve(toy, **changes))}

    return ask


def test_the_gates_are_those_that_a_lock_of_this_revision_asks_for() -> None:
    assert tuple(gate.name for gate in judge.GATES) == REVISION_GATES[LOCK_REVISION]


def test_no_gate_is_skipped_for_anothers_failure_and_each_has_its_evidence(judged: Any, toy: Case) -> None:
    found = judged(Double("a", FAIL), Double("b", PASS))
    assert {name: j.finding.verdict for name, j in found.items()} == {"a": "fail", "b": "pass"}
    assert toy.bench.store.read(found["a"].evidence) == b'{"seen":2}'
    assert found["b"].verdict.evidence_sha256 == found["b"].evidence.removeprefix("sha256:")


def test_a_pass_is_remembered_and_a_failure_is_not(judged: Any) -> None:
    good, bad = Double("good", PASS), Double("bad", FAIL)
    first, second = judged(good, bad), judged(good, bad)
    assert (len(good.asked), len(bad.asked)) == (1, 2)
    assert first["good"].verdict == second["good"].verdict
    assert second["bad"].finding == FAIL


@pytest.mark.parametrize("fact", ["statement", "cutoff", "documents", "image", "harness", "engine", "change"])
def test_a_pass_is_only_remembered_for_the_same_facts(judged: Any, toy: Case, fact: str) -> None:
    class Other:
        name = "other"

    other: Any = Other()
    changes: dict[str, dict[str, Any]] = {
        "statement": {"statement": b"another"},
        "cutoff": {"cutoff": "2026-01-01"},
        "documents": {"documents": {"task": {"id": "y"}}},
        "image": {"image": evolve(toy.image, image=evolve(toy.image.image, manifest=b"another"))},
        "harness": {"harness": evolve(toy.harness, closure=Digest("sha256:" + "5" * 64))},
        "engine": {"bench": evolve(toy.bench, engine=other)},
        "change": {"change": evolve(toy.change, golden=b"another")},
    }
    gate = Double("gate", PASS)
    judged(gate)
    judged(gate, **changes[fact])
    assert len(gate.asked) == 2


@pytest.mark.parametrize(("name", "asked"), [("flakiness", 1), ("hermetic", 1), ("fairness", 2)])
def test_what_a_slow_gate_does_not_read_does_not_ask_it_again(judged: Any, name: str, asked: int) -> None:
    gate = Double(name, PASS)
    judged(gate)
    judged(gate, statement=b"another")
    assert len(gate.asked) == asked


def test_asked_afresh_nothing_is_recalled(toy: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    gate: Any = Double("gate", PASS)
    monkeypatch.setattr(judge, "GATES", (gate,))
    (first,) = judge.judge_all(toy)
    (again,) = judge.judge_all(toy, afresh=True)
    (recalled,) = judge.judge_all(toy)
    assert len(gate.asked) == 2
    assert (first.seconds is None, again.seconds is None, recalled.seconds is None) == (False, False, True)


def test_an_error_is_a_failure_and_a_missing_input_no_verdict(judged: Any) -> None:
    refusal = Refused("NB_X", "it is wrong", details=("here", "there"), hint="mend it")
    found = judged(Double("refused", refusal), Double("missing", CannotTell("NB_Y", "it is not here")))
    finding = found["refused"].finding
    assert (finding.verdict, finding.reasons, finding.remedy) == (
        "fail",
        ("NB_X: it is wrong", "here", "there"),
        "mend it",
    )
    assert found["missing"].finding.verdict == "unknown"


def test_a_machine_that_fails_is_no_verdict_on_a_task(judged: Any) -> None:
    with pytest.raises(MachineFailure):
        judged(Double("a", MachineFailure("NB_ENGINE", "it broke")))


def test_a_curator_reads_every_reason_and_the_remedy(judged: Any) -> None:
    lines = judged(Double("shape", FAIL))["shape"].lines()
    assert [line.strip() for line in lines] == ["shape          fail", "- it is red", "- it is round", "→ paint it"]
    assert judged(Double("b", evolve(FAIL, verdict="pass", reasons=())))["b"].lines() == ("b              pass",)
