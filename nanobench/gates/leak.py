"""leak: nothing of the solution is where the agent could read it: not in the image, not in its own closure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from attrs import frozen

from nanobench.formats.converter import unstructure
from nanobench.gates.interface import WARNINGS, Case, Finding
from nanobench.image.task import BuiltTask
from nanobench.leaks.copies import Project, npm_project, purl_project, pypi_project
from nanobench.leaks.found import Found
from nanobench.leaks.repository import Repository, new_to
from nanobench.leaks.scan import Scanned, Scanner
from nanobench.leaks.search import Search
from nanobench.leaks.wanted import Wanted, wanted_of
from nanobench.model.fields import Document
from nanobench.model.lock import HarnessLock
from nanobench.model.task import ArchiveSource, Task
from nanobench.model.upstream import LockedUpstream
from nanobench.sources.change import Change
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
_OTHER = "an object that is not the base's: make the repository of the base tree alone"
_UNREAD = "it is packed beyond all bounds, or in a way that is not opened: keep it out of the image"
_MOST_PACKAGE_JSON = 1 << 20


class LeakGate:
    """Scans every layer, the agent's closure, the repository and the statement."""

    name = "leak"

    def check(self, case: Case) -> Finding:
        """Look for all that only the solution has; the evidence names every place."""
        sought = sought_of(case.task, case.image, case.change)
        repository, search = sought.repository, sought.scanner.search
        scans = _scan(case, sought.scanner)
        strays = repository.strays(case.image.repository.tree)
        found = {role: scan.found for role, scan in scans.items()} | {"repository": strays}
        unread = [f"{role}: {what}" for role, scan in scans.items() for what in scan.unread]
        evidence: Document = {
            "wanted": _summary(search.wanted),
            "files": {role: scan.files for role, scan in scans.items()},
            "objects": len(repository.objects),
            "found": {role: [unstructure(one) for one in several] for role, several in found.items()},
            "unread": unread,
            WARNINGS: list(_told(case, search)),
        }
        seen = {role: several for role, several in found.items() if several}
        return _judged(evidence, seen, unread, _agents_remedy(case))


@frozen(kw_only=True)
class Sought:
    """A task's solution, ready to be looked for, and the repository that was asked what is new in it."""

    repository: Repository
    scanner: Scanner


def sought_of(task: Task, image: BuiltTask, change: Change) -> Sought:
    """Everything that only the solution has.

    Raises:
        Refused, CannotTell: as :class:`nanobench.leaks.repository.Repository` says.
    """
    repository = Repository.read(image.workspace / ".git")
    search = Search(new_to(repository, wanted_of(change, task.paths)))
    return Sought(repository=repository, scanner=Scanner(search=search, projects=projects_of(task, image, change)))


def projects_of(task: Task, image: BuiltTask, change: Change) -> tuple[Project, ...]:
    """What registries call the project: by its own metadata at base, and by the task's source."""
    found = _npm_projects(image, {*change.source_files, *task.required_files})
    if "name" in image.notes:
        found.add(pypi_project(image.notes["name"], image.notes["version"]))
    if isinstance(task.source, ArchiveSource):
        found.add(purl_project(task.source.base.purl))
    return tuple(sorted(found, key=lambda p: (p.ecosystem, p.name, p.version)))


def _npm_projects(image: BuiltTask, files: set[str]) -> set[Project]:
    """Of every ``package.json`` at or above a file that the solution changes."""
    folders = {folder for file in files for folder in PurePosixPath(file).parents}
    found: set[Project] = set()
    for folder in folders:
        try:
            data = read_below(image.workspace, str(folder / "package.json"), limit=_MOST_PACKAGE_JSON)
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


def _judged(evidence: Document, found: dict[str, tuple[Found, ...]], unread: list[str], of_agent: str) -> Finding:
    reasons = [f"{role}: {said(one)}" for role, several in found.items() for one in several]
    remedies = [
        of_agent if role == "agent" else _REMEDIES.get(one.by, _OTHER)
        for role, several in found.items()
        for one in several
    ]
    if unread and not found:
        return Finding(verdict="unknown", evidence=evidence, reasons=tuple(unread), remedy=_UNREAD)
    remedy = "; ".join(dict.fromkeys(remedies))
    return Finding(verdict="fail" if found else "pass", evidence=evidence, reasons=tuple(reasons), remedy=remedy)


def said(one: Found) -> str:
    """The place and what it has, in words."""
    more = f" and {one.count - 1} more" if one.count > 1 else ""
    return f"{one.place}: {one.by}: {one.what}{more}"


def older_closure(harness: HarnessLock, merged_at: str | None) -> str:
    """The command that locks the same Nanocoder with packages from before the solution was published."""
    return f"nanobench lock --nanocoder {harness.nanocoder} --before {(merged_at or 'DATE')[:10]}"


def _agents_remedy(case: Case) -> str:
    merged_at = case.pins.merged_at if isinstance(case.pins, LockedUpstream) else case.task.curation.merged_at
    command = older_closure(case.harness, merged_at)
    return f"the agent's closure has it: lock one with older packages and name it as the task's harness ({command})"
