"""Run a tool inside the locked image: what every build and install needs, and how it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from attrs import evolve, field, frozen

from nanobench.ecosystems.py_target import Target
from nanobench.errors import MachineFailure, Refused
from nanobench.sandbox.interface import MOUNTS, Ended, Engine, Mount, Request, SandboxLimits
from nanobench.store.files import remove_tree
from nanobench.store.store import Store

TOOLS, PINS, SCRATCH = f"{MOUNTS}/tools", f"{MOUNTS}/pins", f"{MOUNTS}/scratch"

LIMITS = SandboxLimits(cpus=2, memory_mib=8192, pids=512, disk_mib=16384, seconds=1800)
"""Building and installing is the curator's errand, so these are ours and not the environment's."""

_TAIL = 30
_TAIL_BYTES = 16 << 10


@frozen(kw_only=True)
class Workshop:
    """The locked image and a private directory to work in.

    Args:
        layers: unpacked layer trees of the image, lowest first.
        scratch: empty, private, on the store's file system; what is returned refers to files in it, so it must
            outlive that.
        epoch: source_date_epoch of the environment.
        target: the image's interpreter, for who works with Python.
    """

    engine: Engine
    store: Store
    layers: tuple[Path, ...]
    scratch: Path
    epoch: int
    _target: Target | None
    _serial: list[int] = field(factory=lambda: [0], init=False, repr=False, eq=False)

    @property
    def target(self) -> Target:
        """The interpreter of the image."""
        assert self._target is not None, "the environment asks for no Python"
        return self._target

    def directory(self, purpose: str) -> Path:
        """A new empty directory in the scratch; the sandbox may be given it."""
        self._serial[0] += 1
        path = self.scratch / f"{self._serial[0]}-{purpose}"
        path.mkdir(mode=0o755)
        return path

    def command(
        self,
        *argv: str,
        phase: str,
        refusal: Callable[..., Refused],
        mounts: Iterable[Mount] = (),
        env: Mapping[str, str] | None = None,
        cwd: str = "/",
        seconds: int | None = None,
    ) -> None:
        """Run one command to its good end, ``/tmp`` on disk, no bytecode written, the clock of the build fixed.

        Args:
            seconds: the time that is the command's own business to keep; ours when not given.

        Raises:
            Refused: ``refusal``, given the last lines of the command's output as ``details``, when it fails or does
                not keep its time.
            MachineFailure: ``NB_LIMIT`` when it ran into one of our limits.
        """
        log, temporary = self.directory("log") / "output", self.directory("tmp")
        self.engine.own(temporary)
        request = Request(
            layers=self.layers,
            argv=argv,
            limits=LIMITS if seconds is None else evolve(LIMITS, seconds=seconds),
            stdout=log,
            stderr=log,
            cwd=cwd,
            env=_environment(self.epoch) | dict(env or {}),
            mounts=(*mounts, Mount(source=temporary, target=SCRATCH, writable=True)),
            phase=phase,
        )
        finished = self.engine.run(request)
        remove_tree(temporary)
        if finished.ended is Ended.TIME and seconds is not None:
            raise refusal(details=(f"stopped after {seconds} seconds", *_tail(log)))
        if finished.ended is not Ended.EXITED:
            raise MachineFailure("NB_LIMIT", f"{phase} was stopped: {finished.ended.value}", where=argv[0])
        if finished.exit_code != 0:
            raise refusal(details=(f"exit code {finished.exit_code}", *_tail(log)))


def _environment(epoch: int) -> dict[str, str]:
    return {"SOURCE_DATE_EPOCH": str(epoch), "TMPDIR": SCRATCH, "PYTHONDONTWRITEBYTECODE": "1"}


def _tail(path: Path) -> tuple[str, ...]:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        lines = file.read().decode("utf-8", errors="replace").splitlines()
    return tuple(line for line in lines if line.strip())[-_TAIL:]
