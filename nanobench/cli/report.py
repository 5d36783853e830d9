"""``nanobench report``: what bundles say, for people and for other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from nanobench.bundle.read import Bundle, open_bundle
from nanobench.cli import common
from nanobench.errors import Misuse
from nanobench.report.comment import against, comment
from nanobench.report.data import to_csv, to_json
from nanobench.report.figures import parts_of
from nanobench.report.markdown import markdown
from nanobench.report.rows import Row, gather
from nanobench.report.site import Site
from nanobench.report.terminal import terminal


class Format(StrEnum):
    """How the figures are written."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"


@common.verb
def report(
    bundles: Annotated[list[Path], typer.Argument(help="Folders that `run` wrote.")],
    form: Annotated[Format, typer.Option("--format", help="How figures are written on stdout.")] = Format.TERMINAL,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write pages: to a .html file that holds all, else to a folder.")
    ] = None,
    as_comment: Annotated[
        bool, typer.Option("--comment", help="Write Markdown for the one comment under a pull request.")
    ] = False,
    base: Annotated[
        Path | None, typer.Option("--base", metavar="BUNDLE", help="With --comment: what the run is compared with.")
    ] = None,
    link: Annotated[str, typer.Option("--link", metavar="URL", help="With --comment: where the report is.")] = "",
    project: common.ProjectPath = None,
) -> None:
    """Show what bundles say: scores with their intervals, why runs failed, what they took.

    The bytes of a bundle's files are held against its manifest; `nanobench verify` checks the rest.

    Examples:

        nanobench report runs/oracle

        nanobench report runs/old runs/new --format markdown > report.md

        nanobench report runs/oracle --html report

        nanobench report runs/new --comment --base runs/old --link https://example.org/report
    """
    if as_comment != bool(link) or (base and not as_comment):
        raise Misuse(
            "NB_USAGE",
            "--comment and --link go together, --base goes with them",
            hint="nanobench report BUNDLE --comment --link URL, or with --base BUNDLE too",
        )
    opened = [_opened(folder) for folder in bundles]
    rows = gather(opened)
    if html is not None:
        _write_pages(Site(opened, rows, common.project_if_any(project)), html)
    if as_comment:
        compared = against(gather([_opened(base)]), rows) if base else None
        common.put(comment(parts_of(rows), link=link, base=compared).encode())
    elif html is None:
        common.put(_written(rows, form))


def _opened(folder: Path) -> Bundle:
    return open_bundle(common.bundle(folder).absolute())


def _write_pages(site: Site, place: Path) -> None:
    if place.suffix == ".html":
        site.write_file(place)
        common.say(f"wrote {place}")
    else:
        site.write_folder(place.absolute())
        common.say(f"wrote {place}: open {place / 'index.html'}")


def _written(rows: tuple[Row, ...], form: Format) -> str | bytes:
    if form is Format.JSON:
        return to_json(rows)
    if form is Format.CSV:
        return to_csv(rows).encode()
    parts = parts_of(rows)
    if form is Format.MARKDOWN:
        return markdown(parts).encode()
    width, colour = common.screen()
    return terminal(parts, width=width, colour=colour)
