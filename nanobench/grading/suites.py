"""Run the suites of a task in the sealed sandbox; what became of every test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import evolve, field, frozen

from nanobench.errors import MachineFailure
from nanobench.grading.agreement import Agreed, agree
from nanobench.grading.canary import NONE, Canaries
from nanobench.grading.interface import GRADE, OUT, REPORT, ReportFormat
from nanobench.grading.javascript import JEST, MOCHA, NODE_TEST, VITEST
from nanobench.grading.outcomes import Report, read_report
from nanobench.grading.pytest import Pytest
from nanobench.grading.seal import KEY, draw_key
from nanobench.model.environment import Limits
from nanobench.model.result import Failure, GradingRecord, Outcome, SuiteEnd
from nanobench.model.task import Suite
from nanobench.sandbox.interface import WORKSPACE, Ended, Engine, Finished, Mount, Request, SandboxLimits
from nanobench.store.files import passing_folder

FORMATS: dict[str, ReportFormat] = {
    "pytest": Pytest(),
    "vitest": VITEST,
    "jest": JEST,
    "mocha": MOCHA,
    "node-test": NODE_TEST,
}
"""Every format that a task file can name."""


@frozen(kw_only=True)
class Grading:
    """``record`` is what is kept as the blob of outcomes, the same for the same behaviour; ``failures`` (by
    ``suite|node id``) and ``output`` (what the commands printed) are evidence and may differ from run to run.
    ``starved``: the suites whose time was up because the machine was busy, and how busy: then nothing is scored."""

    record: GradingRecord
    failures: dict[str, Failure]
    output: bytes
    starved: tuple[str, ...] = ()

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """``suite|node id`` → outcome."""
        return self.record.outcomes

    @property
    def disagreements(self) -> tuple[str, ...]:
        """Where the signals of a suite disagree, and how."""
        return tuple(f"{suite.name}: {suite.disagreement}" for suite in self.record.suite if suite.disagreement)

    def joined(self, other: Grading) -> Grading:
        """Both as one."""
        record = GradingRecord(
            schema=1,
            suite=(*self.record.suite, *other.record.suite),
            outcomes=self.outcomes | other.outcomes,
        )
        return Grading(
            record=record,
            failures=self.failures | other.failures,
            output=self.output + other.output,
            starved=self.starved + other.starved,
        )


@frozen(kw_only=True)
class Grader:
    """Where suites run: an engine, the image's unpacked layers, the locked limits and environment, how each report is
    read, what else is mounted, and a private directory of the host for what they print and report."""

    engine: Engine
    layers: tuple[Path, ...]
    limits: Limits
    env: Mapping[str, str]
    formats: Mapping[str, ReportFormat] = field(default=FORMATS)
    mounts: tuple[Mount, ...] = ()
    scratch: Path

    def grade(self, workspace: Path, suite: Suite, canaries: Canaries = NONE) -> Grading:
        """Run a suite in the workspace (writable, see :func:`nanobench.grading.apply.apply`).

        A command that fails, crashes, is stopped at a limit or is not there has the outcomes that it reported till
        then, as far as the signals agree; the other tests are simply not among them.

        Args:
            canaries: those that are in the workspace.

        Raises:
            MachineFailure: the sandbox could not be started, or the run was interrupted.
        """
        finished, report, output = self._run(workspace, suite)
        agreed = agree(finished, report, canaries)
        return Grading(
            record=GradingRecord(
                schema=1,
                suite=(_end(suite, finished, agreed),),
                outcomes={f"{suite.name}|{test}": outcome for test, outcome in agreed.report.outcomes.items()},
            ),
            failures={f"{suite.name}|{test}": failure for test, failure in agreed.report.failures.items()},
            output=canaries.hidden(output),
            starved=starved_in(suite.name, finished),
        )

    def command(self, workspace: Path, argv: tuple[str, ...], *, name: str, seconds: int) -> tuple[Finished, bytes]:
        """Run one command in the workspace: how it ended, and what it printed.

        Raises:
            MachineFailure: as :meth:`grade`.
        """
        with passing_folder(self.scratch, "tests-") as folder:
            request = self._request(argv, folder / "output", workspace, name=name, seconds=seconds)
            return self._finished(request)

    def _run(self, workspace: Path, suite: Suite) -> tuple[Finished, Report, bytes]:
        report_format = self.formats[suite.format]
        with passing_folder(self.scratch, "tests-") as work:
            (work / "grade").mkdir()
            (work / "out").mkdir()
            key = draw_key()
            (work / "out" / KEY).write_bytes(key)
            env = {**self.env, **report_format.prepare(work / "grade", self.env)}
            for folder in ("grade", "out"):
                self.engine.own(work / folder)
            mounts = (
                Mount(source=work / "grade", target=GRADE),
                Mount(source=work / "out", target=OUT, writable=True),
            )
            argv = report_format.command(suite.command)
            request = self._request(argv, work / "output", workspace, name=suite.name, seconds=suite.seconds)
            finished, output = self._finished(evolve(request, env=env, mounts=(*request.mounts, *mounts)))
            return finished, read_report(work / "out" / REPORT, key), output

    def _finished(self, request: Request) -> tuple[Finished, bytes]:
        finished = self.engine.run(request)
        if finished.ended is Ended.INTERRUPTED:
            raise MachineFailure("NB_INTERRUPTED", "interrupted", where=request.phase)
        return finished, request.stdout.read_bytes()

    def _request(self, argv: tuple[str, ...], output: Path, workspace: Path, *, name: str, seconds: int) -> Request:
        return Request(
            layers=self.layers,
            argv=argv,
            limits=SandboxLimits.of(self.limits, seconds=min(seconds, self.limits.test_seconds)),
            stdout=output,
            stderr=output,
            env=dict(self.env),
            mounts=(Mount(source=workspace, target=WORKSPACE, writable=True), *self.mounts),
            phase=f"tests:{name}",
        )


def starved_in(name: str, finished: Finished) -> tuple[str, ...]:
    """The words for :attr:`Grading.starved` about the command of this name, if it was."""
    return (f"{name}: {finished.starved}",) if finished.starved else ()


def _end(suite: Suite, finished: Finished, agreed: Agreed) -> SuiteEnd:
    return SuiteEnd(
        name=suite.name,
        exit_code=finished.exit_code,
        ended=finished.ended.value,
        complete=agreed.report.end is not None,
        damage=agreed.report.damage,
        vouched=agreed.vouched,
        disagreement=agreed.disagreement,
    )


NOTHING = Grading(record=GradingRecord(schema=1, suite=(), outcomes={}), failures={}, output=b"")
"""Of no suite."""
