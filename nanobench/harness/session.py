"""One run of the agent, from a fresh workspace to its patch, which is taken when the agent's sandbox is dead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import evolve, frozen

from nanobench.errors import Refused
from nanobench.gateway.budget import Budget
from nanobench.gateway.summary import Summary
from nanobench.gateway.upstream import Pins, Upstream
from nanobench.harness.contract import Contract
from nanobench.harness.ending import Ending, ending
from nanobench.harness.invocation import Invocation, Places, agent_request, write_config
from nanobench.harness.shadow import Steering, unsteered
from nanobench.model.environment import Limits
from nanobench.model.result import Cause
from nanobench.sandbox.interface import Engine, Finished, SandboxLimits
from nanobench.sources.difference import TakenPatch, take_patch
from nanobench.sources.gitbox import Gitbox


@frozen(kw_only=True)
class Seat:
    """Where an agent sits: the image's trees, its closure and its report's contract, the task's limits and
    environment."""

    engine: Engine
    trees: tuple[Path, ...]
    closure: Path
    contract: Contract
    limits: Limits
    env: Mapping[str, str]


@frozen(kw_only=True)
class Session:
    """What a run left. The three paths are files of the scratch directory."""

    ending: Ending
    finished: Finished
    summary: Summary
    steering: Steering
    taken: TakenPatch
    stdout: Path
    stderr: Path
    transcript: Path


def run_agent(
    seat: Seat,
    call: Invocation,
    upstream: Upstream,
    workspace: Path,
    *,
    pins: Pins,
    scratch: Path,
    budget: Budget | None = None,
) -> Session:
    """Let the agent work on a fresh workspace, then take its patch.

    Args:
        workspace: a fresh copy of the pristine one, owned by the sandbox's user; used up.
        scratch: a private directory on the same file system.

    Raises:
        MachineFailure: the sandbox, the gateway or the transcript failed.
    """
    from nanobench.gateway.gateway import Gateway  # its server is slow to load, and most verbs run no agent

    places = _places(seat, workspace, scratch)
    write_config(places.config, call.config)
    gitbox = Gitbox(engine=seat.engine, layers=seat.trees, scratch=scratch)
    with unsteered(workspace, gitbox=gitbox, aside=scratch / "aside") as steering:
        transcript = scratch / "transcript.jsonl"
        gateway = Gateway(upstream, directory=places.gateway, transcript=transcript, pins=pins, budget=budget)
        with gateway:
            limits = SandboxLimits.of(seat.limits, seconds=seat.limits.agent_seconds)
            request = agent_request(call, places, limits=limits, env=seat.env)
            finished = seat.engine.run(request)
    summary = gateway.summary()
    said, complained = places.stdout.read_bytes(), places.stderr.read_bytes()
    ended = ending(finished, contract=seat.contract, stdout=said, stderr=complained, summary=summary)
    ended, taken = _take(gitbox, ended, workspace)
    return Session(
        ending=ended,
        finished=finished,
        summary=summary,
        steering=steering,
        taken=taken,
        stdout=places.stdout,
        stderr=places.stderr,
        transcript=gateway.transcript,
    )


def _take(gitbox: Gitbox, ended: Ending, workspace: Path) -> tuple[Ending, TakenPatch]:
    """The patch; an agent that left more than is ever taken ran out of disk and has none."""
    try:
        return ended, take_patch(gitbox, workspace)
    except Refused as error:
        if error.code != "NB_PATCH_BOUND":
            raise
        nothing = TakenPatch(patch=b"", files_changed=(), dropped=())
        return evolve(ended, cause=Cause.DISK, detail=error.message), nothing


def _places(seat: Seat, workspace: Path, scratch: Path) -> Places:
    return Places(
        layers=seat.trees,
        workspace=workspace,
        closure=seat.closure,
        gateway=scratch / "gateway",
        config=scratch / "config",
        stdout=scratch / "stdout",
        stderr=scratch / "stderr",
    )
