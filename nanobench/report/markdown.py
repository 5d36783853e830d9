"""The baseline report and the provider matrix as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain

from nanobench.formats.printable import printable
from nanobench.report.figures import Part
from nanobench.report.tables import Table, baseline, matrix, title_of

_SPECIAL = re.compile(r"(?<![^\W_])_|_(?![^\W_])|[\\`*<|~&!$]|\](?=[(\[:])|:(?=//|\w+:)|(?<=www)\.", re.IGNORECASE)
"""What would format, link or count as an entity; names with an underscore inside stay readable."""

_ADDRESSES = re.compile(r"@|#(?=\w)|\bGH-(?=\d)", re.IGNORECASE)
"""What would mention somebody or refer to an issue. Hosts look for it once Markdown is rendered, when a backslash or
an entity is gone (github/markup#1168); an empty comment keeps the two halves apart."""


def markdown(parts: Sequence[Part]) -> str:
    """The whole report."""
    return "\n".join(["# NanoBench report", "", *chain.from_iterable(map(_part, parts))])


def _part(part: Part) -> Iterable[str]:
    yield f"## {escaped(title_of(part))}"
    yield ""
    for table in (*baseline(part), matrix(part)):
        yield from (f"### {escaped(table.title)}", "", *rendered(table), "")


def rendered(table: Table) -> Iterable[str]:
    """One table, with its note above it."""
    if table.note:
        yield from (escaped(table.note), "")
    if not table.rows:
        yield "None."
        return
    yield _line(table.columns)
    yield "|" + "|".join(["---"] * table.heads + ["--:"] * (len(table.columns) - table.heads)) + "|"
    yield from map(_line, table.rows)


def _line(texts: Iterable[str]) -> str:
    return "| " + " | ".join(map(escaped, texts)) + " |"


def escaped(text: str) -> str:
    """The text as Markdown that means nothing but itself: one line, nothing formatted, nobody mentioned."""
    plain = _SPECIAL.sub(r"\\\g<0>", printable(text).replace("\n", " "))
    return _ADDRESSES.sub(r"\g<0><!-- -->", plain)
