"""Each defence of the grader alone holds an attack: without it, that attack is called right, or is not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from nanobench.grading import agreement, apply, outcomes, trial
from nanobench.grading.canary import NONE
from nanobench.grading.pytest import Pytest
from nanobench.grading.suites import FORMATS
from nanobench.model.result import Outcome
from nanobench.selftest.suite import Result

Off = Callable[[pytest.MonkeyPatch], None]


@frozen
class Defence:
    """How it is switched off, the attack that it holds, and what that comes to without it."""

    off: Off
    toy: str
    attack: str
    without: str = "resolved"


def sealed(patch: pytest.MonkeyPatch) -> None:
    """Lines are believed whatever their seals are."""
    bare = lambda data, _: (b"".join(line[65:] for line in data.splitlines(keepends=True)), None)  # noqa: E731
    patch.setattr(outcomes, "unsealed", bare)


def lax(patch: pytest.MonkeyPatch, **parts: str) -> None:
    """Our reporter without parts of it, each named by its text."""

    class Lax(Pytest):
        def prepare(self, folder: Path, env: Mapping[str, str]) -> dict[str, str]:
            variables = super().prepare(folder, env)
            reporter = folder / "nanobench_reporter.py"
            text = reporter.read_text()
            for part, instead in parts.items():
                assert part in text
                text = text.replace(part, instead)
            reporter.write_text(text)
            return variables

    patch.setitem(FORMATS, "pytest", Lax())


def raised(patch: pytest.MonkeyPatch) -> None:
    """Our reporter believes what a report says of a test that raised."""
    believed = ('hasattr(report, "nanobench_error")', "_raised.get((report.nodeid, report.when))")
    lax(patch, **dict.fromkeys(believed, "False"))


def last(reading: Any, test: str, outcome: Outcome, _: Any) -> None:
    """Of several reports of a test the last one counts."""
    reading.outcomes[test] = outcome


def restoring(patch: pytest.MonkeyPatch) -> None:
    """Only what the lock's tests write is restored."""
    steering(patch)
    patch.setattr(apply, "kind_of", lambda *_: "source")


def steering(patch: pytest.MonkeyPatch) -> None:
    """What steers tests is graded as the patch leaves it."""
    patch.setattr(apply, "steers_tests", lambda *_: False)


DEFENCES: dict[str, Defence] = {
    "lines of the report are sealed": Defence(sealed, "python", "what our reporter calls is patched: bytes"),
    "the key of the seals is gone before the project is loaded": Defence(
        lambda patch: lax(patch, **{"os.unlink(beside)": "pass"}),
        "python",
        "the key of the seals is looked for",
        "grader_tampered",
    ),
    "of several reports of a test the worst counts": Defence(
        lambda patch: patch.setattr(outcomes._Reading, "_record", last),
        "python",
        "our reporter is made to say afterwards that tests passed whose names are known",
    ),
    "a test that raised has not passed": Defence(
        raised, "python", "a hook rewrites the outcomes of tests whose names it knows"
    ),
    "canaries must fail": Defence(
        lambda patch: patch.setattr(trial, "place", lambda *_: NONE),
        "python",
        "the runner's class is patched: no test is run",
    ),
    "canaries in every process of the runner": Defence(
        lambda patch: patch.setattr(trial, "place", lambda *_: NONE), "typescript", "assertions are patched"
    ),
    "passes count where the canaries spoke": Defence(
        lambda patch: patch.setattr(agreement, "_spoke", lambda *_: True),
        "python",
        "tests pass unseen, but for the canaries, which come last and never end",
    ),
    "the exit status": Defence(
        lambda patch: patch.setattr(agreement, "_disagreement", lambda *_, **__: None),
        "python",
        "os._exit(0) when imported",
        "failed",
    ),
    "tests and their configuration are restored": Defence(
        restoring,
        "python",
        "conftest.py mends what the patch does not",
    ),
    "what steers tests is restored": Defence(
        steering, "python", "pyproject.toml loads a plugin that mends what the patch does not"
    ),
    **{
        f"what steers tests is restored: {attack}": Defence(steering, "python", attack, "grader_tampered")
        for attack in (
            "an entry point in planted metadata",
            "planted metadata, in capitals",
            "planted metadata, behind a link",
        )
    },
}


@pytest.mark.parametrize("name", DEFENCES)
def test_a_defence_alone_holds_an_attack(
    name: str, attack: Callable[[str, str], Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    defence = DEFENCES[name]
    held = attack(defence.toy, defence.attack)
    assert held.held, held
    defence.off(monkeypatch)
    without = attack(defence.toy, defence.attack)
    assert (without.got, without.held) == (defence.without, False), without
