"""harness: the locked Nanocoder starts in the image, is the locked version, and its report keeps its contract."""

from __future__ import annotations

from pathlib import Path

from nanobench.errors import MachineFailure
from nanobench.gates.interface import Case, Finding, judged
from nanobench.gateway.scripted.behaviours import nop
from nanobench.gateway.upstream import Pins
from nanobench.grading.trial import fresh_workspace
from nanobench.harness.closure import ENTRY, MOUNT, NODE
from nanobench.harness.contract import contract_of
from nanobench.harness.invocation import invocation
from nanobench.harness.session import Seat, Session, run_agent
from nanobench.harness.shadow import steering
from nanobench.model.fields import Document
from nanobench.model.result import Cause
from nanobench.sandbox.interface import Ended, Mount, Request, SandboxLimits

_LIMITS = SandboxLimits(cpus=2, memory_mib=2048, pids=128, disk_mib=256, seconds=120)
_PROVIDER = "nop"


class HarnessGate:
    """Runs the agent once with the scripted provider that only talks: it must finish, report, and change nothing."""

    name = "harness"

    def check(self, case: Case) -> Finding:
        """Start it twice: for its version, and for a report."""
        with case.bench.store.scratch("harness") as scratch:
            version = _version(case, scratch)
            session = _idle_run(case, scratch)
        reasons = []
        if version != case.harness.nanocoder:
            reasons.append(f"it says version {version!r}, locked is {case.harness.nanocoder}")
        if session.ending.cause is not Cause.FINISHED or session.ending.report is None:
            reasons.append(f"the idle run ended with {session.ending.cause}: {session.ending.detail}")
        if session.taken.patch:
            reasons.append(f"the idle run changed {', '.join(session.taken.files_changed)}")
        shadowed = steering(case.task.required_files or case.change.source_files).shadowed
        reasons += [f"required file {name} is never shown to the agent" for name in shadowed]
        evidence: Document = {
            "version": version,
            "cause": session.ending.cause.value,
            "steps": session.summary.usage.steps,
            "report_schema_sha256": case.harness.report_schema_sha256,
            "unknown_fields": list(session.ending.report.unknown) if session.ending.report else [],
            "shadowed": list(session.steering.shadowed),
            "recorded": list(session.steering.recorded),
        }
        return judged(evidence, tuple(reasons), "look at the harness lock; nanobench lock --upgrade-input harness")


def _version(case: Case, scratch: Path) -> str:
    request = Request(
        layers=case.image.trees,
        argv=(NODE, ENTRY, "--version"),
        limits=_LIMITS,
        stdout=scratch / "version",
        stderr=scratch / "version-stderr",
        env={"NODE_DISABLE_COMPILE_CACHE": "1"},
        mounts=(Mount(source=case.closure, target=MOUNT),),
        phase="version",
    )
    finished = case.bench.engine.run(request)
    if finished.ended is not Ended.EXITED:
        raise MachineFailure("NB_HARNESS", f"asking for the version ended by {finished.ended}", where="harness")
    return request.stdout.read_text("utf-8", "replace").strip()[:100]


def _idle_run(case: Case, scratch: Path) -> Session:
    from nanobench.gateway.scripted.provider import ScriptedProvider  # its server is slow to load

    seat = Seat(
        engine=case.bench.engine,
        trees=case.image.trees,
        closure=case.closure,
        contract=contract_of(case.harness),
        limits=case.environment.limits,
        env=case.environment.env,
    )
    workspace = fresh_workspace(case.image.workspace, scratch / "workspace")
    case.bench.engine.own(workspace)
    call = invocation(case.statement.decode("utf-8"), provider=_PROVIDER, model=_PROVIDER)
    with ScriptedProvider(_PROVIDER, nop) as provider:
        pins = Pins(model=_PROVIDER)
        return run_agent(seat, call, provider.upstream, workspace, pins=pins, scratch=scratch)
