"""What verification answers: named steps, each pass, fail or unknown, each reason with its place."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from nanobench.errors import CannotTell, MachineFailure, NanobenchError
from nanobench.model.lock import Verdict


@frozen(kw_only=True)
class Step:
    """One step's verdict. ``reasons`` explain everything that is not a pass."""

    name: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()


def step(name: str, problems: Iterable[str], open_questions: Iterable[str] = ()) -> Step:
    """Fail for any problem, else unknown for any open question, else pass."""
    against, unknown = tuple(problems), tuple(open_questions)
    verdict: Verdict = "fail" if against else "unknown" if unknown else "pass"
    return Step(name=name, verdict=verdict, reasons=against + unknown)


def exit_code(steps: Iterable[Step]) -> int:
    """1 for a definite no, 3 when something could not be told, 0 when all passed."""
    verdicts = {s.verdict for s in steps}
    return 1 if "fail" in verdicts else 3 if "unknown" in verdicts else 0


def sorted_out(errors: Iterable[NanobenchError]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Errors as problems (a definite no) and open questions (an input or the machine is missing), a reason each."""
    problems: list[str] = []
    questions: list[str] = []
    for error in errors:
        target = questions if isinstance(error, CannotTell | MachineFailure) else problems
        place = f"{error.where}: " if error.where else ""
        target += [f"{error.code}: {place}{error.message}", *(f"{error.code}: {detail}" for detail in error.details)]
        target += [f"{error.code}: → {error.hint}"] if error.hint else []
    return tuple(problems), tuple(questions)
