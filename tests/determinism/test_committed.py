"""What is committed is current, as CI and every user finds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nanobench.project.files import Project


def test_every_committed_lock_is_current(nanobench: Callable[..., Any], repository: Project) -> None:
    done = nanobench("lock", "--check", "--json", "--project", repository.root)
    assert done.code == 0, done.out
    assert set(repository.locked_ids()) <= done.document.keys()
