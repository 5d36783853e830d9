from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from attrs import evolve

from nanobench.audit.verify import Audit, verify
from nanobench.ecosystems.online import Online
from nanobench.image.workbench import Workbench
from nanobench.model.lock import TaskLock
from nanobench.project.files import Project
from nanobench.store.store import Store


@pytest.mark.parametrize("published", [True, False])
def test_servers_are_asked_for_published_locks_alone(
    oracle_bundle: Path, copied: Project, bench: Workbench, demo: str, tmp_path: Path, published: bool
) -> None:
    if not published:
        copied.lock_path(TaskLock, demo).unlink()
    asked: list[str] = []

    def nothing(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(404)

    empty = evolve(bench, store=Store(tmp_path / "store"))
    with Online(transport=httpx.MockTransport(nothing)) as online:
        steps = {s.name: s for s in verify(oracle_bundle, Audit(project=copied, bench=empty, online=online))}
    assert {name: steps[name].verdict for name in ("derive", "retest")} == {"derive": "unknown", "retest": "unknown"}
    assert bool(asked) is published
