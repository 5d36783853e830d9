"""Facts that several rooms' tests start from: one valid lock, one valid cell result."""

from __future__ import annotations

import pytest

from nanobench.model.environment import Limits
from nanobench.model.fields import Digest
from nanobench.model.lock import (
    GateVerdict,
    LockedImage,
    LockedSource,
    LockedTests,
    Reference,
    TaskLock,
)
from nanobench.model.result import Attempt, Blobs, Cause, Cell, CellResult, Score, Usage
from nanobench.project.stale import REVISION_GATES

ZERO = "0" * 64


@pytest.fixture
def task_lock() -> TaskLock:
    """A task lock in which every gate passed."""
    return TaskLock(
        version=1,
        revision=1,
        recipe=1,
        task="x",
        spec_sha256=ZERO,
        environment=Reference(name="env", sha256=ZERO),
        harness=Reference(name="nanocoder-1.30.0", sha256=ZERO),
        source=LockedSource(
            commit="a" * 40,
            tree="b" * 40,
            golden_patch_sha256=ZERO,
            test_patch_sha256=ZERO,
            statement_sha256=ZERO,
            required_files=("src/a.py",),
            test_files=("tests/test_a.py",),
        ),
        image=LockedImage(
            platform="linux/amd64",
            manifest_digest=Digest("sha256:" + ZERO),
            config_digest=Digest("sha256:" + ZERO),
            source_date_epoch=0,
            diff_ids=(Digest("sha256:" + ZERO),),
        ),
        limits=Limits(),
        env={},
        tests=LockedTests(fail_to_pass=("py|t::a",), pass_to_pass=("py|t::b",)),
        gate=tuple(GateVerdict(name=n, verdict="pass", evidence_sha256=ZERO) for n in REVISION_GATES[1]),
        original={"id": "x"},
    )


@pytest.fixture
def cell_result() -> CellResult:
    """A resolved cell of the task ``x``."""
    return CellResult(
        schema=1,
        cell=Cell(task="x", provider="p", model="m/1:b", mode="hinted", repeat=0),
        lock_sha256=ZERO,
        image_manifest=Digest("sha256:" + ZERO),
        harness_sha256=ZERO,
        nanocoder="1.30.0",
        engine="bubblewrap",
        cause=Cause.FINISHED,
        attempts=(Attempt(number=1, cause=Cause.FINISHED),),
        usage=Usage(steps=1, tool_calls=0),
        temperature_pinned=True,
        blobs=Blobs(patch=ZERO, transcript=ZERO, stderr=ZERO),
        score=Score(value="1.0", label="Complete Resolution", resolved=True, targets_passed=1, targets=1),
    )
