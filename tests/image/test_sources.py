"""What of the store a git task reaches, so that collecting garbage leaves it."""

from __future__ import annotations

from nanobench.image.keep import kept_by
from nanobench.image.realise import Locks
from nanobench.model.lock import EnvironmentLock, TaskLock
from nanobench.project.files import Project


def test_the_trees_of_a_change_are_kept_as_long_as_its_lock(repository: Project) -> None:
    task = repository.lock(TaskLock, "anyio-1153").value
    upstream = task.source.upstream
    assert upstream is not None
    locks = Locks(task=task, environment=repository.lock(EnvironmentLock, task.environment.name).value)
    kept = kept_by(locks)
    assert {upstream.base.archive, upstream.merge.archive} <= set(kept)


def test_the_workspace_of_a_locked_change_has_the_very_tree_of_its_base_commit(repository: Project) -> None:
    task = repository.lock(TaskLock, "anyio-1153").value
    assert task.source.upstream is not None
    assert task.source.tree == task.source.upstream.base.tree
