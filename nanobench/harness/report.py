"""The contract of Nanocoder 1.30.0's ``--json`` report: one object on stdout, or nothing at all.

Field names are the report's own. The JSON Schema made from these classes is checked in; a report that does not
match it is a contract error and never a score. Fields that the schema does not know are kept and named.
"""

from __future__ import annotations

from typing import Any, Literal

from attrs import field, frozen
from jsonschema import Draft202012Validator

from nanobench.errors import Refused
from nanobench.formats.schema import emit
from nanobench.harness import foreign_json
from nanobench.model.fields import Document, whole

NANOCODER = "1.30.0"
"""The version whose contract this is."""

SCHEMA_NAME = f"nanocoder-{NANOCODER}-report"
MAX_BYTES = 64 << 20
_MAX_REASONS = 20
# JavaScript's largest exact integer; token counts are far below.
_LARGEST = 2**53 - 1


@frozen(kw_only=True)
class ToolCall:
    """One executed call, in order. ``arguments`` is whatever JSON value the model wrote, a raw string when it was
    not JSON. A shell command that fails is a ``result``; ``error`` is a refused or crashed call."""

    name: str
    arguments: Any
    result: str | None
    error: str | None


@frozen(kw_only=True)
class ReportedUsage:
    """Token counts as Nanocoder summed them. Requests inside one turn are missing: the gateway's counts are right."""

    inputTokens: int = whole(0, _LARGEST)
    outputTokens: int = whole(0, _LARGEST)
    totalTokens: int = whole(0, _LARGEST)


@frozen(kw_only=True)
class Report:
    """The report. ``filesChanged`` lists attempts, also failed ones, and misses what the shell changed.

    ``finalText`` and ``reasoning`` join the text of all turns without a separator. ``usage`` is absent when no
    answer told it; ``message`` stands with kind ``error``, ``toolNames`` with kind ``tool-approval-required``.
    """

    kind: Literal["success", "error", "tool-approval-required"]
    exitCode: Literal[0, 1, 2]
    finalText: str
    reasoning: str | None
    toolCalls: tuple[ToolCall, ...]
    filesChanged: tuple[str, ...]
    usage: ReportedUsage | None = None
    message: str | None = None
    toolNames: tuple[str, ...] | None = None


_OPTIONAL = ("usage", "message", "toolNames")
_NEEDED = {"error": "message", "tool-approval-required": "toolNames"}


@frozen(kw_only=True)
class ParsedReport:
    """A report that kept the contract, and the paths of the fields that the contract does not know."""

    report: Report
    unknown: tuple[str, ...] = field(default=())


def schema() -> Document:
    """The JSON Schema of the report, as checked in under ``schemas/``."""
    document = emit(Report, name=SCHEMA_NAME, open_world=True)
    for name in _OPTIONAL:
        # The optional ones are left out when there is nothing to say; they are never null.
        document["properties"][name] = document["properties"][name]["anyOf"][0]
    document["allOf"] = [
        {"if": {"properties": {"kind": {"const": kind}}}, "then": {"required": [needed]}}
        for kind, needed in _NEEDED.items()
    ]
    return document


def parse_report(stdout: bytes) -> ParsedReport | None:
    """What Nanocoder said on stdout; ``None`` when it said nothing, as after every provider error and signal.

    Raises:
        Refused: ``NB_REPORT_CONTRACT``, with every place where the report departs from the contract.
    """
    if not stdout:
        return None
    try:
        document = foreign_json.parse(stdout, limit=MAX_BYTES)
    except (ValueError, RecursionError) as error:
        raise _broken((f"not one JSON object: {error}",)) from None
    problems = [f"{e.json_path}: {e.message:.200}" for e in _VALIDATOR.iter_errors(document)]
    if problems:
        raise _broken(tuple(sorted(problems)[:_MAX_REASONS]))
    return ParsedReport(report=_report(document), unknown=_unknown(document))


def _broken(details: tuple[str, ...]) -> Refused:
    return Refused(
        "NB_REPORT_CONTRACT",
        f"stdout is not the report of Nanocoder {NANOCODER}",
        where="the agent's stdout",
        details=details,
        hint=f"compare it with schemas/{SCHEMA_NAME}.schema.json; the run is not scored",
    )


def _known(kind: type, document: Document) -> dict[str, Any]:
    return {a.name: document[a.name] for a in kind.__attrs_attrs__ if a.name in document}  # type: ignore[attr-defined]


def _report(document: Document) -> Report:
    known = _known(Report, document)
    known["toolCalls"] = tuple(ToolCall(**_known(ToolCall, call)) for call in document["toolCalls"])
    known["filesChanged"] = tuple(document["filesChanged"])
    if "usage" in known:
        known["usage"] = ReportedUsage(**_known(ReportedUsage, document["usage"]))
    if "toolNames" in known:
        known["toolNames"] = tuple(known["toolNames"])
    return Report(**known)


def _unknown(document: Document) -> tuple[str, ...]:
    parts: list[tuple[str, type, Document]] = [
        ("", Report, document),
        ("usage.", ReportedUsage, document.get("usage", {})),
    ]
    parts += [("toolCalls[].", ToolCall, call) for call in document["toolCalls"]]
    found = {f"{prefix}{name}" for prefix, kind, part in parts for name in part if name not in _FIELDS[kind]}
    return tuple(sorted(found))


_FIELDS: dict[type, set[str]] = {
    kind: {a.name for a in kind.__attrs_attrs__} for kind in (Report, ToolCall, ReportedUsage)
}
_VALIDATOR = Draft202012Validator(schema())
