"""The real npm of a pinned version, run by the pinned Node: it resolves, and runs no line of any package's code."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from nanobench.archives.reader import extract
from nanobench.ecosystems.npm_lockfile import Placed
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell, Refused
from nanobench.store.store import Store

SECONDS = 900
_NO_SOLUTION = re.compile(r"npm error code (E404|ETARGET|ERESOLVE|EBADENGINE|EBADPLATFORM|EINVALIDTAGNAME)")


@frozen(kw_only=True)
class Npm:
    """npm and Node, unpacked in ``work`` from verified blobs."""

    node: Placed
    npm: Placed
    store: Store
    online: Online
    work: Path

    def package_lock(
        self,
        dependencies: Mapping[str, str],
        *,
        optional: Mapping[str, str] | None = None,
        before: str,
        where: str,
    ) -> bytes:
        """The package-lock of a project that depends on exactly these packages (name → version or range).

        Args:
            optional: packages that may be missing where they do not fit.
            before: ``YYYY-MM-DD``; nothing published on or after that day (UTC) is chosen.

        Raises:
            Refused: ``NB_NPM_RESOLVE`` with npm's own words when there is no solution.
            CannotTell: ``NB_UNREACHABLE`` when the registry did not answer.
        """
        for placed, folder in ((self.node, "node"), (self.npm, "npm")):
            extract(self.store.blob(placed.digest), self.work / folder, where=placed.purl, strip=1)
        project = self.work / "project"
        project.mkdir()
        manifest = {"name": "closure", "version": "0.0.0", "private": True}
        manifest |= {"dependencies": dict(dependencies), "optionalDependencies": dict(optional or {})}
        (project / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
        self._install(project, before, where)
        return (project / "package-lock.json").read_bytes()

    def _install(self, project: Path, before: str, where: str) -> None:
        command = [str(self.work / "node/bin/node"), str(self.work / "npm/bin/npm-cli.js"), "install"]
        command += ["--package-lock-only", "--ignore-scripts", "--omit=dev", f"--before={before}T00:00:00.000Z"]
        try:
            done = subprocess.run(
                command,
                cwd=project,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CannotTell("NB_UNREACHABLE", f"npm was stopped after {SECONDS} seconds", where=where) from error
        if done.returncode != 0:
            raise _failure(done.stderr.decode("utf-8", "replace"), where)

    def _environment(self) -> dict[str, str]:
        registries = self.online.registries
        registry, bundle = registries.npm(), registries.ca_bundle()
        self.online.note(registry)
        # Nothing of the user's own npm configuration: only where packages come from.
        settings = {
            "registry": f"{registry}/",
            "userconfig": str(self.work / "userconfig"),
            "globalconfig": str(self.work / "globalconfig"),
            "prefix": str(self.work / "prefix"),
            "cache": str(self.work / "cache"),
            "lockfile_version": "3",
            "omit_lockfile_registry_resolved": "false",
            "loglevel": "error",
            **{name: "false" for name in ("audit", "fund", "update_notifier", "progress", "color")},
            **({"cafile": str(bundle)} if bundle else {}),
        }
        env = {f"npm_config_{name}": value for name, value in settings.items()}
        return (
            env
            | registries.proxies()
            | {"HOME": str(self.work), "PATH": "/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        )


def _failure(said: str, where: str) -> Refused | CannotTell:
    details = tuple(line for line in said.splitlines() if line.strip())[-12:]
    if _NO_SOLUTION.search(said):
        hint = "ask for other versions, or for a later date"
        return Refused("NB_NPM_RESOLVE", "npm finds no solution", where=where, details=details, hint=hint)
    hint = "check the network, the proxy and the npm registry"
    return CannotTell("NB_UNREACHABLE", "npm could not resolve", where=where, details=details, hint=hint)
