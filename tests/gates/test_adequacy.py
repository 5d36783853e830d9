"""A toy solution of two hunks, of which its tests see one or both; the broken solutions are graded for real."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from nanobench.gates.adequacy import AdequacyGate, mutants
from nanobench.gates.interface import Case
from nanobench.sources.patch import sections
from nanobench.sources.variants import left_out

GAP = "".join(f"# {n}\n" for n in range(9))
BASE = {"shop.py": f"def price():\n    return 1\n\n{GAP}\ndef open_at(hour):\n    return True\n"}
SOLUTION = {"shop.py": f"def price():\n    return 2\n\n{GAP}\ndef open_at(hour):\n    return hour >= 8\n"}
ONE = "import shop\n\ndef test_price():\n    assert shop.price() == 2\n"
BOTH = ONE + "\ndef test_hours():\n    assert shop.open_at(8) and not shop.open_at(7)\n"


def test_what_no_test_notices_is_listed_and_a_test_for_it_helps(toy_case: Any) -> None:
    finding = AdequacyGate().check(toy_case(BASE, SOLUTION, {"tests/test_shop.py": ONE}))
    assert finding.verdict == "pass"
    assert finding.evidence == {
        "hunks": 2,
        "mutations": 2,
        "tried": 4,
        "noticed": 2,
        "hunks_unnoticed": ["shop.py:12"],
        "mutations_unnoticed": ["shop.py:15: return hour >= 8 → return hour < 8"],
        "unclear": [],
        "warnings": [
            "the target tests notice 2 of 4 broken solutions",
            "shop.py:12: no target test notices a missing hunk",
            "shop.py:15: return hour >= 8 → return hour < 8: no target test notices",
        ],
    }
    better = AdequacyGate().check(toy_case(BASE, SOLUTION, {"tests/test_shop.py": BOTH}))
    assert (better.evidence["noticed"], better.warnings) == (4, ())


def test_the_broken_solutions_are_bounded_and_the_same_everywhere(case: Case) -> None:
    known = (case.change.golden, case.arena.workspace, case.task.paths)
    hunks, wrong = list(left_out(*known)), list(mutants(case))
    assert hunks == list(left_out(*known))
    assert len({variant.patch for variant in (*hunks, *wrong)}) == len(hunks) + len(wrong)
    for variant in (*hunks, *wrong):
        assert variant.patch != case.change.golden
        sections(variant.patch)


def test_a_question_has_nothing_to_leave_out(case: Case) -> None:
    change = evolve(case.change, golden=b"")
    finding = AdequacyGate().check(evolve(case, change=change))
    assert (finding.evidence["tried"], finding.warnings) == (0, ())
