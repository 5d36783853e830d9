"""A copy of a real bundle in the hands of somebody who can compute digests."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen

from nanobench.audit.steps import Step
from nanobench.audit.verify import Audit, verify
from nanobench.bundle.read import open_bundle
from nanobench.bundle.write import blob_name, cell_name
from nanobench.errors import MachineFailure
from nanobench.formats.digest import sha256_hex
from nanobench.formats.documents import dump_json
from nanobench.image.workbench import Workbench
from nanobench.model.result import BundleManifest, CellResult, RunManifest
from nanobench.project.files import Project
from nanobench.store.store import Store


@frozen
class Forger:
    """Changes a bundle and puts its index in order again."""

    root: Path

    def results(self) -> list[CellResult]:
        bundle = open_bundle(self.root)
        return [bundle.result(cell) for cell in bundle.run.cells]

    def blob(self, digest: str) -> bytes:
        return (self.root / blob_name(digest)).read_bytes()

    def put(self, data: bytes) -> str:
        """Another blob; its digest."""
        digest = sha256_hex(data)
        (self.root / blob_name(digest)).write_bytes(data)
        return digest

    def replace(self, result: CellResult) -> None:
        (self.root / cell_name(result.cell.id)).write_bytes(dump_json(result))

    def rename(self, result: CellResult, other: CellResult) -> None:
        """Another cell's result in the place of one."""
        (self.root / cell_name(result.cell.id)).unlink()
        self.replace(other)

    def each(self, change: Callable[[CellResult], CellResult]) -> None:
        """Change every result."""
        for result in self.results():
            self.replace(change(result))
        self.seal()

    def blobs(self, change: Callable[[CellResult], dict[str, str]]) -> None:
        """Change the blobs of every result."""
        self.each(lambda result: evolve(result, blobs=evolve(result.blobs, **change(result))))

    def run(self, change: Callable[[RunManifest], RunManifest]) -> None:
        (self.root / "run.json").write_bytes(dump_json(change(open_bundle(self.root).run)))
        self.seal()

    def seal(self) -> None:
        """Make the manifest fit the files."""
        names = (p.relative_to(self.root).as_posix() for p in self.root.rglob("*") if p.is_file())
        files = {name: sha256_hex((self.root / name).read_bytes()) for name in names if name != "manifest.json"}
        manifest = BundleManifest(schema=1, files=dict(sorted(files.items())))
        (self.root / "manifest.json").write_bytes(dump_json(manifest))


@pytest.fixture
def forge(tmp_path: Path) -> Callable[[Path], Forger]:
    """A copy of a bundle."""

    def copy(bundle: Path) -> Forger:
        return Forger(Path(shutil.copytree(bundle, tmp_path / "bundle")))

    return copy


class Nowhere:
    """An engine for a machine on which no sandbox starts."""

    name = "nowhere"

    def run(self, request: object) -> Any:
        raise MachineFailure("NB_ENGINE", "the sandbox did not start")

    def own(self, path: Path) -> None:
        """Nothing belongs to anybody here."""


@pytest.fixture
def look(bench: Workbench, repository: Project, tmp_path: Path) -> Callable[..., dict[str, Step]]:
    """Verify where no sandbox starts and, unless the warm store is asked for, nothing is stored either."""

    def ask(root: Path, *, project: Project | None = repository, warm: bool = False) -> dict[str, Step]:
        engine: Any = Nowhere()
        store = bench.store if warm else Store(tmp_path / "empty-store")
        audit = Audit(project=project, bench=evolve(bench, engine=engine, store=store), online=None)
        return {step.name: step for step in verify(root, audit)}

    return ask


@pytest.fixture
def retest(bench: Workbench, repository: Project) -> Callable[[Path], dict[str, Step]]:
    """Verify all of it."""

    def ask(root: Path) -> dict[str, Step]:
        return {step.name: step for step in verify(root, Audit(project=repository, bench=bench, online=None))}

    return ask
