"""The HTML form: one file, or a folder with a page for every cell. It opens from disk and asks for nothing else.

What models, repositories and strangers wrote is data here: every value is made printable and escaped where it is put
into a template, and a strict policy forbids whatever script, style or address should slip through all the same.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from attrs import define, field
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from nanobench.bundle.read import Bundle
from nanobench.errors import Misuse
from nanobench.formats.printable import printable
from nanobench.model.lock import TaskLock
from nanobench.model.result import CellResult, Served
from nanobench.project.files import Project, write_whole
from nanobench.report.detail import Detail, detail
from nanobench.report.efficiency import MEASURES
from nanobench.report.figures import parts_of
from nanobench.report.rows import RUN_DIGITS, Row, run_sha256
from nanobench.report.tally import class_of
from nanobench.report.view import Href, part_view
from nanobench.report.words import AXES, amount, count, interval_words
from nanobench.scoring.statistics.power import FLOOR
from nanobench.store.files import remove_tree

MOST_IN_A_FILE = 1_000
"""Cells of a single file; a browser would choke on more."""


def _finalize(value: Any) -> Any:
    """Every value that is put into a template; markup of ours stays."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _environment() -> Environment:
    loader = PackageLoader("nanobench.report")
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, finalize=_finalize, trim_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    made.filters["interval"] = interval_words
    made.filters["seconds"] = lambda ms: f"{ms / 1000:.1f}"
    return made


def _policy(style: str, script: str) -> str:
    """The Content-Security-Policy that allows these bytes and nothing else."""
    scripts = f"'sha256-{_digest(script)}'" if script else "'none'"
    rest = "base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; style-src 'sha256-{_digest(style)}'; script-src {scripts}; {rest}"


@cache
def _asset(name: str) -> Markup:
    """A style sheet or script of ours."""
    return Markup((files("nanobench.report") / "templates" / name).read_text("utf-8"))  # noqa: S704


def _digest(text: str) -> str:
    return base64.b64encode(sha256(text.encode()).digest()).decode()


@define
class Site:
    """Renders the pages of some bundles.

    Args:
        rows: what :func:`nanobench.report.rows.gather` made of the bundles.
        project: where statements are, if there is one.
    """

    bundles: Sequence[Bundle]
    rows: Sequence[Row]
    project: Project | None
    _templates: Environment = field(factory=_environment, init=False)
    _manifests: dict[str, str] = field(init=False)
    """The sha256 of each run's, by the run's name."""

    def __attrs_post_init__(self) -> None:
        found = map(run_sha256, self.bundles)
        self._manifests = {digest[:RUN_DIGITS]: digest for digest in found}

    def write_folder(self, destination: Path) -> None:
        """Write ``index.html`` and ``cells/``, whole or not at all.

        Raises:
            Misuse: ``NB_EXISTS`` when the destination exists.
        """
        if os.path.lexists(destination):
            raise Misuse("NB_EXISTS", "already exists", where=str(destination), hint="choose another --html")
        building = destination.parent / f".{destination.name}.building"
        if building.exists():
            remove_tree(building)
        try:
            _put(building / "index.html", self._index(_page_of, ()))
            for row, found in self._details():
                up = "../" * (_page_of(row) or "").count("/")
                _put(building / str(_page_of(row)), self._page(found, back=f"{up}index.html"))
            building.rename(destination)
        except BaseException:
            if building.exists():
                remove_tree(building)
            raise

    def write_file(self, destination: Path) -> None:
        """Write one file that holds all, whole or not at all.

        Raises:
            Misuse: ``NB_EXISTS`` when the destination is a folder, ``NB_REPORT_LARGE`` for more cells than a browser
                takes at once.
        """
        if destination.is_dir():
            raise Misuse("NB_EXISTS", "is a folder", where=str(destination), hint="choose another --html")
        if len(self.rows) > MOST_IN_A_FILE:
            message = f"{len(self.rows)} cells; a single file holds at most {MOST_IN_A_FILE}"
            raise Misuse("NB_REPORT_LARGE", message, where=str(destination), hint="name a folder: --html report")
        articles = (self._article(found, back="#overview") for _, found in self._details())
        write_whole(destination, self._index(_anchor_of, tuple(articles)).encode())

    def _details(self) -> Iterator[tuple[Row, Detail]]:
        """What is shown of every cell that has a result, one in memory at a time."""
        runs = dict(zip(self._manifests, self.bundles, strict=True))
        locks: dict[tuple[str, str], TaskLock] = {}
        for row in self.rows:
            if row.result is not None:
                bundle, task = runs[row.run], (row.run, row.cell.task)
                if task not in locks:
                    locks[task] = bundle.task_lock(row.cell.task).value
                yield row, detail(row, bundle, locks[task], self.project)

    def _index(self, href: Href, articles: Sequence[Markup]) -> str:
        return self._rendered(
            "index.html.j2",
            script=_asset("report.js"),
            parts=[part_view(part, href) for part in parts_of(self.rows)],
            runs=[{"name": name, "sha256": digest} for name, digest in self._manifests.items()],
            floor=FLOOR,
            articles=articles,
        )

    def _page(self, found: Detail, *, back: str) -> str:
        article, title = self._article(found, back=back), f"{found.row.cell.task}: NanoBench report"
        return self._rendered("cell.html.j2", script=Markup(""), article=article, title=title)

    def _article(self, found: Detail, *, back: str) -> Markup:
        row = found.row
        return Markup(  # noqa: S704  rendered with escaping
            self._templates.get_template("article.html.j2").render(
                d=found,
                cell=row.cell,
                arm=" · ".join(filter(None, (getattr(row.arm, axis) for axis in AXES))),
                anchor=_anchor(row),
                back=back,
                klass=class_of(row),
                taken=[(m.title, amount(v)) for m in MEASURES if (v := m.told(found.result)) is not None],
                diff=list(_styled(found.patch.text)),
                pins=_pins(found.result),
                manifest=self._manifests[row.run],
            )
        )

    def _rendered(self, template: str, *, script: Markup, **values: Any) -> str:
        style = _asset("report.css")
        page = self._templates.get_template(template)
        return page.render(style=style, script=script, policy=_policy(style, script), **values)


