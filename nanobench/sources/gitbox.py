"""The image's own git, run in a sandbox on a tree that may be hostile, with every setting neutral.

Nothing is taken from the tree's own configuration, hooks, attributes or filters. A script here is a file of this
package; what varies comes in as environment variables and input files, never as part of a command.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from nanobench.errors import MachineFailure, Refused
from nanobench.sandbox.interface import Ended, Engine, Finished, Mount, Request, SandboxLimits
from nanobench.sources.patch import MAX_BYTES
from nanobench.store.files import passing_folder

LIMITS = SandboxLimits(cpus=2, memory_mib=4096, pids=64, disk_mib=8192, seconds=600)

_SCRIPTS = Path(__file__).parent / "scripts"
_SETTINGS = {
    "core.attributesFile": "/dev/null",
    "core.autocrlf": "false",
    "core.excludesFile": "/dev/null",
    "core.fileMode": "true",
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.ignoreCase": "false",
    "core.logAllRefUpdates": "false",
    "core.precomposeUnicode": "false",
    # On a Linux file system only `.git` itself is special, and the walk before us removed every spelling of it.
    "core.protectHFS": "false",
    "core.protectNTFS": "false",
    "core.quotePath": "true",
    "core.symlinks": "true",
    "diff.ignoreSubmodules": "none",
    "diff.suppressBlankEmpty": "false",
    "gc.auto": "0",
    "index.threads": "1",
    "index.version": "2",
    "init.defaultObjectFormat": "sha1",
    "safe.directory": "*",
}
_DATE = "946684800 +0000"
_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_AUTHOR_NAME": "NanoBench",
    "GIT_AUTHOR_EMAIL": "nanobench@localhost",
    "GIT_AUTHOR_DATE": _DATE,
    "GIT_COMMITTER_NAME": "NanoBench",
    "GIT_COMMITTER_EMAIL": "nanobench@localhost",
    "GIT_COMMITTER_DATE": _DATE,
    "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
    **{f"GIT_CONFIG_KEY_{n}": key for n, key in enumerate(_SETTINGS)},
    **{f"GIT_CONFIG_VALUE_{n}": value for n, value in enumerate(_SETTINGS.values())},
}


@frozen(kw_only=True)
class Gitbox:
    """Where git runs: an engine, the unpacked layers that hold git and a shell, and a private directory of the host.

    ``scratch`` must be on a file system with room for what is staged; everything in it is removed again.
    """

    engine: Engine
    layers: tuple[Path, ...]
    scratch: Path
    limits: SandboxLimits = field(default=LIMITS)

    def run(
        self,
        script: str,
        *,
        mounts: tuple[Mount, ...],
        files: Mapping[str, bytes] | None = None,
        env: Mapping[str, str] | None = None,
        refusals: Mapping[int, tuple[str, str]] | None = None,
    ) -> bytes:
        """What the script printed.

        Args:
            script: a file of this package's ``scripts``.
            mounts: the trees it works on.
            files: input files by name, at ``/nanobench/in``.
            env: variables of the script.
            refusals: code and message of the script's own exit codes.

        Raises:
            Refused: ``NB_PATCH_BOUND`` when a limit stopped it, ``NB_GIT`` when git refused (details: its words).
        """
        with passing_folder(self.scratch, "git-") as work:
            request = self._request(work, script, mounts, files or {}, env or {})
            finished = self.engine.run(request)
            _check(script, finished, request.stderr, refusals or {})
            return request.stdout.read_bytes()

    def _request(
        self, work: Path, script: str, mounts: tuple[Mount, ...], files: Mapping[str, bytes], env: Mapping[str, str]
    ) -> Request:
        # Copies: the package itself may be closed to the user that runs inside.
        scripts = {path.name: path.read_bytes() for path in _SCRIPTS.iterdir()}
        for folder, content in (("git", scripts), ("in", files), ("out", {})):
            (work / folder).mkdir()
            for name, data in content.items():
                (work / folder / name).write_bytes(data)
            self.engine.own(work / folder)
        own = (
            Mount(source=work / "git", target="/nanobench/git"),
            Mount(source=work / "in", target="/nanobench/in"),
            Mount(source=work / "out", target="/nanobench/out", writable=True),
        )
        return Request(
            layers=self.layers,
            argv=("/bin/sh", f"/nanobench/git/{script}"),
            limits=self.limits,
            stdout=work / "stdout",
            stderr=work / "stderr",
            cwd="/",
            env={**_ENV, **env},
            mounts=(*own, *mounts),
            phase=f"git:{script.removesuffix('.sh')}",
            output_mib=MAX_BYTES >> 20,
        )


def _check(script: str, finished: Finished, stderr: Path, refusals: Mapping[int, tuple[str, str]]) -> None:
    where = f"git: {script}"
    if finished.ended is Ended.INTERRUPTED:
        raise MachineFailure("NB_INTERRUPTED", "interrupted", where=where)
    if finished.ended is not Ended.EXITED:
        raise Refused(
            "NB_PATCH_BOUND",
            f"stopped for its {finished.ended} limit (a difference of at most {MAX_BYTES >> 20} MiB is taken)",
            where=where,
        )
    if finished.exit_code != 0:
        code, message = refusals.get(
            finished.exit_code, ("NB_GIT", f"git in the image ended with {finished.exit_code}")
        )
        said = stderr.read_bytes()[-4000:].decode("utf-8", "replace").splitlines()
        raise Refused(code, message, where=where, details=tuple(said[-12:]))
