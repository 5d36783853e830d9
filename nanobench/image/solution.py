"""The solution as patches, derived from the two pinned trees by the image's git; nothing of it is ever stored in
a project."""

from __future__ import annotations

from attrs import evolve

from nanobench.errors import Refused
from nanobench.formats.digest import document_sha256, sha256_hex
from nanobench.image.task import BuiltTask
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Digest
from nanobench.model.fixture import AnswerAssertion
from nanobench.model.lock import RECIPE, TaskLock
from nanobench.model.task import Task
from nanobench.sources.change import Change, split
from nanobench.sources.difference import derive
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.interface import Source
from nanobench.sources.kinds import Kind
from nanobench.sources.vendored import Vendored
from nanobench.sources.vendored_files import ANSWER


def solution_of(task: Task, source: Source, image: BuiltTask, *, bench: Workbench) -> Change:
    """Golden and test patch of a task, and its answer; the source's files are in the store."""
    recipe = document_sha256(
        {
            "patch": source.identity(),
            "commit": image.repository.commit,
            "git": image.image.layers[0].diff_id,
            "recipe": RECIPE,
        }
    )
    known = bench.store.recall(recipe)
    if known is not None and bench.store.has(Digest(known["patch"])):
        patch = bench.store.read(Digest(known["patch"]))
    else:
        patch = _derive(source, image, bench)
        bench.store.remember(recipe, {"patch": bench.store.put(patch)})
    where = f"tasks/{task.id}/task.toml"
    if not isinstance(source, Vendored):
        return split(patch, task.paths, where=where)
    # A fixture may be a question, which changes nothing, or consist of files that no rule calls source.
    needed: tuple[Kind, ...] = () if task.required_files else ("source",)
    change = split(patch, task.paths, where=where, needed=needed)
    answer = source.answer(bench.store.blob)
    if (answer is None) is any(isinstance(assertion, AnswerAssertion) for assertion in task.assertion):
        raise Refused("NB_VENDORED", f"{ANSWER} and an assertion of type answer go together", where=where)
    return evolve(change, answer=answer)


def locked_solution(lock: TaskLock, task: Task, source: Source, image: BuiltTask, *, bench: Workbench) -> Change:
    """The same, and the patches and the files that matter must be the locked ones.

    Raises:
        Refused: ``NB_PATCH_DIFFERS``.
    """
    change = solution_of(task, source, image, bench=bench)
    pairs = {
        "source.golden_patch_sha256": (lock.source.golden_patch_sha256, sha256_hex(change.golden)),
        "source.test_patch_sha256": (lock.source.test_patch_sha256, sha256_hex(change.test)),
        "source.required_files": (lock.source.required_files, task.required_files or change.source_files),
        "source.test_files": (lock.source.test_files, change.test_files),
    }
    differing = tuple(f"{key}: derived {new}, locked {old}" for key, (old, new) in pairs.items() if old != new)
    if differing:
        raise Refused(
            "NB_PATCH_DIFFERS",
            "what was derived from the pinned sources is not what is locked",
            where=f"locks/{lock.task}.lock.toml",
            details=differing,
            hint="lock the task again",
        )
    return change


def _derive(source: Source, image: BuiltTask, bench: Workbench) -> bytes:
    with bench.store.scratch("solution") as scratch:
        (scratch / "source").mkdir()
        trees = source.stage(bench.store.blob, scratch / "source")
        gitbox = Gitbox(engine=bench.engine, layers=image.trees, scratch=scratch)
        return derive(gitbox, repository=image.workspace, solution=trees.solution)
