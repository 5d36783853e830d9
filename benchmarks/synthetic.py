"""A bundle of results that nobody ran: as many cells as wanted, the same bytes every time."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from attrs import field, frozen

from nanobench.bundle.write import write_bundle
from nanobench.formats import json
from nanobench.formats.converter import unstructure
from nanobench.formats.digest import document_sha256, sha256_hex
from nanobench.formats.documents import dump_json, dump_lock
from nanobench.gateway.exchange import Bytes, Chunk, Exchange
from nanobench.model.environment import Limits
from nanobench.model.fields import Digest
from nanobench.model.label import Labelled, Match
from nanobench.model.lock import (
    LOCK_REVISION,
    RECIPE,
    GateVerdict,
    LockedImage,
    LockedSource,
    LockedTests,
    Reference,
    TaskLock,
)
from nanobench.model.result import (
    Attempt,
    Blobs,
    Cause,
    Cell,
    CellResult,
    GradingRecord,
    Mode,
    Outcome,
    ProviderFacts,
    RunManifest,
    Score,
    SuiteEnd,
    Usage,
)
from nanobench.project.stale import REVISION_GATES
from nanobench.scoring.causes import policy
from nanobench.scoring.score import LABELS, Value

ZERO = "0" * 64
DOMAINS = ("patch parsing", "web framework", "numerics", "command line", "database")
LANGUAGES = (("python",), ("typescript",), ("python", "typescript"), ("go",))
REASONING = ("edge-cases", "interface-change", "state", "concurrency")
TARGETS = tuple(f"python|tests/test_a.py::test_{name}" for name in ("reads", "writes", "rejects", "round_trips"))
KEPT = tuple(f"python|tests/test_b.py::test_{number}" for number in range(30))
FAILURES: tuple[Labelled, ...] = (
    Labelled(label="hallucinated_api", rule=3, level="4", signals=("correct_file_wrong_function",)),
    Labelled(label="wrong_abstraction_layer", rule=4, level="4"),
    Labelled(
        label="partial_fix_only",
        rule=5,
        level="1+2",
        also_matched=(Match(label="missing_cross_language_change", rule=6, level="1"),),
    ),
    Labelled(label="zero_signal", rule=2, level="1", signals=("narrated_without_edit",)),
    Labelled(label="unclassified"),
)
PATCH = b"""diff --git a/src/a.py b/src/a.py
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,4 @@ def read(lines):
 def read(lines):
-    return list(lines)
+    found = [line.rstrip() for line in lines]
+    return found
 # end
