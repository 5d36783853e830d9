"""What is said of a lock that was made: a document, and words."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from nanobench.curate.harness import HarnessOutcome
from nanobench.curate.lock import LockOutcome
from nanobench.model.fields import Document
from nanobench.model.upstream import LockedUpstream


@frozen(kw_only=True)
class Said:
    """Of the lock of that name."""

    name: str
    document: Document
    text: str


def of_harness(outcome: HarnessOutcome, *, dry_run: bool) -> Said:
    """The closure's digest, and what was written."""
    lock = outcome.lock
    lines = (
        f"{lock.name}: {_verdict(dry_run=dry_run)}",
        f"  closure {lock.closure}",
        *_written(outcome.written, dry_run=dry_run),
    )
    document = {"closure": lock.closure, "written": list(outcome.written)}
    return Said(name=lock.name, document=document, text="\n".join(lines))


def of_task(outcome: LockOutcome, *, dry_run: bool) -> Said:
    """Gates, image and tests, and what was written."""
    return Said(name=outcome.task, document=_document(outcome), text=_text(outcome, dry_run=dry_run))


def _document(outcome: LockOutcome) -> Document:
    gates = {
        j.name: {"verdict": j.finding.verdict, "evidence_sha256": j.verdict.evidence_sha256} for j in outcome.judged
    }
    tests = outcome.lock.tests
    return {
        "image": outcome.lock.image.manifest_digest,
        "gates": gates,
        "fail_to_pass": len(tests.fail_to_pass),
        "pass_to_pass": len(tests.pass_to_pass),
        "written": list(outcome.written),
    }


def _text(outcome: LockOutcome, *, dry_run: bool) -> str:
    tests = outcome.lock.tests
    return "\n".join(
        (
            f"{outcome.task}: {_verdict(dry_run=dry_run)}",
            *(f"  {line}" for j in outcome.judged for line in j.lines()),
            *_upstream(outcome.lock.source.upstream),
            f"  image {outcome.lock.image.manifest_digest}",
            f"  {len(tests.fail_to_pass)} tests must turn green, {len(tests.pass_to_pass)} must stay green",
            *_written(outcome.written, dry_run=dry_run),
        )
    )


def _verdict(*, dry_run: bool) -> str:
    return "can be locked" if dry_run else "locked"


def _written(names: Iterable[str], *, dry_run: bool) -> tuple[str, ...]:
    verb = "would write" if dry_run else "wrote"
    return tuple(f"  {verb} {name}" for name in names) or ("  no byte changed",)


def _upstream(found: LockedUpstream | None) -> tuple[str, ...]:
    if found is None:
        return ()
    return (f"  merge {found.merge.commit} of {found.merged_at} ({found.identity}) onto {found.base.commit}",)
