"""hermetic: the sandbox in which all other gates ran has no network, no privileges, and a read-only root."""

from __future__ import annotations

from nanobench.gates.interface import Case, Finding, judged
from nanobench.sandbox.interface import Request, SandboxLimits

_PROBE = """
set -u
for i in /sys/class/net/*; do [ -e "$i" ] && echo "interface ${i##*/}"; done
sed -n '3,$s/^ *\\([^:]*\\):.*/interface \\1/p' /proc/net/dev
[ "$(sed -n 2p /proc/net/route)" = "" ] && echo "routes none" || echo "routes some"
sed -n 's/^CapEff:[[:space:]]*/capabilities /p; s/^NoNewPrivs:[[:space:]]*/no_new_privileges /p' /proc/self/status
(: > /nanobench-probe) 2>/dev/null && echo "root writable" || echo "root read-only"
(: > /proc/sys/kernel/core_pattern) 2>/dev/null && echo "core_pattern writable" || echo "core_pattern closed"
echo "uid $(id -u) $(id -g)"
"""
_EXPECTED = [
    "capabilities 0000000000000000",
    "core_pattern closed",
    "interface lo",
    "no_new_privileges 1",
    "root read-only",
    "routes none",
    "uid 1000 1000",
]
_LIMITS = SandboxLimits(cpus=1, memory_mib=256, pids=64, disk_mib=64, seconds=60)


class HermeticGate:
    """Asks the sandbox from inside; every line of its answer must be the expected one."""

    name = "hermetic"

    def check(self, case: Case) -> Finding:
        """Run the probe in the task's image."""
        with case.bench.store.scratch("hermetic") as scratch:
            request = Request(
                layers=case.image.trees,
                argv=("/bin/sh", "-c", _PROBE),
                limits=_LIMITS,
                stdout=scratch / "out",
                stderr=scratch / "err",
                cwd="/",
                phase="hermetic",
            )
            case.bench.engine.run(request)
            found = sorted(set(request.stdout.read_text("utf-8", "replace").splitlines()))
        reasons = [f"expected {line!r}" for line in _EXPECTED if line not in found]
        reasons += [f"found {line!r}" for line in found if line not in _EXPECTED]
        return judged({"probe": found}, tuple(reasons), "the engine does not seal on this machine: nanobench doctor")