"""


@frozen(kw_only=True)
class Plan:
    """What a made-up bundle holds."""

    tasks: int
    models: tuple[str, ...] = ("small", "large")
    harnesses: tuple[str, ...] = ("nanocoder-1.30.0",)
    modes: tuple[Mode, ...] = ("hinted",)
    repeats: int = 1
    seed: int = 1
    skill: dict[str, float] = field(factory=dict)
    """How often a model solves a task; half of the time where nothing is said."""
    said: str = "I look at `src/a.py` first."
    """What the model says."""
    domains: Sequence[str] = DOMAINS


def synthetic(place: Path, plan: Plan, *, missing: Iterable[int] = ()) -> Path:
    """Write the bundle to the folder ``place``; the planned cells of these numbers have no result."""
    locks = {name: dump_lock(_lock(name, number, plan)) for number, name in enumerate(_tasks(plan))}
    axes = product(_tasks(plan), plan.harnesses, plan.models, plan.modes, range(plan.repeats))
    cells = tuple(
        Cell(task=task, harness=harness, provider="made-up", model=model, mode=mode, repeat=repeat)
        for task, harness, model, mode, repeat in axes
    )
    blobs = _blobs(plan)
    left_out = set(missing)
    rng = random.Random(plan.seed)
    results = [_result(cell, plan, blobs, sha256_hex(locks[cell.task]), rng) for cell in cells]
    run = RunManifest(
        schema=1,
        nanobench="0",
        provider=ProviderFacts(name="made-up", kind="scripted", models=plan.models),
        locks={name: sha256_hex(lock) for name, lock in locks.items()},
        harnesses=dict.fromkeys(plan.harnesses, ZERO),
        cells=cells,
    )
    files: dict[str, Path] = {}
    for data in blobs.values():
        file = place.parent / f"{place.name}.{sha256_hex(data)}"
        file.write_bytes(data)
        files[sha256_hex(data)] = file
    try:
        return write_bundle(
            place,
            run,
            (result for number, result in enumerate(results) if number not in left_out),
            {f"{name}.lock.toml": lock for name, lock in locks.items()},
            files,
            building=place.parent / f"{place.name}.building",
        )
    finally:
        for file in files.values():
            file.unlink()


def _tasks(plan: Plan) -> list[str]:
    return [f"task-{number:03d}" for number in range(plan.tasks)]


def _blobs(plan: Plan) -> dict[str, bytes]:
    solved = dict.fromkeys((*TARGETS, *KEPT), Outcome.PASSED)
    half = solved | dict.fromkeys(TARGETS[2:], Outcome.FAILED)
    none = solved | dict.fromkeys(TARGETS, Outcome.ERROR) | {KEPT[0]: Outcome.FAILED}
    records = {"1.0": solved, "0.5": half, "0.0": none}
    ends = (SuiteEnd(name="python", exit_code=0, ended="exited", complete=True),)
    graded = {value: GradingRecord(schema=1, suite=ends, outcomes=record) for value, record in records.items()}
    transcript = b"".join(json.dump(unstructure(exchange)) + b"\n" for exchange in _exchanges(plan.said))
    return {
        "patch": PATCH,
        "none": b"",
        "transcript": transcript,
        **{value: dump_json(record) for value, record in graded.items()},
    }


def _exchanges(said: str) -> Iterator[Exchange]:
    """A file is read, then edited, then something is said."""
    history: list[dict[str, Any]] = [{"role": "user", "content": "Make the reader drop trailing spaces."}]
    calls = (
        ("read_file", {"path": "src/a.py"}, "def read(lines):\n    return list(lines)\n# end\n"),
        ("string_replace", {"path": "src/a.py", "old_str": "return list(lines)", "new_str": said}, "Replaced at 2."),
    )
    for number, (name, arguments, result) in enumerate(calls):
        function = {"name": name, "arguments": json.dump(arguments).decode()}
        call = {"id": f"call_{number}", "index": 0, "type": "function", "function": function}
        yield _exchange(number, history, {"role": "assistant", "content": said, "tool_calls": [call]}, "tool_calls")
        history += [
            {"role": "assistant", "content": said, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": result},
        ]
    yield _exchange(len(calls), history, {"role": "assistant", "content": said}, "stop")


def _exchange(number: int, history: list[dict[str, Any]], message: dict[str, Any], finish: str) -> Exchange:
    usage = {"prompt_tokens": 900 + 100 * number, "completion_tokens": 60}
    answer = {
        "model": "made-up",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage,
    }
    request = {"model": "made-up", "messages": history, "tools": [], "temperature": 0}
    return Exchange(
        n=number + 1,
        start_ms=1000 * number,
        end_ms=1000 * number + 700,
        method="POST",
        path="/v1/chat/completions",
        request=Bytes.of(json.dump(request)),
        tools=True,
        changes={"temperature": 0},
        status=200,
        content_type="application/json",
        chunks=(Chunk(ms=1000 * number + 700, data=Bytes.of(json.dump(answer))),),
    ).with_usage()


def _result(cell: Cell, plan: Plan, blobs: dict[str, bytes], lock_sha256: str, rng: random.Random) -> CellResult:
    cause = _cause(rng.random())
    scored = policy(cause).scored
    value: Value = "1.0" if rng.random() < plan.skill.get(cell.model, 0.5) else rng.choice(("0.5", "0.0"))
    failure = rng.choice(FAILURES) if scored and value != "1.0" else None
    steps = rng.randint(3, 30)
    return CellResult(
        schema=1,
        cell=cell,
        lock_sha256=lock_sha256,
        image_manifest=Digest("sha256:" + ZERO),
        harness_sha256=ZERO,
        nanocoder=cell.harness.removeprefix("nanocoder-"),
        engine="bubblewrap",
        cause=cause,
        attempts=(
            Attempt(number=1, cause=cause, wall_ms=rng.randint(5_000, 90_000), cpu_ms=rng.randint(900, 9_000)),
        ),
        files_changed=("src/a.py",) if scored else (),
        usage=Usage(
            steps=steps,
            tool_calls=steps + rng.randint(0, 9),
            input_tokens=steps * rng.randint(4_000, 9_000),
            output_tokens=steps * rng.randint(80, 400),
            cached_tokens=steps * rng.randint(0, 4_000),
        ),
        cost=f"0.0{rng.randint(1, 9)}" if scored else None,
        sampling_pinned=True,
        blobs=Blobs(
            patch=sha256_hex(blobs["patch" if scored else "none"]),
            transcript=sha256_hex(blobs["transcript"]),
            stderr=sha256_hex(blobs["none"]),
            outcomes=sha256_hex(blobs[value]) if scored else None,
        ),
        score=_score(value) if scored else None,
        failure=failure,
    )


def _cause(drawn: float) -> Cause:
    """Most runs come to their end."""
    rare = (Cause.RATE_LIMIT, Cause.PROVIDER_FAILED, Cause.ENGINE, Cause.GRADER, Cause.TIME_LIMIT)
    return rare[int(drawn * 100)] if drawn < len(rare) / 100 else Cause.FINISHED


def _score(value: Value) -> Score:
    return Score(
        value=value,
        label=LABELS[value],
        resolved=value == "1.0",
        targets_passed={"1.0": len(TARGETS), "0.5": 2}.get(value, 0),
        targets=len(TARGETS),
        broken=KEPT[:1] if value == "0.0" else (),
        required_touched=("src/a.py",),
    )


def _lock(name: str, number: int, plan: Plan) -> TaskLock:
    original = spec(name, number, plan)
    return TaskLock(
        version=1,
        revision=LOCK_REVISION,
        recipe=RECIPE,
        task=name,
        spec_sha256=document_sha256(original),
        environment=Reference(name="made-up", sha256=ZERO),
        harness=Reference(name="nanocoder-1.30.0", sha256=ZERO),
        source=LockedSource(
            commit="a" * 40,
            tree="b" * 40,
            golden_patch_sha256=sha256_hex(PATCH),
            test_patch_sha256=ZERO,
            statement_sha256=ZERO,
            required_files=("src/a.py", "src/b.py"),
            test_files=("tests/test_a.py",),
            token_estimate=(4_000, 30_000, 60_000, 120_000)[number % 4],
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
        tests=LockedTests(fail_to_pass=TARGETS, pass_to_pass=KEPT),
        gate=tuple(GateVerdict(name=n, verdict="pass", evidence_sha256=ZERO) for n in REVISION_GATES[LOCK_REVISION]),
        original=original,
    )


def spec(name: str, number: int, plan: Plan) -> dict[str, Any]:
    """A task's document; the number chooses its facts."""
    archive = {"purl": "pkg:pypi/made-up@1.0", "file": "made-up-1.0.tar.gz", "sha256": ZERO, "size": 1}
    return {
        "schema": 1,
        "id": name,
        "kind": "release-pair",
        "environment": "made-up",
        "harness": "nanocoder-1.30.0",
        "source": {"type": "archive", "base": archive, "solution": archive},
        "statement": {"origin": "curator"},
        "curation": {
            "repo": "made/up",
            "repo_url": "https://example.invalid/made/up",
            "languages": list(LANGUAGES[number % len(LANGUAGES)]),
            "domain": plan.domains[number % len(plan.domains)],
            "complexity_tier": 1 + number % 4,
            "task_type": "bug-fix",
            "reasoning_category": REASONING[number % len(REASONING)],
            "contributor": "nobody",
        },
        "suite": [{"name": "python", "language": "python", "format": "pytest", "command": ["pytest"]}],
    }
