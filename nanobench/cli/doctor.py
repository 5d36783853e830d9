"""``nanobench doctor``: does this machine have what is needed, and what did killed runs leave behind?"""

from __future__ import annotations

import os
import shutil
from typing import Annotated

import typer
from attrs import asdict, frozen

from nanobench.cli import common
from nanobench.project.files import Project
from nanobench.runner.state import published_leftovers
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.diagnose import left_trials
from nanobench.sandbox.interface import Engine
from nanobench.store.files import remove_tree
from nanobench.store.store import Store

_NEEDED_MIB = 4096


@frozen(kw_only=True)
class Finding:
    """One thing looked at: fine or not, what was found, what to do."""

    name: str
    fine: bool
    found: str
    remedy: str = ""


@common.verb
def doctor(
    keep: Annotated[bool, typer.Option("--keep", help="Only name leftovers, remove nothing.")] = False,
    store: common.StorePath = None,
    project: common.ProjectPath = None,
    as_json: common.AsJson = False,
) -> None:
    """Look at engine, tools, store and space; remove what killed runs left behind.

    Exit 4 when something that is needed is missing.

    Examples:

        nanobench doctor
    """
    place = common.store(store)
    findings = (
        *_engines(place),
        *_tools(),
        _space(place),
        _leftovers(place, common.project_if_any(project), keep=keep),
    )
    lines = [f"{'ok  ' if f.fine else 'LACK'} {f.name}: {f.found}{_remedy(f)}" for f in findings]
    common.show({"findings": [asdict(f) for f in findings]}, "\n".join(lines), as_json=as_json)
    if not all(f.fine for f in findings):
        raise typer.Exit(4)


def _remedy(finding: Finding) -> str:
    return f"\n     → {finding.remedy}" if finding.remedy and not finding.fine else ""


def _engines(store: Store) -> tuple[Finding, ...]:
    """One that works is enough."""
    from nanobench.sandbox.docker import Docker  # its libraries are slow to load, for every verb

    engines: tuple[Engine, ...] = (Bubblewrap(), Docker(store))
    problems = {engine.name: engine.check() for engine in engines}
    enough = not all(problems.values())
    without = "not needed: " if enough else ""
    found = {name: without + "; ".join(lacks) if lacks else "a sandbox starts" for name, lacks in problems.items()}
    return tuple(Finding(name=name, fine=enough, found=words) for name, words in found.items())


def _tools() -> tuple[Finding, ...]:
    findings = []
    for tool, errand in (("cp", "copying workspaces"), ("apt-get", "resolving Debian packages (lock only)")):
        path = shutil.which(tool)
        missing = f"not found; needed for {errand}"
        findings.append(
            Finding(name=tool, fine=path is not None, found=path or missing, remedy=f"install the package of {tool}")
        )
    return tuple(findings)


def _space(store: Store) -> Finding:
    facts = os.statvfs(store.root)
    free = facts.f_bavail * facts.f_frsize >> 20
    return Finding(
        name="space",
        fine=free >= _NEEDED_MIB,
        found=f"{free} MiB free at {store.root} (a first lock needs about {_NEEDED_MIB})",
        remedy="nanobench store gc, or choose another place with --store or $NANOBENCH_STORE",
    )


def _leftovers(store: Store, project: Project | None, *, keep: bool) -> Finding:
    """What killed processes left in the store, in the project's locks and runs, in temporary files, at Docker."""
    ours = (*project.leftovers(), *published_leftovers(project.root / "runs")) if project else ()
    others = (*ours, *left_trials())
    left = (*(store.leftovers() if keep else store.sweep()), *others)
    if not keep:
        for path in others:
            remove_tree(path) if path.is_dir() else path.unlink(missing_ok=True)
    from nanobench.sandbox.docker import Docker

    docker = Docker(store)
    names = [path.name for path in left] + [*(docker.leftovers() if keep else docker.sweep())]
    verb = "are left behind" if keep else "removed"
    found = f"{len(names)} {verb}: {', '.join(names)}" if names else "none"
    return Finding(name="leftovers", fine=True, found=found)
