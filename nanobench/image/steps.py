"""Steps: an environment's extra commands, run in a task's workspace after everything else is installed.

A step is sealed like every command: no network, the sandbox's user, a read-only image. Of what it leaves only its
named outputs count, and they are products: in the workspace, ignored by git, in no patch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from attrs import evolve, frozen
from packageurl import PackageURL

from nanobench.archives.entries import Entry, entries_of
from nanobench.archives.layer import write_layer
from nanobench.archives.reader import extract
from nanobench.archives.unpack import unpack_layer
from nanobench.ecosystems.installed import lost, snapshot, stamped
from nanobench.ecosystems.workshop import Workshop
from nanobench.errors import Refused
from nanobench.model.environment import Environment, Step
from nanobench.model.lock import Package
from nanobench.sandbox.interface import MOUNTS, WORKSPACE, Mount
from nanobench.sources.clean import clean

INPUTS = f"{MOUNTS}/inputs"
_PREFIX = f"{WORKSPACE[1:]}/"


@frozen(kw_only=True)
class Products:
    """Entries of the task layer, and the paths below the workspace that git must ignore for them."""

    entries: tuple[Entry, ...] = ()
    ignored: tuple[str, ...] = ()


def run_steps(
    base: Path, installed: Sequence[Entry], spec: Environment, packages: Sequence[Package], *, shop: Workshop
) -> Products:
    """What the environment's steps make of a base tree and what is installed beside it; neither is changed.

    Args:
        base: a clean base tree.
        installed: entries of ``opt/venv`` and ``workspace``.
        packages: all locked packages; their files are in the store.

    Raises:
        Refused: ``NB_STEP`` when one fails or runs over its time, with the last lines of its output;
            ``NB_STEP_TRACKED`` when it changes a file of the project; ``NB_STEP_OUTPUT`` when an output is not there;
            ``NB_ARCHIVE_…`` for an input.
    """
    if not spec.step:
        return Products()
    tree, work = _lay_out(base, installed, shop)
    inner = evolve(shop, layers=(*shop.layers, tree), scratch=shop.directory("steps"))
    tracked = snapshot(base)
    for step in spec.step:
        _run(step, work, spec, packages, inner)
        clean(work, where=_where(step))
        changed = lost(tracked, snapshot(work))
        if changed:
            raise Refused(
                "NB_STEP_TRACKED",
                "the step changes or removes files of the project",
                where=_where(step),
                details=changed[:20],
                hint="a step may only add files",
            )
    return _products(work, tracked, spec.step, shop.epoch)


def _where(step: Step) -> str:
    return f"step {step.name}"


def _lay_out(base: Path, installed: Iterable[Entry], shop: Workshop) -> tuple[Path, Path]:
    """The uppermost layer as it is without steps, unpacked; and its workspace, to be written to, apart from it."""
    layer, tree, work = shop.directory("layer") / "layer.tar", shop.directory("tree"), shop.directory("work")
    with layer.open("wb") as out:
        write_layer([*entries_of(base, prefix=WORKSPACE[1:], epoch=shop.epoch), *installed], out, epoch=shop.epoch)
    unpack_layer(layer, tree)
    layer.unlink()
    (tree / WORKSPACE[1:]).rename(work)
    shop.engine.own(tree)
    shop.engine.own(work)
    return tree, work


def _run(step: Step, work: Path, spec: Environment, packages: Iterable[Package], shop: Workshop) -> None:
    shop.command(
        *step.command,
        phase=f"step:{step.name}",
        mounts=(Mount(source=work, target=WORKSPACE, writable=True), _inputs(step, packages, shop)),
        env=spec.env,
        cwd=WORKSPACE,
        seconds=step.seconds,
        refusal=partial(
            Refused,
            "NB_STEP",
            "the command failed",
            where=_where(step),
            hint="it runs without network, with the environment's programs, its inputs at /nanobench/inputs/NAME",
        ),
    )


def _inputs(step: Step, packages: Iterable[Package], shop: Workshop) -> Mount:
    """Every input, unpacked below its name."""
    place = shop.directory("inputs")
    pinned = {p.purl: p for p in packages if p.role == "step"}
    for purl in step.inputs:
        package, parsed = pinned[purl], PackageURL.from_string(purl)
        folder = place / (parsed.namespace or "") / parsed.name
        folder.parent.mkdir(exist_ok=True)
        strip = 0 if package.path.endswith(".whl") else 1
        extract(shop.store.blob(package.digest), folder, where=package.path, strip=strip)
    shop.engine.own(place)
    return Mount(source=place, target=INPUTS)


def _products(work: Path, tracked: dict[str, str], steps: Iterable[Step], epoch: int) -> Products:
    laid = [e for e in stamped(work, prefix=WORKSPACE[1:], epoch=epoch) if e.kind != "dir"]
    new = {e.path.removeprefix(_PREFIX): e for e in laid if e.path.removeprefix(_PREFIX) not in tracked}
    folders = {str(parent) for path in tracked for parent in PurePosixPath(path).parents}
    made: dict[str, Entry] = {}
    ignored: set[str] = set()
    for output, where in ((output, _where(step)) for step in steps for output in step.outputs):
        below = {path: entry for path, entry in new.items() if path == output or path.startswith(f"{output}/")}
        if not below:
            raise Refused("NB_STEP_OUTPUT", f"the step made no {output}", where=where)
        made |= below
        # A folder that the project has too is not ignored as a whole.
        ignored |= set(below) if output in folders else {output}
    return Products(entries=tuple(made.values()), ignored=tuple(sorted(ignored)))
