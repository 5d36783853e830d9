"""Each defence of the grader alone holds an attack: without it, that attack is called right, or is not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from attrs import frozen

from nanobench.grading import agreement, apply, outcomes, trial
from nanobench.grading.canary import NONE
from nanobench.grading.pytest import Pytest
from nanobench.grading.suites import FORMATS
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


def raised(patch: pytest.MonkeyPatch) -> None:
    """Our reporter believes what a report says of a test that raised."""

    class Lax(Pytest):
        def prepare(self, folder: Path, env: Mapping[str, str]) -> dict[str, str]:
            variables = super().prepare(folder, env)
            reporter = folder / "nanobench_reporter.py"
            text = reporter.read_text()
            for part in ('hasattr(report, "nanobench_error")', "_raised.get((report.nodeid, report.when))"):
                assert part in text
                text = text.replace(part, "False")
            reporter.write_text(text)
            return variables

    patch.setitem(FORMATS, "pytest", Lax())


DEFENCES: dict[str, Defence] = {
    "lines of the report are sealed": Defence(sealed, "python", "what our reporter calls is patched: bytes"),
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
        lambda patch: patch.setattr(apply, "kind_of", lambda *_: "source"),
        "python",
        "conftest.py mends what the patch does not",
    ),
    "what steers tests is restored": Defence(
        lambda patch: patch.setattr(apply, "steers_tests", lambda *_: False),
        "python",
        "pyproject.toml loads a plugin that mends what the patch does not",
    ),
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
