"""Resolve with the real uv: hermetic flags, the client's own index, and never a line of a package's code."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import tomli_w
from attrs import frozen
from packaging.pylock import Package as Locked
from packaging.pylock import Pylock, PylockValidationError
from packaging.requirements import Requirement
from uv import find_uv_bin

from nanobench.ecosystems.online import Online
from nanobench.ecosystems.py_requirements import Pin
from nanobench.ecosystems.py_target import Target
from nanobench.errors import CannotTell, NanobenchError, Refused
from nanobench.formats import toml

SECONDS = 600
_PATIENCE = ("UV_HTTP_TIMEOUT", "UV_HTTP_RETRIES")
_NEWEST_GLIBC = 40
"""The newest ``manylinux_2_N`` that uv knows as a platform."""


@frozen(kw_only=True)
class Static:
    """Dependencies of a source archive that were read, not computed: uv takes them instead of building it."""

    pin: Pin
    requires_dist: tuple[str, ...] = ()


@frozen(kw_only=True)
class Resolver:
    """uv for one target and one cut-off date (``YYYY-MM-DD``, that day included, UTC), working in ``work``."""

    online: Online
    work: Path
    target: Target
    exclude_newer: str | None

    def solve(
        self, requirements: Iterable[Requirement], *, sdists: Sequence[Static] = (), where: str
    ) -> tuple[Locked, ...]:
        """Wheels only, except for ``sdists``.

        Raises:
            Refused: ``NB_PYTHON_RESOLVE`` with uv's own words when there is no solution.
            CannotTell: ``NB_PYTHON_INDEX`` when the index did not answer.
        """
        flags = ["--only-binary", ":all:"]
        for static in sdists:
            flags += ["--no-binary", static.pin.name]
        return self._compile(requirements, sdists, flags, where)

    def look_up(self, pins: Sequence[Pin], *, where: str) -> tuple[Locked, ...]:
        """All files of exactly these versions, source archives too; what they depend on is not looked at."""
        requirements = [Requirement(f"{pin.name}=={pin.version}") for pin in pins]
        return self._compile(requirements, [Static(pin=pin) for pin in pins], ["--no-deps"], where)

    def _compile(
        self, requirements: Iterable[Requirement], statics: Iterable[Static], flags: Sequence[str], where: str
    ) -> tuple[Locked, ...]:
        asked, config = self.work / "requirements.in", self.work / "uv.toml"
        asked.write_text("".join(f"{r}\n" for r in requirements), encoding="utf-8")
        config.write_text(_config(statics), encoding="utf-8")
        done = self._run([*self._command(config), *flags, "--", str(asked)], where)
        if done.returncode != 0:
            raise _failure(done.returncode, done.stderr.decode(errors="replace"), where)
        found = _read(done.stdout, where)
        for package in found:
            for file in [*(package.wheels or ()), *([package.sdist] if package.sdist else ())]:
                self.online.note(file.url or "")
        return found

    def _run(self, command: Sequence[str], where: str) -> subprocess.CompletedProcess[bytes]:
        quiet, env = subprocess.DEVNULL, self._environment()
        try:
            return subprocess.run(
                command, env=env, cwd=self.work, stdin=quiet, capture_output=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise _failure(2, f"stopped after {SECONDS} seconds", where) from None

    def _command(self, config: Path) -> list[str]:
        glibc = min(int(self.target.glibc.split(".")[1]), _NEWEST_GLIBC)
        command = [find_uv_bin(), "pip", "compile", "--config-file", str(config), "--format", "pylock.toml"]
        command += ["--python", sys.executable, "--python-version", self.target.python]
        command += ["--python-platform", f"x86_64-manylinux_2_{glibc}", "--no-python-downloads"]
        command += ["--no-header", "--no-progress", "--color", "never", "--cache-dir", str(self.work / "uv-cache")]
        return command + (["--exclude-newer", self.exclude_newer] if self.exclude_newer else [])

    def _environment(self) -> dict[str, str]:
        registries = self.online.registries
        index, bundle = registries.pypi(), registries.ca_bundle()
        self.online.note(index)
        # UTC: uv reads a plain date in the local time zone.
        env = {"HOME": str(self.work), "TZ": "UTC", "LC_ALL": "C.UTF-8", "UV_DEFAULT_INDEX": index}
        env |= {name: registries.env[name] for name in _PATIENCE if registries.env.get(name)}
        return env | registries.proxies() | ({"SSL_CERT_FILE": str(bundle)} if bundle else {})


def _config(statics: Iterable[Static]) -> str:
    known = [{"name": s.pin.name, "version": s.pin.version, "requires-dist": list(s.requires_dist)} for s in statics]
    return tomli_w.dumps({"dependency-metadata": known} if known else {})


def _failure(code: int, said: str, where: str) -> NanobenchError:
    lines = tuple(line for line in said.strip().splitlines() if line)[-40:] or ("uv said nothing",)
    if code == 1:
        return Refused(
            "NB_PYTHON_RESOLVE",
            "uv found no solution among the wheels of the index",
            where=where,
            details=lines,
            hint="mend the versions or the date; a package without a wheel is taken only if its exact version is "
            'asked for ("name==version"), and is then built without network',
        )
    return CannotTell(
        "NB_PYTHON_INDEX",
        "uv could not ask the package index",
        where=where,
        details=lines,
        hint="check the network and the configured index (NANOBENCH_PYPI_INDEX names another)",
    )


def _read(data: bytes, where: str) -> tuple[Locked, ...]:
    try:
        return tuple(Pylock.from_dict(toml.foreign(data.decode())).packages)
    except (ValueError, PylockValidationError) as error:
        raise Refused("NB_PYTHON_RESOLVE", f"uv wrote no valid pylock.toml: {error}", where=where) from error