def _page_of(row: Row) -> str | None:
    """Where a cell's page lies in the folder."""
    return f"cells/{row.run}/{row.cell.id}.html" if row.result else None


def _anchor_of(row: Row) -> str | None:
    return f"#{_anchor(row)}" if row.result else None


def _anchor(row: Row) -> str:
    return f"{row.run}/{row.cell.id}"


def _put(path: Path, text: str) -> None:
    """Write a page that everybody may read, whatever the umask."""
    for folder in reversed([parent for parent in path.parents if not parent.exists()]):
        folder.mkdir()
        folder.chmod(0o755)
    path.write_bytes(text.encode())
    path.chmod(0o644)


_STYLES = {"+": "add", "-": "del", "@": "hunk", "d": "head", "i": "head", "n": "head", "o": "head"}


def _styled(patch: str) -> Iterator[tuple[str, str]]:
    """Every line of a patch and how it looks."""
    for line in patch.removesuffix("\n").split("\n") if patch else ():
        style = "head" if line.startswith(("--- ", "+++ ")) else _STYLES.get(line[:1], "same")
        yield style, line


def _pins(result: CellResult) -> list[tuple[str, str]]:
    """By digest, what the cell was made from and what it left."""
    blobs = result.blobs
    return [
        ("task lock", f"sha256:{result.lock_sha256}"),
        ("image manifest", result.image_manifest),
        ("Nanocoder lock", f"{result.cell.harness} sha256:{result.harness_sha256}"),
        ("patch", f"sha256:{blobs.patch}"),
        ("transcript", f"sha256:{blobs.transcript}"),
        *((("outcomes", f"sha256:{blobs.outcomes}"),) if blobs.outcomes else ()),
        *((("agent's report", f"sha256:{blobs.report}"),) if blobs.report else ()),
        ("sampling", "pinned" if result.sampling_pinned else "not pinned: the run is not deterministic"),
        ("engine", result.engine),
        *(("answered by", _served(served)) for served in result.served or ()),
    ]


def _served(served: Served) -> str:
    who = " ".join(filter(None, (served.model, served.fingerprint))) or "nobody that said its name"
    return f"{who} ({count(served.steps, 'step')})"
