from __future__ import annotations

from typing import Any, get_args

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nanobench.formats.converter import structure
from nanobench.model.label import Landmarks
from nanobench.model.lock import LockedTests, TaskLock
from nanobench.model.result import Cause, Failure, GradingRecord, Mode, Outcome
from nanobench.model.task import Task
from nanobench.scoring.causes import POLICIES
from nanobench.scoring.labels import GradedRun, failure_record, label_of
from nanobench.scoring.score import score

PASSED, FAILED = Outcome.PASSED, Outcome.FAILED
TARGETS = ("js|b.ts::t1", "js|b.ts::t2", "py|a.py::t1", "py|a.py::t2")
KEPT = ("js|b.ts::kept", "py|a.py::kept")
INVENTED = Failure(type="builtins.AttributeError", message="'Toy' object has no attribute 'dubel'")
MISMATCH = Failure(type="builtins.TypeError", message="double() takes 1 positional argument but 2 were given")
MISSING = Failure(type="builtins.AttributeError", message="'Toy' object has no attribute 'triple'")


def changing(*paths: str) -> bytes:
    """A patch that makes these files, empty."""
    made = b"new file mode 100644\nindex " + b"0" * 40 + b"..e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n"
    return b"".join(b"diff --git a/%s b/%s\n" % (p.encode(), p.encode()) + made for p in sorted(paths))


@pytest.fixture(scope="module")
def task() -> Task:
    """Of two languages."""
    document: dict[str, Any] = {
        "schema": 1,
        "id": "x",
        "kind": "fixture",
        "environment": "e",
        "harness": "nanocoder-1.30.0",
        "source": {"type": "vendored"},
        "statement": {"origin": "curator"},
        "curation": {
            "languages": ["python"],
            "domain": "d",
            "complexity_tier": 1,
            "task_type": "bug",
            "reasoning_category": "r",
            "contributor": "c",
        },
        "suite": [
            {"name": "js", "language": "typescript", "format": "vitest", "command": ["x"], "seconds": 1},
            {"name": "py", "language": "python", "format": "pytest", "command": ["x"], "seconds": 1},
        ],
    }
    return structure(document, Task, where="task")


@pytest.fixture
def made(task_lock: TaskLock, task: Task) -> Any:
    """A graded run, as what it changed, what passes and what failed make it."""
    lock = evolve(task_lock, tests=LockedTests(fail_to_pass=TARGETS, pass_to_pass=KEPT))
    landmarks = Landmarks(schema=1, names=("Toy", "double"), introduced=("triple",), reshaped=(), functions={})

    def make(
        *passing: str,
        changed: tuple[str, ...] = ("src/a.py",),
        mode: Mode = "navigation",
        cause: Cause = Cause.FINISHED,
        **failures: Failure,
    ) -> GradedRun:
        outcomes = {test: PASSED if test in passing else FAILED for test in (*TARGETS, *KEPT)}
        scored = score(
            outcomes=outcomes,
            fail_to_pass=TARGETS,
            pass_to_pass=KEPT,
            files_changed=changed,
            required_files=lock.source.to_change,
            mode=mode,
            tampered=cause is Cause.GRADER_TAMPERED,
        )
        return GradedRun(
            lock=lock,
            task=task,
            landmarks=landmarks,
            mode=mode,
            cause=cause,
            patch=changing(*changed),
            report=None,
            record=GradingRecord(schema=1, suite=(), outcomes=outcomes),
            failures={f"py|a.py::{name}": failure for name, failure in failures.items()},
            output=b"",
            score=scored,
        )

    return make


def test_a_resolved_run_has_none(made: Any) -> None:
    assert label_of(made(*TARGETS, *KEPT)) is None
    assert label_of(made(*TARGETS, *KEPT, changed=("elsewhere.py",))) is None


JS, PY = TARGETS[:2], TARGETS[2:]


