"""leak: nothing of the solution is where the agent could read it: not in the image, not in its own closure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from nanobench.formats.converter import unstructure
from nanobench.gates.interface import WARNINGS, Case, Finding
from nanobench.leaks.copies import Project, npm_project, purl_project, pypi_project
from nanobench.leaks.found import Found
from nanobench.leaks.repository import Repository, new_to
from nanobench.leaks.scan import Scanned, Scanner
from nanobench.leaks.search import Search
from nanobench.leaks.wanted import Wanted, wanted_of
from nanobench.model.fields import Document
from nanobench.model.task import ArchiveSource
from nanobench.store.plain_file import read_below

_REMEDIES = {
    "lines": "keep that file out of the image: another version of its package, or another base",
    "names": "that compiled file is of the solution: another version of its package",
    "file": "that file is the solution's: keep it out of the image",
    "answer": "take the answer out of that file",
    "version": "pin the project's published copies to the base version or older in the environment",
    "reference": "the repository must know nothing beyond the base: make it of the base tree alone",
    "alternates": "the repository must hold its objects itself",
}
_AGENT = (
    "the agent's closure has it: name an older Nanocoder as the task's harness, locked as of a day before the "
    "release with the solution (nanobench lock --nanocoder VERSION --before DATE)"
)
_OTHER = "an object that is not the base's: make the repository of the base tree alone"
_UNREAD = "it is packed beyond all bounds: keep it out of the image"
_MOST_PACKAGE_JSON = 1 << 20


class LeakGate:
    """Scans every layer, the agent's closure, the repository and the statement."""

    name = "leak"

    def check(self, case: Case) -> Finding:
        """Look for all that only the solution has; the evidence names every place."""
        repository = Repository.read(case.image.workspace / ".git")
        wanted = new_to(repository, wanted_of(case.change, case.task.paths))
        search = Search(wanted)
        scans = _scan(case, Scanner(search=search, projects=projects_of(case)))
        strays = repository.strays(case.image.repository.tree)
        found = {role: scan.found for role, scan in scans.items()} | {"repository": strays}
        unread = [f"{role}: {what}" for role, scan in scans.items() for what in scan.unread]
        evidence: Document = {
            "wanted": _summary(wanted),
            "files": {role: scan.files for role, scan in scans.items()},
            "objects": len(repository.objects),
            "found": {role: [unstructure(one) for one in several] for role, several in found.items()},
            "unread": unread,
            WARNINGS: list(_told(case, search)),
        }
        return _judged(evidence, {role: several for role, several in found.items() if several}, unread)


def projects_of(case: Case) -> tuple[Project, ...]:
    """What registries call the project: by its own metadata at base, and by the task's source."""
    found = _npm_projects(case)
    if "name" in case.image.notes:
        found.add(pypi_project(case.image.notes["name"], case.image.notes["version"]))
    if isinstance(case.task.source, ArchiveSource):
        found.add(purl_project(case.task.source.base.purl))
    return tuple(sorted(found, key=lambda p: (p.ecosystem, p.name, p.version)))


def _npm_projects(case: Case) -> set[Project]:
    """Of every ``package.json`` at or above a file that the solution changes."""
    files = {*case.change.source_files, *case.required_files}
    folders = {folder for file in files for folder in PurePosixPath(file).parents}
    found: set[Project] = set()
    for folder in folders:
        try:
            data = read_below(case.image.workspace, str(folder / "package.json"), limit=_MOST_PACKAGE_JSON)
        except OSError:
            continue
        if project := npm_project(data):
            found.add(project)
    return found


def _scan(case: Case, scanner: Scanner) -> dict[str, Scanned]:
    """By the layer's role; the closure is mounted beside them while the agent works."""
    store, layers = case.bench.store, case.image.image.layers
    scans = {}
    for layer, tree in zip(layers, case.image.trees, strict=True):
        case.bench.say(f"looking for the solution in layer {layer.role}")
        scans[layer.role] = scanner.layer(layer.diff_id, tree, store=store)
    case.bench.say("looking for the solution in the agent's closure")
    scans["agent"] = scanner.layer(case.harness.closure, case.closure, store=store)
    return scans


def _told(case: Case, search: Search) -> Iterator[str]:
    """What of the solution the statement quotes: whether that is meant, a person decides."""
    where = f"tasks/{case.task.id}/statement.md"
    for run in sorted(search.runs(case.statement)):
        yield f"{where}: quotes the {search.wanted.runs[run]}"
    if search.answers(where, case.statement):
        yield f"{where}: gives the answer"


def _summary(wanted: Wanted) -> Document:
    counts = {"lines": len(wanted.runs), "names": len(wanted.words), "files": len(wanted.files)}
    return {**counts, "sha256": wanted.identity(), "too_short": list(wanted.short)}


def _judged(evidence: Document, found: dict[str, tuple[Found, ...]], unread: list[str]) -> Finding:
    reasons = [f"{role}: {_said(one)}" for role, several in found.items() for one in several]
    remedies = [_remedy(role, one) for role, several in found.items() for one in several]
    if unread and not found:
        return Finding(verdict="unknown", evidence=evidence, reasons=tuple(unread), remedy=_UNREAD)
    remedy = "; ".join(dict.fromkeys(remedies))
    return Finding(verdict="fail" if found else "pass", evidence=evidence, reasons=tuple(reasons), remedy=remedy)


def _said(one: Found) -> str:
    more = f" and {one.count - 1} more" if one.count > 1 else ""
    return f"{one.place}: {one.by}: {one.what}{more}"


def _remedy(role: str, one: Found) -> str:
    return _AGENT if role == "agent" else _REMEDIES.get(one.by, _OTHER)
