"""No cell starts with a Nanocoder that holds the task's solution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nanobench.model.lock import HarnessLock
from nanobench.project.files import Project


def test_a_harness_that_holds_the_solution_is_refused_before_any_cell_starts(
    nanobench: Any, copied: Project, leaky: HarnessLock, demo: str, tmp_path: Path
) -> None:
    copied.write_lock(leaky.name, leaky)
    others = ("--nanocoder", "1.30.0", "--nanocoder", "1.29.0-2026-11-02")
    place = tmp_path / "runs"
    done = nanobench(
        "run",
        demo,
        "--frozen",
        "--provider",
        "nop",
        *others,
        "--out",
        place / "x",
        "--project",
        copied.root,
        "--json",
    )
    error = done.document["error"]
    assert (done.code, error["code"]) == (1, "NB_LEAK")
    assert "/app/node_modules/leak/fix.patch" in error["details"][0]
    assert "nanobench lock --nanocoder 1.29.0 --before" in error["hint"]
    assert not place.exists()
