"""Run tools inside the locked image: what every build and install step needs, and how it fails."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from attrs import field, frozen
from packageurl import PackageURL
from packaging.utils import canonicalize_name
from packaging.version import Version

from nanobench.archives.reader import extract
from nanobench.ecosystems.py_target import Target
from nanobench.errors import MachineFailure, Refused
from nanobench.formats.digest import split
from nanobench.model.fields import Digest
from nanobench.model.lock import Built, Package
from nanobench.sandbox.interface import MOUNTS, Ended, Engine, Mount, Request, SandboxLimits
from nanobench.store.store import Store

PYTHON = "/usr/bin/python3"
VENV = "/opt/venv"
TOOLS, PINS, SCRATCH = f"{MOUNTS}/tools", f"{MOUNTS}/pins", f"{MOUNTS}/scratch"
UV = f"{TOOLS}/uv"

LIMITS = SandboxLimits(cpus=2, memory_mib=8192, pids=512, disk_mib=16384, seconds=1800)
"""Building and installing is the curator's errand, so these are ours and not the environment's."""

_TAIL = 30
_TAIL_BYTES = 16 << 10


@frozen(kw_only=True)
class Pinned:
    """One wheel to install: from the lock, or built from a locked source archive."""

    name: str
    version: str
    file: str
    digest: Digest


@frozen(kw_only=True)
class Workshop:
    """The locked image and a private directory to work in.

    Args:
        layers: unpacked layer trees of the image, lowest first.
        scratch: empty, private, on the store's file system; what is returned refers to files in it, so it must
            outlive that.
        epoch: source_date_epoch of the environment.
    """

    engine: Engine
    store: Store
    layers: tuple[Path, ...]
    scratch: Path
    epoch: int
    target: Target
    _serial: list[int] = field(factory=lambda: [0], init=False, repr=False, eq=False)

    def directory(self, purpose: str) -> Path:
        """A new empty directory in the scratch; the sandbox may be given it."""
        self._serial[0] += 1
        path = self.scratch / f"{self._serial[0]}-{purpose}"
        path.mkdir(mode=0o755)
        return path

    def run(
        self,
        *argv: str,
        phase: str,
        refusal: Callable[..., Refused],
        mounts: Iterable[Mount] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        """:meth:`command`, in an image that has Python.

        Raises:
            Refused: ``NB_PYTHON_ABSENT``, and what :meth:`command` raises.
        """
        self._need_python()
        self.command(*argv, phase=phase, refusal=refusal, mounts=mounts, env=env)

    def command(
        self,
        *argv: str,
        phase: str,
        refusal: Callable[..., Refused],
        mounts: Iterable[Mount] = (),
        env: Mapping[str, str] | None = None,
        cwd: str = "/",
    ) -> None:
        """Run one command to its good end, ``/tmp`` on disk, no bytecode written, the clock of the build fixed.

        Raises:
            Refused: ``refusal``, given the last lines of the command's output as ``details``, when it fails.
            MachineFailure: ``NB_LIMIT`` when it ran into a limit.
        """
        log, temporary = self.directory("log") / "output", self.directory("tmp")
        self.engine.own(temporary)
        request = Request(
            layers=self.layers,
            argv=argv,
            limits=LIMITS,
            stdout=log,
            stderr=log,
            cwd=cwd,
            env=_environment(self.epoch) | dict(env or {}),
            mounts=(*mounts, Mount(source=temporary, target=SCRATCH, writable=True)),
            phase=phase,
        )
        finished = self.engine.run(request)
        shutil.rmtree(temporary)
        if finished.ended is not Ended.EXITED:
            raise MachineFailure("NB_LIMIT", f"{phase} was stopped: {finished.ended.value}", where=argv[0])
        if finished.exit_code != 0:
            raise refusal(details=(f"exit code {finished.exit_code}", *_tail(log)))

    def tools(self, packages: Iterable[Package]) -> Mount:
        """The locked uv, unpacked from its wheel once in a store's life, mounted read-only."""
        wheel = next((p for p in packages if p.role == "installer"), None)
        if wheel is None:
            raise Refused("NB_INSTALLER", "no package of role installer is locked", hint="lock the environment again")

        def fill(dest: Path) -> None:
            extract(self.store.blob(wheel.digest), dest, where=wheel.path)
            for script in dest.glob("*.data/scripts/*"):
                script.chmod(0o755)

        tree = self.store.make_tree(split(wheel.digest)[1], fill)
        (binary,) = tree.glob("*.data/scripts/uv")
        return Mount(source=binary.parent, target=TOOLS)

    def pins(self, wheels: Iterable[Pinned]) -> Mount:
        """Exactly these wheels and a hashed requirements file for them, mounted read-only."""
        path, lines = self.directory("pins"), []
        for wheel in wheels:
            shutil.copyfile(self.store.blob(wheel.digest), path / wheel.file)
            lines.append(f"{wheel.name}=={wheel.version} --hash={wheel.digest}\n")
        (path / "requirements.txt").write_text("".join(sorted(lines)), encoding="utf-8")
        self.engine.own(path)
        return Mount(source=path, target=PINS)

    def _need_python(self) -> None:
        if not any((layer / PYTHON[1:]).is_symlink() or (layer / PYTHON[1:]).exists() for layer in self.layers):
            raise Refused(
                "NB_PYTHON_ABSENT",
                f"the image has no {PYTHON}",
                where="base.packages",
                hint='add "python3" to base.packages of the environment',
            )


def wheels_of(packages: Iterable[Package], role: str, built: Iterable[Built] = ()) -> tuple[Pinned, ...]:
    """The wheels of one role; for a source archive, the wheel that was built from it.

    Raises:
        Refused: ``NB_SDIST_UNBUILT`` when ``built`` has none for it.
    """
    made = {b.sdist: b for b in built}
    wheels = []
    for package in packages:
        if package.role != role:
            continue
        file, digest = package.path.rpartition("/")[2], package.digest
        if not file.endswith(".whl"):
            if digest not in made:
                raise Refused("NB_SDIST_UNBUILT", "no wheel was built from this source archive", where=package.purl)
            file, digest = made[digest].file, made[digest].wheel
        name, version = _identity(package.purl)
        wheels.append(Pinned(name=name, version=version, file=file, digest=digest))
    return tuple(wheels)


def _identity(text: str) -> tuple[str, str]:
    try:
        purl = PackageURL.from_string(text)
        return canonicalize_name(purl.name, validate=True), str(Version(purl.version or ""))
    except ValueError as error:  # InvalidName and InvalidVersion are ValueErrors too
        raise Refused("NB_PURL", f"no name and version of a Python package: {error}", where=text) from error


def uv_install(*arguments: str, python: str) -> tuple[str, ...]:
    """The command that installs pinned wheels and nothing else into the environment of ``python``."""
    hermetic = ("--no-config", "--no-cache", "--offline", "--no-index", "--no-python-downloads", "--no-progress")
    exact = ("--find-links", PINS, "--no-deps", "--link-mode", "copy", "--color", "never")
    return (UV, "pip", "install", *hermetic, *exact, "--python", python, *arguments)


def _environment(epoch: int) -> dict[str, str]:
    return {"SOURCE_DATE_EPOCH": str(epoch), "TMPDIR": SCRATCH, "PYTHONDONTWRITEBYTECODE": "1"}


def _tail(path: Path) -> tuple[str, ...]:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        lines = file.read().decode("utf-8", errors="replace").splitlines()
    return tuple(line for line in lines if line.strip())[-_TAIL:]
