"""All gates on one case: each is asked, none is skipped for another's failure, a pass is remembered."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

from attrs import frozen

from nanobench import leaks, symbols
from nanobench.errors import CannotTell, MachineFailure, NanobenchError
from nanobench.formats import json
from nanobench.formats.converter import unstructure
from nanobench.formats.digest import document_sha256, sha256_hex, split
from nanobench.gates.adequacy import AdequacyGate
from nanobench.gates.contamination import ContaminationGate
from nanobench.gates.fairness import FairnessGate
from nanobench.gates.flakiness import FlakinessGate
from nanobench.gates.harness import HarnessGate
from nanobench.gates.hermetic import HermeticGate
from nanobench.gates.image import ImageGate
from nanobench.gates.interface import Case, Finding, Gate
from nanobench.gates.leak import LeakGate
from nanobench.gates.repository import RepositoryGate
from nanobench.gates.schema import SchemaGate
from nanobench.gates.source import SourceGate
from nanobench.gates.tools import TOOLS
from nanobench.gates.verification import VerificationGate
from nanobench.grading.interface import grading_sha256
from nanobench.model.fields import Digest, Document
from nanobench.model.lock import LOCK_REVISION, RECIPE, GateVerdict, Verdict

GATES: tuple[Gate, ...] = (
    SchemaGate(),
    SourceGate(),
    RepositoryGate(),
    ContaminationGate(),
    ImageGate(),
    HarnessGate(),
    LeakGate(),
    VerificationGate(),
    FlakinessGate(),
    AdequacyGate(),
    FairnessGate(),
    HermeticGate(),
)
"""In the order in which they are reported."""

_RULES = (Path(__file__).parent, Path(leaks.__file__).parent, Path(symbols.__file__).parent)


@frozen(kw_only=True)
class Judged:
    """A gate's finding; its evidence is a blob in the store. ``seconds`` is what asking took, None when recalled."""

    name: str
    finding: Finding
    evidence: Digest
    seconds: float | None = None

    @property
    def verdict(self) -> GateVerdict:
        """The line of the lock."""
        return GateVerdict(name=self.name, verdict=self.finding.verdict, evidence_sha256=split(self.evidence)[1])

    def lines(self) -> tuple[str, ...]:
        """What a curator reads."""
        return words(self.name, self.finding)


def words(name: str, finding: Finding) -> tuple[str, ...]:
    """What a curator reads: verdict, every reason, what is worth a look, and the remedy."""
    remedy = (f"    → {finding.remedy}",) if finding.verdict != "pass" and finding.remedy else ()
    return (
        f"{name:<14} {finding.verdict}",
        *(f"    - {reason}" for reason in finding.reasons),
        *(f"    ! {warning}" for warning in finding.warnings),
        *remedy,
    )


def judge_all(case: Case, *, afresh: bool = False) -> tuple[Judged, ...]:
    """Ask every gate. What passed with the same inputs before is recalled, unless everything is asked ``afresh``."""
    return tuple(_judge(gate, case, afresh=afresh) for gate in GATES)


def _judge(gate: Gate, case: Case, *, afresh: bool) -> Judged:
    store = case.bench.store
    recipe = _recipe(gate, case)
    known = None if afresh else store.recall(recipe)
    if known is not None and store.has(Digest(known["evidence"])):
        evidence = Digest(known["evidence"])
        document = json.parse(store.read(evidence), where=f"evidence of {gate.name}")
        return Judged(name=gate.name, finding=Finding(verdict="pass", evidence=document), evidence=evidence)
    case.bench.say(f"gate {gate.name}")
    started = time.monotonic()
    finding = _ask(gate, case)
    seconds = time.monotonic() - started
    evidence = store.put(json.dump(finding.evidence))
    if finding.verdict == "pass":
        store.remember(recipe, {"evidence": evidence})
    return Judged(name=gate.name, finding=finding, evidence=evidence, seconds=seconds)


def _ask(gate: Gate, case: Case) -> Finding:
    try:
        return gate.check(case)
    except MachineFailure:
        raise
    except NanobenchError as error:
        verdict: Verdict = "unknown" if isinstance(error, CannotTell) else "fail"
        reasons = (f"{error.code}: {error.message}", *error.details)
        return Finding(verdict=verdict, evidence={"error": error.code}, reasons=reasons, remedy=error.hint)


def _recipe(gate: Gate, case: Case) -> str:
    facts = _facts(case)
    read = {key: facts[key] for key in _READ.get(gate.name, facts)}
    rules = {"revision": LOCK_REVISION, "recipe": RECIPE, "rules": _rules_sha256()}
    return document_sha256({"gate": gate.name, **rules, **read})


_TESTS = ("image", "engine", "arena", "golden", "test", "grading", "tools")
_READ: dict[str, tuple[str, ...]] = {
    "image": ("image", "engine"),
    "harness": ("image", "engine", "arena", "closure", "nanocoder", "statement", "required_files"),
    "flakiness": _TESTS,
    "adequacy": _TESTS,
    "hermetic": ("image", "engine"),
}
"""What a gate's answer depends on, where that is less than everything: these are the slow ones."""


def _facts(case: Case) -> Document:
    """Everything that a gate's answer may depend on, by digest."""
    return {
        "documents": {kind: document_sha256(document) for kind, document in case.documents.items()},
        "statement": sha256_hex(case.statement),
        "required_files": list(case.required_files),
        "cutoff": case.cutoff or "",
        "pins": unstructure(case.pins) if case.pins else {},
        "tools": [tool.digest for tool in TOOLS],
        "image": case.image.image.manifest_digest,
        "engine": case.bench.engine.name,
        "closure": case.harness.closure,
        "nanocoder": case.harness.nanocoder,
        "golden": sha256_hex(case.change.golden),
        "test": sha256_hex(case.change.test),
        "grading": grading_sha256(),
        "arena": {
            "suites": [unstructure(suite) for suite in case.arena.suites],
            "assertions": [unstructure(assertion) for assertion in case.arena.assertions],
            "answer": case.arena.answer or "",
            "paths": unstructure(case.arena.rules),
            "limits": unstructure(case.arena.limits),
            "env": dict(case.arena.env),
            "quarantine": list(case.task.quarantine),
        },
    }


@cache
def _rules_sha256() -> str:
    """The digest of the gates themselves: what older ones said is not what these say."""
    files = sorted(file for room in _RULES for file in room.glob("*.py"))
    return document_sha256({f"{file.parent.name}/{file.name}": sha256_hex(file.read_bytes()) for file in files})
