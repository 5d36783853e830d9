"""The contract of Nanocoder's report, version by version: its JSON Schema, and how a report is read by it.

A report that does not match the schema is a contract error and never a score. Fields that it does not know are kept
and named. A lock names its contract by the schema's sha256.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

import attrs
from attrs import field, frozen

from nanobench.errors import MAX_DETAILS, Refused
from nanobench.formats import json
from nanobench.formats.digest import sha256_hex
from nanobench.formats.schema import emit
from nanobench.harness import foreign_json
from nanobench.harness.report import Report, ReportedUsage, ReportWithUsage, ToolCall
from nanobench.model.fields import Document
from nanobench.model.lock import HarnessLock

MAX_BYTES = 64 << 20
_MAX_REASONS = 20
_MAX_UNKNOWN, _NAME = 20, 100
_OPTIONAL = ("usage", "message", "toolNames")
_NEEDED = {"error": "message", "tool-approval-required": "toolNames"}
_RELEASE = re.compile(r"(\d+)\.(\d+)\.(\d+)")


@frozen(kw_only=True)
class ParsedReport:
    """A report that kept the contract, and the paths of the fields that the contract does not know (the first few,
    sorted)."""

    report: Report
    unknown: tuple[str, ...] = ()


@frozen(kw_only=True)
class Contract:
    """How the report of one version is read, and that of later ones up to the next contract."""

    version: str
    kind: type[Report]
    schema: Document = field(init=False)
    sha256: str = field(init=False)

    @property
    def name(self) -> str:
        """The name of its schema, which is checked in under ``schemas/``."""
        return f"nanocoder-{self.version}-report"

    @schema.default
    def _schema(self) -> Document:
        document = emit(self.kind, name=self.name, open_world=True)
        for name in document["properties"].keys() & set(_OPTIONAL):
            # The optional ones are left out when there is nothing to say; they are never null.
            document["properties"][name] = document["properties"][name]["anyOf"][0]
        document["allOf"] = [
            {"if": {"properties": {"kind": {"const": kind}}}, "then": {"required": [needed]}}
            for kind, needed in _NEEDED.items()
        ]
        return document

    @sha256.default
    def _sha256(self) -> str:
        return sha256_hex(json.pretty(self.schema))

    def parse(self, stdout: bytes) -> ParsedReport | None:
        """What Nanocoder said on stdout; ``None`` when it said nothing, as after every provider error and signal.

        Raises:
            Refused: ``NB_REPORT_CONTRACT``, with every place where the report departs from the contract.
        """
        from jsonschema import Draft202012Validator  # slow to load, and most verbs read no report

        if not stdout:
            return None
        try:
            document = foreign_json.parse(stdout, limit=MAX_BYTES)
        except (ValueError, RecursionError) as error:
            raise self._broken((f"not one JSON object: {error}",)) from None
        departures = islice(Draft202012Validator(self.schema).iter_errors(document), MAX_DETAILS)
        problems = [f"{e.json_path}: {e.message:.200}" for e in departures]
        if problems:
            raise self._broken(tuple(sorted(problems)[:_MAX_REASONS]))
        return ParsedReport(report=self._report(document), unknown=self._unknown(document))

    def _broken(self, details: tuple[str, ...]) -> Refused:
        return Refused(
            "NB_REPORT_CONTRACT",
            f"stdout is not the report of Nanocoder {self.version}",
            where="the agent's stdout",
            details=details,
            hint=f"compare it with schemas/{self.name}.schema.json; the run is not scored",
        )

    def _report(self, document: Document) -> Report:
        known = _known(self.kind, document)
        known["toolCalls"] = tuple(ToolCall(**_known(ToolCall, call)) for call in document["toolCalls"])
        known["filesChanged"] = tuple(document["filesChanged"])
        if "usage" in known:
            known["usage"] = ReportedUsage(**_known(ReportedUsage, known["usage"]))
        if "toolNames" in known:
            known["toolNames"] = tuple(known["toolNames"])
        return self.kind(**known)

    def _unknown(self, document: Document) -> tuple[str, ...]:
        known = _known(self.kind, document)
        parts: list[tuple[str, type, Document]] = [("", self.kind, document)]
        parts += [("usage.", ReportedUsage, known.get("usage", {}))]
        parts += [("toolCalls[].", ToolCall, call) for call in document["toolCalls"]]
        strange = ((prefix, name) for prefix, kind, part in parts for name in part.keys() - _fields(kind))
        found = {f"{prefix}{name or '(empty)'}"[:_NAME] for prefix, name in strange}
        return tuple(sorted(found)[:_MAX_UNKNOWN])


def _fields(kind: type) -> set[str]:
    return {attribute.name for attribute in attrs.fields(kind)}


def _known(kind: type, document: Document) -> dict[str, Any]:
    return {name: document[name] for name in _fields(kind) & document.keys()}


CONTRACTS = (
    Contract(version="1.29.0", kind=Report),
    Contract(version="1.30.0", kind=ReportWithUsage),
)
"""Oldest first. 1.28 and older print no report."""


def contract_for(version: str, *, build: bool) -> Contract:
    """The contract that a new lock of this version names.

    A released version must be one whose reports have been looked at. A build of a branch is read by the newest
    contract that is not newer than the version it declares: what it adds is kept and named, and what it lacks shows
    as a contract error.

    Raises:
        Refused: ``NB_HARNESS_VERSION``.
    """
    allowed = [c for c in CONTRACTS if c.version == version or (build and _release(c.version) <= _release(version))]
    if not allowed:
        raise _no_contract(version)
    return allowed[-1]


def contract_of(lock: HarnessLock) -> Contract:
    """The contract that a lock names.

    Raises:
        Refused: ``NB_REPORT_SCHEMA`` for one that this program does not have; ``NB_HARNESS_VERSION`` for a release
            that is not the contract's own.
    """
    named = next((c for c in CONTRACTS if c.sha256 == lock.report_schema_sha256), None)
    if named is None:
        raise Refused(
            "NB_REPORT_SCHEMA",
            f"locked {lock.report_schema_sha256}, this program has {', '.join(c.sha256 for c in CONTRACTS)}",
            where=f"{lock.name}: report_schema_sha256",
            hint="lock the harness again, or use the nanobench that made this lock",
        )
    if lock.original.tarball is None and named.version != lock.nanocoder:
        raise _no_contract(lock.nanocoder)
    return named


def _release(version: str) -> tuple[int, ...]:
    found = _RELEASE.match(version)
    return tuple(map(int, found.groups())) if found else ()


def _no_contract(version: str) -> Refused:
    known = " and ".join(contract.version for contract in CONTRACTS)
    return Refused(
        "NB_HARNESS_VERSION",
        f"Nanocoder {version} was asked for; the reports of {known} are known",
        hint=f"use {CONTRACTS[-1].version}, or lock a packed build: nanobench lock --nanocoder PATH.tgz",
    )