@pytest.mark.parametrize(
    ("passing", "changes", "expected"),
    [
        ((), {}, ["unclassified"]),
        ((), {"changed": ()}, ["insufficient_context_read"]),
        ((), {"changed": ("tests/test_a.py", "src/b.py")}, ["insufficient_context_read"]),
        ((), {"changed": (), "cause": Cause.CONTEXT}, ["context_window_exceeded", "insufficient_context_read"]),
        # One of four fails so; two of four, a tie; two of three.
        (KEPT, {"t1": INVENTED}, ["unclassified"]),
        (KEPT, {"t1": INVENTED, "t2": INVENTED}, ["hallucinated_api"]),
        (JS[:1], {"t1": INVENTED, "t2": INVENTED}, ["hallucinated_api"]),
        (JS[:1], {"t1": INVENTED, "t2": MISMATCH}, ["hallucinated_api"]),
        (JS[:1], {"t1": MISMATCH, "t2": MISMATCH}, ["wrong_abstraction_layer"]),
        (JS[:1], {"t1": MISSING, "t2": MISSING}, ["unclassified"]),
        # Half of the targets: one language whole and the other not at all.
        ((*JS, *KEPT), {"t1": INVENTED}, ["partial_fix_only", "missing_cross_language_change"]),
        ((*PY, *KEPT), {}, ["partial_fix_only", "missing_cross_language_change"]),
        ((*JS, *PY[:1], *KEPT), {}, ["partial_fix_only", "missing_cross_language_change"]),
        # No suite is whole where something in it broke, or where a target of it fails.
        (JS, {}, ["partial_fix_only"]),
        ((*JS[:1], *PY[:1], *KEPT), {}, ["partial_fix_only"]),
        # All targets pass and something broke: no target fails.
        ((*TARGETS, KEPT[0]), {}, ["partial_fix_only"]),
        ((*JS, *KEPT), {"mode": "hinted"}, ["partial_fix_only"]),
        ((*JS, *KEPT), {"changed": ()}, ["insufficient_context_read", "missing_cross_language_change"]),
    ],
)
def test_from_outcomes_and_failures_to_the_label(
    made: Any, passing: tuple[str, ...], changes: dict[str, Any], expected: list[str]
) -> None:
    said = label_of(made(*passing, **changes))
    assert said is not None
    assert [said.label, *(match.label for match in said.also_matched)] == expected


def test_what_the_solution_introduces_and_is_missing_is_told_beside(made: Any) -> None:
    said = label_of(made(*JS[:1], t1=MISSING, t2=INVENTED))
    assert said is not None
    assert (said.label, said.signals) == ("hallucinated_api", ("not_implemented", "test_not_updated"))


def test_of_a_patch_that_lies_to_the_grader_no_test_is_believed(made: Any) -> None:
    said = label_of(made(*TARGETS, *KEPT, cause=Cause.GRADER_TAMPERED, t1=MISSING))
    assert said is not None
    assert (said.label, said.signals) == ("grader_tampered", ("test_not_updated",))


def test_only_the_failures_that_are_read_are_kept(made: Any) -> None:
    run = evolve(
        made(PY[0], t1=MISSING, t2=INVENTED),
        failures={PY[0]: MISSING, PY[1]: INVENTED, KEPT[1]: MISMATCH, "js|b.ts::": MISMATCH, "js|c.ts::": MISMATCH},
    )
    kept = failure_record(run)
    assert list(kept.failures) == ["js|b.ts::", PY[1]]
    assert label_of(evolve(run, failures=kept.failures)) == label_of(run)


tests = st.sampled_from((*TARGETS, *KEPT))
found = st.dictionaries(
    st.sampled_from((*TARGETS, "py|a.py", "js|b.ts::")), st.sampled_from((INVENTED, MISMATCH, MISSING))
)
modes = st.sampled_from(get_args(Mode))
scored = st.sampled_from([cause for cause, policy in POLICIES.items() if policy.scored])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    passing=st.sets(tests), failures=found, cause=scored, mode=st.sampled_from(get_args(Mode)), touched=st.booleans()
)
def test_exactly_the_unresolved_have_one_label_whatever_the_order_of_the_inputs(
    made: Any, passing: set[str], failures: dict[str, Failure], cause: Cause, mode: Mode, touched: bool
) -> None:
    run = made(*passing, changed=("src/a.py",) if touched else (), cause=cause, mode=mode)
    run = evolve(run, failures=failures)
    said = label_of(run)
    assert (said is None) == run.score.resolved
    turned = evolve(
        run,
        record=evolve(run.record, outcomes=dict(reversed(run.record.outcomes.items()))),
        failures=dict(reversed(failures.items())),
        lock=evolve(run.lock, tests=LockedTests(fail_to_pass=TARGETS[::-1], pass_to_pass=KEPT[::-1])),
        task=evolve(run.task, suite=run.task.suite[::-1]),
    )
    assert label_of(turned) == said


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(passing=st.sets(tests), test=tests, failures=found)
def test_one_more_passing_test_never_leads_from_partial_back_to_full_failure(
    made: Any, passing: set[str], test: str, failures: dict[str, Failure]
) -> None:
    before, after = (label_of(evolve(made(*all_), failures=failures)) for all_ in (passing, {*passing, test}))
    if before is not None and before.rule == 5:
        assert after is None or after.rule == 5
