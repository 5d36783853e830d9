"""The formats of JavaScript test runners: our own reporters, asked for on the command line.

vitest, jest and mocha have no variable that names a reporter, so the suite's command gets more arguments at its end:
it must end in the runner's own arguments (``pnpm exec vitest run …``, ``npm test --``). Node's own runner is told by
``NODE_OPTIONS``, which reaches any command. Each reporter's first lines say how its ids are made; all write the lines
that :mod:`.outcomes` reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from nanobench.grading.interface import GRADE, OUT, REPORT, REPORTERS
from nanobench.sandbox.interface import WORKSPACE

_SHARED = "nanobench_lines.cjs"


@frozen(kw_only=True)
class JavaScript:
    """Outcomes from ``reporter``, a file of this package. ``arguments`` bring it in (``{}`` is where it is inside),
    and so may ``options``, which go into ``NODE_OPTIONS``. Files of this package may lie ``beside`` it."""

    reporter: str
    beside: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def prepare(self, folder: Path, env: Mapping[str, str]) -> dict[str, str]:
        """See :meth:`.interface.ReportFormat.prepare`."""
        for name in (_SHARED, *self.beside, self.reporter):
            (folder / name).write_bytes((REPORTERS / name).read_bytes())
        added = {"NANOBENCH_REPORT": f"{OUT}/{REPORT}", "NANOBENCH_ROOT": WORKSPACE}
        if self.options:
            before = env.get("NODE_OPTIONS")
            added["NODE_OPTIONS"] = " ".join([*([before] if before else []), *self._placed(self.options)])
        return added

    def command(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """See :meth:`.interface.ReportFormat.command`."""
        return (*argv, *self._placed(self.arguments))

    def _placed(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(part.format(f"{GRADE}/{self.reporter}") for part in parts)


VITEST = JavaScript(reporter="nanobench_vitest.mjs", arguments=("--bail=0", "--reporter=default", "--reporter={}"))
JEST = JavaScript(reporter="nanobench_jest.cjs", arguments=("--bail=0", "--reporters=default", "--reporters={}"))
MOCHA = JavaScript(reporter="nanobench_mocha.cjs", arguments=("--no-bail", "--reporter={}"))
NODE_TEST = JavaScript(
    reporter="nanobench_node.mjs",
    options=(
        *("--test-reporter=spec", "--test-reporter-destination=stdout"),
        *("--test-reporter={}", "--test-reporter-destination=stderr"),
    ),
)
