"""One lock, two engines: what became of every test, and so the score, is the same, and each can check the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.bundle.read import Bundle, open_bundle
from nanobench.model.result import CellResult
from nanobench.project.files import Project

SAME = ("cell", "lock_sha256", "image_manifest", "harness_sha256", "cause", "usage", "score")


@pytest.mark.parametrize(("provider", "value"), [("oracle", "1.0"), ("nop", "0.0")])
def test_a_run_in_docker_comes_to_the_same_as_one_in_bubblewrap(
    provider: str,
    value: str,
    request: pytest.FixtureRequest,
    nanobench: Callable[..., Any],
    docker_socket: Path,
    demo: str,
    repository: Project,
    tmp_path: Path,
) -> None:
    asked = ("run", "--frozen", demo, "--engine", "docker", "--provider", provider, "--project", repository.root)
    done = nanobench(*asked, "--out", tmp_path / "run", env={"DOCKER_HOST": f"unix://{docker_socket}"})
    assert done.code == 0, done.err
    here, there = open_bundle(tmp_path / "run"), open_bundle(request.getfixturevalue(f"{provider}_bundle"))
    (cell,) = here.run.cells
    found, known = here.result(cell), there.result(cell)
    assert [found.engine, known.engine] == ["docker", "bubblewrap"]
    assert facts(here, found) == facts(there, known)
    assert found.score is not None and found.score.value == value
    # The daemon's kernel keeps what bubblewrap without root can only watch.
    assert set(known.weak_limits) - set(found.weak_limits) >= {"cpus", "memory"}
    assert found.weak_limits == ("disk",)
    verified = nanobench(
        "verify", tmp_path / "run", "--offline", "--engine", "bubblewrap", "--project", repository.root
    )
    assert verified.code == 0, verified.out


def facts(bundle: Bundle, result: CellResult) -> dict[str, Any]:
    """What must not depend on the engine: the result but for times, the patch, and every test's outcome."""
    blobs = result.blobs
    assert blobs.outcomes is not None
    return {name: getattr(result, name) for name in SAME} | {
        "patch": blobs.patch,
        "outcomes": bundle.blob(blobs.outcomes),
    }
