"""schema: task and environment documents satisfy the published JSON Schemas, as an editor would check them."""

from __future__ import annotations

from jsonschema import Draft202012Validator

from nanobench.formats.digest import document_sha256, sha256_hex
from nanobench.formats.documents import KINDS
from nanobench.formats.schema import emit
from nanobench.gates.interface import Case, Finding, judged


class SchemaGate:
    """The strict reader has read the documents already; this holds them against the schemas others use."""

    name = "schema"

    def check(self, case: Case) -> Finding:
        """Validate every document; the evidence names each by digest."""
        reasons = []
        for kind, document in sorted(case.documents.items()):
            validator = Draft202012Validator(emit(KINDS[kind], name=kind))
            reasons += [f"{kind}: {e.json_path}: {e.message:.200}" for e in validator.iter_errors(document)]
        evidence = {
            "documents": {kind: document_sha256(document) for kind, document in case.documents.items()},
            "statement": sha256_hex(case.statement),
        }
        return judged(evidence, tuple(reasons), "mend the keys named; schemas/ holds the rules")
