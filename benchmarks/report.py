"""Reports: how long each form of ten thousand made-up cells takes, from the bundle on disk to the last byte."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

from benchmarks.measure import Place, Row
from benchmarks.synthetic import Plan, synthetic
from nanobench.bundle.read import open_bundle
from nanobench.report.data import to_csv, to_json
from nanobench.report.figures import parts_of
from nanobench.report.markdown import markdown
from nanobench.report.rows import gather
from nanobench.report.site import Site

MODELS = tuple(f"model-{number:02d}" for number in range(20))


def rows(place: Place) -> Iterator[Row]:
    """A row a form, of 500 tasks × 20 models, each made once."""
    del place
    yield from of(tasks=500)


def of(*, tasks: int) -> Iterator[Row]:
    """The rows for so many tasks × 20 models."""
    cells = tasks * len(MODELS)
    with tempfile.TemporaryDirectory() as folder:
        bundle = open_bundle(synthetic(Path(folder) / "bundle", Plan(tasks=tasks, models=MODELS)))
        found = gather([bundle])
        site = Site([bundle], found, None)
        forms: dict[str, Callable[[], object]] = {
            "read and checked": lambda: gather([bundle]),
            "Markdown": lambda: markdown(parts_of(found)),
            "CSV": lambda: to_csv(found),
            "JSON": lambda: to_json(found),
            "pages": lambda: site.write_folder(Path(folder) / "pages"),
        }
        for name, make in forms.items():
            start = perf_counter()
            make()
            yield Row(name=f"report of {cells} cells: {name}", unit="s", value=perf_counter() - start)
