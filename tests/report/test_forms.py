"""What strangers wrote means nothing but itself in Markdown, CSV, on a terminal and in a comment."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nanobench.bundle.read import Bundle
from nanobench.errors import Misuse
from nanobench.formats.printable import printable
from nanobench.report.comment import LIMIT, MARKER, against, comment
from nanobench.report.data import COLUMNS, to_csv, to_json
from nanobench.report.figures import parts_of
from nanobench.report.markdown import escaped, markdown
from nanobench.report.rows import gather
from nanobench.report.terminal import terminal
from nanobench.report.words import amount, interval_words, rate_words
from nanobench.scoring.statistics.quantities import Rate

Made = Callable[..., Bundle]
LINK = "https://example.org/report"
EVIL = ('=HYPERLINK("http://evil.invalid")', "@import", "-1+1", "＝1+1", "| a | b |\n<script>", "a\x1b[2J\x9b\x00‮b")
"""Domains that a stranger may give his tasks."""


@given(st.text(alphabet=st.sampled_from("ab_*`[]()<>|~#&!@:/.$\\ \n-1w"), max_size=40))
def test_escaped_text_is_the_text_in_markdown(text: str) -> None:
    spoken = MarkdownIt("gfm-like", {"linkify": False}).enable(["strikethrough"]).parseInline(f"x{escaped(text)}x")
    children = [child for token in spoken for child in token.children or () if child.content != "<!-- -->"]
    assert {child.type for child in children} <= {"text", "text_special"}
    said = "".join(child.content for child in children)
    assert said == f"x{printable(text)}x".replace("\n", " ")


@pytest.mark.parametrize(
    "text", ["www.evil.invalid", "http://evil.invalid", ":tada:", "$x$", "[a](b)", "![a](https://evil.invalid/a.png)"]
)
def test_what_a_host_would_link_or_draw_is_broken_up(text: str) -> None:
    assert "\\" in escaped(text)


@pytest.mark.parametrize("text", ["@somebody", "cc @org/team", "#12", "org/repo#12", "GH-12", "gh-12"])
def test_nobody_is_mentioned_once_the_markdown_is_rendered(text: str) -> None:
    """GitHub looks for names and issues in the rendered text: a backslash before them does not help."""
    rendered = MarkdownIt("gfm-like", {"linkify": False}).renderInline(escaped(text))
    assert not re.search(r"@\w|#\d|gh-\d", rendered, re.IGNORECASE), rendered
    assert rendered.replace("<!-- -->", "") == text


def test_the_lines_of_a_markdown_table_have_as_many_cells_as_its_head(made: Made) -> None:
    text = markdown(parts_of(gather([made(tasks=5, domains=EVIL)])))
    assert "\x1b" not in text and "‮" not in text and "<script>" not in text.replace("\\<script>", "")
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    for table in tables:
        assert len({line.replace("\\|", "").count("|") for line in table.splitlines()}) == 1
    assert len(tables) > 10


def test_a_csv_value_never_begins_a_formula_and_every_planned_cell_has_a_line(made: Made) -> None:
    rows = gather([made(tasks=6, domains=EVIL, missing=(2,))])
    head, *lines = csv.reader(io.StringIO(to_csv(rows)))
    assert head == [column.name for column in COLUMNS] and len(lines) == len(rows) == 12
    assert not [value for line in lines for value in line if value[:1] in ("=", "+", "-", "@", "\t", "\r", "|")]
    said = {"'" + d if d[0] in "=@-＝|" else printable(d) for d in EVIL}
    assert {line[head.index("domain")] for line in lines} == said
    assert [line[head.index("class")] for line in lines].count("missing") == 1


def test_json_holds_no_float_and_the_classes_add_up(made: Made) -> None:
    def refuse(text: str) -> Any:
        raise AssertionError(text)

    document = json.loads(to_json(gather([made(tasks=3, repeats=3)])), parse_float=refuse)
    (part,) = document["parts"]
    assert sum(part["whole"]["classes"].values()) == part["whole"]["planned"] == len(document["cells"]) == 18
    assert set(document["cells"][0]) == set(document["columns"])


@pytest.mark.parametrize("form", [to_csv, lambda rows: to_json(rows).decode()])
def test_data_that_is_shown_on_a_terminal_steers_it_no_more_than_the_figures_do(made: Made, form: Any) -> None:
    text = form(gather([made(tasks=6, domains=EVIL)]))
    assert not [character for character in text if not character.isprintable() and character not in "\r\n"]


def test_a_terminal_gets_no_control_character_of_a_stranger(made: Made) -> None:
    rows = gather([made(tasks=6, domains=EVIL)])
    for colour in (False, True):
        said = terminal(parts_of(rows), width=80, colour=colour)
        assert "\x1b[2J" not in said and "‮" not in said
    assert "\x1b" not in terminal(parts_of(rows), width=80)


@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_no_figure_is_lost_on_a_narrow_terminal_however_many_arms_there_are(made: Made, width: int) -> None:
    parts = parts_of(gather([made(tasks=2, models=tuple(f"model-{number:02}" for number in range(20)))]))
    digits = [sum(map(str.isdigit, terminal(parts, width=columns))) for columns in (width, 1000)]
    assert digits[0] >= digits[1] and max(map(len, terminal(parts, width=width).splitlines())) <= width


def test_a_comment_begins_with_its_marker_and_ends_with_the_link(made: Made) -> None:
    rows, base = gather([made(tasks=7)]), gather([made(tasks=7, seed=9)])
    text = comment(parts_of(rows), link=LINK, base=against(base, rows))
    assert text.startswith(MARKER + "\n") and text.endswith(f"({LINK})\n") and text.count(MARKER) == 1
    for expected in ("Against the base", "Why runs failed", "USD (n=", "not distinguishable from noise"):
        assert expected in text


def test_a_comment_that_would_be_too_long_is_cut_with_words(made: Made) -> None:
    models = tuple(f"{'a-very-long-name-of-a-model' * 4}-{number}" for number in range(200))
    rows = gather([made(tasks=1, models=models)])
    text = comment(parts_of(rows), link=LINK)
    assert len(text.encode()) <= LIMIT and "more rows: see the whole report" in text and text.endswith(f"({LINK})\n")


@pytest.mark.parametrize("link", ["", "javascript:alert(1)", "https://a b", "https://a)](https://evil.invalid"])
def test_a_link_that_would_be_something_else_in_markdown_is_refused(link: str) -> None:
    with pytest.raises(Misuse, match="no link"):
        comment([], link=link)


def test_no_share_stands_without_its_count_and_interval() -> None:
    assert rate_words(Rate(3, 5)) == "3/5 = 60.0 % [23.1, 88.2]" and rate_words(Rate(0, 0)) == "–"
    assert interval_words(Rate(3, 5)) == "23–89 %" and interval_words(Rate(5, 5)) == "56–100 %"


def test_amounts_are_said_as_people_read_them() -> None:
    said = {"0": "0", "0.04": "0.0400", "1.25": "1.3", "12": "12", "99.96": "100.0", "1234.5": "1,235"}
    assert {text: amount(Decimal(text)) for text in said} == said
