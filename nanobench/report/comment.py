"""The one comment under a pull request, written again with every run: scores, turned tasks, labels, cost, link.

A program that posts it finds the old one by :data:`MARKER` and puts this in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from attrs import evolve

from nanobench.errors import Misuse
from nanobench.report.figures import Part
from nanobench.report.markdown import escaped, rendered
from nanobench.report.rows import Row
from nanobench.report.tables import Table, best_first, differences, scores, taxonomy, title_of
from nanobench.report.words import NONE, count
from nanobench.scoring.arms import between
from nanobench.scoring.comparison import Compared, Comparison, compare

MARKER = "<!-- nanobench-report -->"
"""The comment's first line."""

LIMIT = 65_536
"""What GitHub takes, in characters; held in bytes, so that it holds however a host counts."""

_ROWS = (500, 100, 40, 15, 5, 2, 0)
"""Rows of each table: as many as make the comment fit."""

_LINK = re.compile(r"https?://[^\s<>()\[\]\"'`\\|]{1,2000}")


def against(before: Iterable[Row], after: Iterable[Row]) -> Compared:
    """The rows of the base beside the others, over the tasks of which a specification is known."""
    sides = [[row for row in rows if row.facts.spec and row.result] for rows in (before, after)]
    tasks = {row.cell.task: row.facts.spec for rows in sides for row in rows if row.facts.spec}
    results = [[row.result for row in rows if row.result] for rows in sides]
    found = between(results[0], results[1], tasks)
    return compare(found.found, tasks, alone=found.alone)


def comment(parts: Sequence[Part], *, link: str, base: Compared | None = None) -> str:
    """The comment's Markdown; what does not fit is cut, with words.

    Raises:
        Misuse: ``NB_LINK`` when the link is none that can stand in Markdown.
    """
    if not _LINK.fullmatch(link):
        raise Misuse(
            "NB_LINK", f"{link[:200]!r} is no link", where="--link", hint="http:// or https:// and no spaces"
        )
    for most in _ROWS:
        text = "\n".join(_lines(parts, link, base, most)) + "\n"
        if len(text.encode()) <= LIMIT:
            return text
    short = "The figures do not fit into a comment."
    return "\n".join((MARKER, "## NanoBench", "", short, "", _more(link), ""))


def _lines(parts: Sequence[Part], link: str, base: Compared | None, most: int) -> Iterator[str]:
    yield from (MARKER, "## NanoBench", "")
    for part in parts:
        yield from (f"**{escaped(title_of(part))}**", "")
        yield from _cut(with_cost(scores(part), part), most)
        if part.differences:
            yield from _cut(differences(part), most)
    if base is not None:
        yield from _against(base, most)
    for part in parts:
        yield from ("<details><summary>Why runs failed</summary>", "", *_cut(taxonomy(part), most), "</details>", "")
    yield _more(link)


def _more(link: str) -> str:
    return f"[The whole report, with every run step by step]({link})"


def _cut(table: Table, most: int) -> Iterator[str]:
    """The table's first rows, and how many are left out."""
    if most or not table.rows:
        yield from (*rendered(evolve(table, rows=table.rows[:most])), "")
    left = len(table.rows) - most
    if left > 0:
        yield from (f"…and {count(left, 'more row')}: see the whole report.", "")


def with_cost(table: Table, part: Part) -> Table:
    """The scores, with what each arm's runs cost."""
    costs = [cost_words(part.rows(arm)) for arm, _ in best_first(part)]
    rows = tuple((*row, cost) for row, cost in zip(table.rows, costs, strict=True))
    return evolve(table, columns=(*table.columns, "cost"), rows=rows)


def cost_words(rows: Iterable[Row]) -> str:
    """``1.25 USD (n=10, 2 unknown)``: what the runs cost that tell it; a dash where none does."""
    told = [row.result.cost for row in rows if row.result]
    known = [Decimal(cost) for cost in told if cost is not None]
    unknown = f", {len(told) - len(known)} unknown" if len(known) < len(told) else ""
    return f"{sum(known):f} USD (n={len(known)}{unknown})" if known else NONE


def _against(base: Compared, most: int) -> Iterator[str]:
    yield from ("### Against the base", "")
    if not base.comparisons:
        yield from ("Nothing may be compared.", "")
    for comparison in base.comparisons[:most]:
        yield from _comparison(comparison, most)
    left = len(base.comparisons) - most
    if left > 0:
        yield from (f"…and {count(left, 'more comparison')}: see the whole report.", "")
    for arm in base.alone[:most]:
        yield from (f"No counterpart: {escaped(arm)}", "")


def _comparison(comparison: Comparison, most: int) -> Iterator[str]:
    found = comparison.found
    differing, shared = map(escaped, found.contrast.words())
    yield f"**{differing}** ({shared})"
    yield ""
    verdict, before, after = comparison.verdict, found.before.rate, found.after.rate
    yield f"**{verdict.word}**: {before} → {after} ({verdict.intervals}; {verdict.pairs})."
    yield ""
    flips = tuple((flip.task, str(flip.before), str(flip.after)) for flip in comparison.flips)
    shift = tuple((shift.label, str(shift.before), str(shift.after)) for shift in comparison.shift)
    if not flips:
        yield from ("No task turned.", "")
    for name, rows in (("turned", flips), ("label", shift)):
        if rows:
            yield from _cut(Table(title="", note="", columns=(name, "before", "after"), rows=rows), most)
    if found.aside:
        yield from (f"Set aside: {count(len(found.aside), 'task')}; `nanobench compare` says why.", "")
