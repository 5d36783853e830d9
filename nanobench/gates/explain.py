"""Why a task was accepted or rejected: what each gate said, kept with what it was said of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from nanobench.formats import json
from nanobench.formats.digest import document_sha256, sha256_hex
from nanobench.gates.interface import Finding
from nanobench.gates.judge import Judged, words
from nanobench.gates.relock import Inputs
from nanobench.model.fields import Digest, Document
from nanobench.model.lock import GateVerdict
from nanobench.store.store import Store

_SHOWN = 3
"""Entries up to which a list or table is shown whole."""


@frozen(kw_only=True)
class Said:
    """One gate's answer: its words, and the numbers of its evidence (None when that is not in the store)."""

    name: str
    finding: Finding
    known: bool

    def lines(self) -> tuple[str, ...]:
        """Verdict and reasons, then the numbers."""
        if not self.known:
            return (*words(self.name, self.finding), "    its evidence is not in this store")
        return (*words(self.name, self.finding), *(f"    {fact}" for fact in facts(self.finding.evidence)))


def remember_judgement(task_id: str, inputs: Inputs, judged: tuple[Judged, ...], *, store: Store) -> None:
    """Keep what all gates said of these specs, so that a rejection can be explained too."""
    said = [
        {
            "name": j.name,
            "verdict": j.finding.verdict,
            "evidence": j.evidence,
            "reasons": list(j.finding.reasons),
            "remedy": j.finding.remedy,
        }
        for j in judged
    ]
    store.remember(_recipe(task_id, inputs.documents, inputs.statement), {"gates": said})


def judgement_of(task_id: str, documents: dict[str, Document], statement: bytes, *, store: Store) -> tuple[Said, ...]:
    """What all gates said of these specs when they were last locked here, or tried to be; nothing if never."""
    known = store.recall(_recipe(task_id, documents, statement)) or {"gates": []}
    return tuple(
        _said(g["name"], Digest(g["evidence"]), g["verdict"], tuple(g["reasons"]), g["remedy"], store=store)
        for g in known["gates"]
    )


def locked_judgement(gates: tuple[GateVerdict, ...], *, store: Store) -> tuple[Said, ...]:
    """What all gates said according to a lock."""
    return tuple(_said(g.name, Digest(f"sha256:{g.evidence_sha256}"), g.verdict, (), "", store=store) for g in gates)


def facts(evidence: Document) -> Iterator[str]:
    """The evidence's numbers and short texts, a line each; what is long is counted."""
    for key, value in evidence.items():
        if key != "warnings":
            yield from _facts(key, value)


def _facts(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict) and len(value) > _SHOWN and all(isinstance(v, str) for v in value.values()):
        tally = Counter(value.values())
        yield f"{key}: {len(value)} ({', '.join(f'{count} {name}' for name, count in sorted(tally.items())[:8])})"
    elif isinstance(value, dict):
        for inner, item in value.items():
            yield from _facts(f"{key}.{inner}", item)
    elif isinstance(value, list) and (len(value) > _SHOWN or any(isinstance(v, dict | list) for v in value)):
        yield f"{key}: {len(value)}"
    elif isinstance(value, list):
        yield f"{key}: {', '.join(map(str, value)) or 'none'}"
    else:
        yield f"{key}: {value}"


def _said(name: str, evidence: Digest, verdict: Any, reasons: tuple[str, ...], remedy: str, *, store: Store) -> Said:
    known = store.has(evidence)
    document = json.parse(store.read(evidence), where=f"evidence of {name}") if known else {}
    finding = Finding(verdict=verdict, evidence=document, reasons=reasons, remedy=remedy)
    return Said(name=name, finding=finding, known=known)


def _recipe(task_id: str, documents: dict[str, Document], statement: bytes) -> str:
    return document_sha256({"judgement": task_id, "documents": documents, "statement": sha256_hex(statement)})
