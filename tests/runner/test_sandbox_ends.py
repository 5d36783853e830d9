"""What the sandbox ends, or an agent ends inside, is the agent's doing and never the provider's, in both engines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nanobench.gateway.scripted.provider import ScriptedProvider
from nanobench.gateway.scripted.reply import Reply, Script, ToolCall
from nanobench.image.workbench import Workbench
from nanobench.model.result import Cause, CellResult
from nanobench.sandbox.docker import Docker
from nanobench.sandbox.interface import Engine

GROWS = "python3 -c 'x = []\nwhile True: x.append(bytearray(b\"x\" * (1 << 24)))'"
FILLS = "head -c 500000000 /dev/zero > big && sleep 60"
CUTS = "for p in /proc/[0-9]*; do grep -qz forward.cjs $p/cmdline && kill -KILL ${p#/proc/}; done; true"

ROWS: dict[str, tuple[str, dict[str, int], set[Cause]]] = {
    "time": ("sleep 100", {"agent_seconds": 4}, {Cause.TIME_LIMIT}),
    "memory": (GROWS, {"memory_mib": 512}, {Cause.MEMORY}),
    "disk": (FILLS, {"disk_mib": 100}, {Cause.DISK}),
    "forwarder": (CUTS, {}, {Cause.FORWARDER, Cause.AGENT_ERROR}),
}
"""A command of the agent's, limits of the lock, and the causes that it may come to."""


@pytest.fixture(params=["bubblewrap", "docker"])
def either(request: pytest.FixtureRequest, bench: Workbench) -> Engine:
    if request.param == "bubblewrap":
        return bench.engine
    return Docker(bench.store, address=str(request.getfixturevalue("docker_socket")))


def commands(command: str) -> Script:
    return lambda _: Reply(calls=(ToolCall(name="execute_bash", arguments={"command": command}),))


@pytest.mark.parametrize(("command", "limits", "causes"), ROWS.values(), ids=ROWS)
def test_a_run_ends_by_its_cause(
    command: str, limits: dict[str, int], causes: set[Cause], either: Engine, real_attempt: Callable[..., CellResult]
) -> None:
    with ScriptedProvider("double", commands(command)) as provider:
        result = real_attempt(provider.upstream, engine=either, limits=limits)
    assert result.cause in causes, result.attempts
    assert result.score is not None and result.score.value == "0.0"
