"""schema: task and environment documents satisfy the published JSON Schemas, as an editor would check them."""

from __future__ import annotations

from collections.abc import Mapping

from nanobench.formats.digest import document_sha256, sha256_hex
from nanobench.formats.documents import KINDS
from nanobench.formats.schema import emit
from nanobench.gates.interface import Case, Finding, judged
from nanobench.model.fields import Document


class SchemaGate:
    """The strict reader has read the documents already; this holds them against the schemas others use."""

    name = "schema"

    def check(self, case: Case) -> Finding:
        """Validate every document; the evidence names each by digest."""
        evidence = {
            "documents": {kind: document_sha256(document) for kind, document in case.documents.items()},
            "statement": sha256_hex(case.statement),
        }
        return judged(evidence, schema_problems(case.documents), "mend the keys named; schemas/ holds the rules")


def schema_problems(documents: Mapping[str, Document]) -> tuple[str, ...]:
    """Where documents (kind → document) depart from their kind's JSON Schema."""
    from jsonschema import Draft202012Validator  # slow to load, and only ``lock`` and ``verify`` need it

    problems = []
    for kind, document in sorted(documents.items()):
        validator = Draft202012Validator(emit(KINDS[kind], name=kind))
        problems += [f"{kind}: {e.json_path}: {e.message:.200}" for e in validator.iter_errors(document)]
    return tuple(problems)
