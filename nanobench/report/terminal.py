"""The figures on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO

from attrs import evolve
from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from nanobench.formats.printable import printable
from nanobench.report.figures import Part
from nanobench.report.tables import Table, grid, overview, title_of

MOST_ROWS = 200
"""So many rows of a table are shown; the other forms have all."""

_HEAD, _FIGURE = 10, 8
"""Columns of the terminal that a name and a figure need at least, with what is between them."""


def terminal(parts: Sequence[Part], *, width: int, colour: bool = False) -> str:
    """The overview of every part, and its matrix, for so many columns."""
    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
    )
    for part in parts:
        console.print(Group(*_part(part, width)))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _part(part: Part, width: int) -> Iterator[RenderableType]:
    yield Text(_clean(title_of(part)), style="bold")
    tables = (*overview(part), grid(part))
    for table in (table for table in tables if table.rows):
        yield Text(f"\n{_clean(table.title)}", style="bold")
        yield from map(_table, _pieces(table, width))
        left = len(table.rows) - MOST_ROWS
        for note in filter(None, (table.note, f"and {left} more rows; the other forms have all" if left > 0 else "")):
            yield Padding(Text(_clean(note), style="dim"), (0, 1))
    yield Text("")


def _pieces(table: Table, width: int) -> Iterator[Table]:
    """The table, or one below the other what of its figures has room side by side: squeezed columns lose them."""
    heads, room = table.heads, max(1, (width - _HEAD * table.heads) // _FIGURE)
    for first in range(heads, len(table.columns), room):
        kept = (*range(heads), *range(first, min(first + room, len(table.columns))))
        columns, *rows = (tuple(texts[at] for at in kept) for texts in (table.columns, *table.rows[:MOST_ROWS]))
        yield evolve(table, columns=columns, rows=tuple(rows))


def _table(table: Table) -> RichTable:
    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(table.columns):
        figure = number >= table.heads
        shown.add_column(Text(_clean(column)), justify="right" if figure else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(_clean(text)) for text in row))
    return shown


def _clean(text: str) -> str:
    return printable(text).replace("\n", " ")
