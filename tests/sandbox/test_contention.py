"""Who is to blame when the time is up: the rule, and the accounts that it is asked with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.sandbox import neighbours
from nanobench.sandbox.contention import Share, starved
from nanobench.sandbox.neighbours import Neighbours, busy_ms
from nanobench.sandbox.processes import Load


def share(percent: int, *, cpus: int = 2) -> Share:
    return Share(cpus=cpus, wall_ms=10_000, others_ms=cpus * percent * 100)


@pytest.mark.parametrize(
    ("during", "after", "blamed"), [(51, 51, True), (51, 50, False), (50, 51, False), (0, 100, False), (99, 0, False)]
)
def test_others_must_have_most_of_it_while_it_runs_and_when_it_is_dead(during: int, after: int, blamed: bool) -> None:
    assert (starved(share(during), share(after)) is not None) is blamed


def test_the_words_have_the_numbers() -> None:
    assert starved(share(92), share(97)) == (
        "the machine was busy: of 2 CPUs for 10 s, others had 92 % while it had something to run, "
        "and 97 % still when it was stopped"
    )


@given(st.integers(1, 64), st.integers(0, 10**7), st.integers(-(10**9), 10**9), st.integers(0, 50))
def test_whatever_is_done_inside_a_machine_that_is_idle_afterwards_is_not_to_blame(
    cpus: int, wall_ms: int, others_ms: int, idle: int
) -> None:
    assert starved(Share(cpus=cpus, wall_ms=wall_ms, others_ms=others_ms), share(idle)) is None


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Callable[[Iterable[tuple[int, Load]]], int]:
    """The share of others, in per cent, of one CPU over a second for each look: what the CPU has done by then, and
    what the sandbox has."""

    def ask(looks: Iterable[tuple[int, Load]]) -> int:
        seen = list(looks)
        busy = iter([0, *(done for done, _ in seen)])
        monkeypatch.setattr(neighbours, "busy_ms", lambda _: next(busy))
        made = Neighbours({0})
        for _, load in seen:
            made.note(load)
        return made.during(1000 * len(seen)).percent

    return ask


def load(user: int, *, system: int = 0, ready: bool = True) -> Load:
    return Load(cpu_ms=user + system, user_ms=user, ready=ready)


@pytest.mark.parametrize(
    ("looks", "percent"),
    [
        pytest.param([(1000, load(1000)), (2000, load(2000))], 0, id="a busy loop has it all itself"),
        pytest.param([(1000, load(80)), (2000, load(160))], 92, id="a loop that gets little"),
        pytest.param([(1000, load(80, ready=False)), (2000, load(80, ready=False))], 46, id="it ran, and sleeps"),
        pytest.param([(1000, load(0, ready=False)), (2000, load(0, ready=False))], 0, id="it waits for no CPU"),
        pytest.param([(1000, load(0)), (2000, load(0))], 100, id="ready, and never let run"),
        pytest.param([(1000, load(3000)), (2000, load(6000))], 0, id="busy on its neighbours' CPUs too"),
        pytest.param([(0, load(0, system=900)), (0, load(0, system=1800))], 0, id="the kernel's work is nobody's"),
    ],
)
def test_what_it_does_itself_is_no_load_of_others(watched: Any, looks: list[tuple[int, Load]], percent: int) -> None:
    assert watched(looks) == percent


def test_where_the_kernel_counts_no_such_cpu_nobody_is_blamed() -> None:
    assert busy_ms({10**6}) == 0


def test_what_this_process_does_is_seen_on_its_cpu() -> None:
    assert busy_ms({0}) > 0
