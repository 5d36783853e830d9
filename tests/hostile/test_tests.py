"""Test code that attacks its grader: what it does, and what is seen of it. Nothing is left behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.grading.locked import LockedArena
from nanobench.grading.suites import Grader
from nanobench.model.environment import Limits
from nanobench.model.result import SuiteEnd
from nanobench.model.task import Suite
from nanobench.sources.gitbox import Gitbox

HEAD = "import os, sys\nreport = '/nanobench/out/report.jsonl'\nout = os.path.dirname(report)\n"
DEEP = "for _ in range(2000):\n    os.mkdir('deep'); os.chdir('deep')\n"

Seen = Callable[[SuiteEnd], bool]


def damage(words: str) -> Seen:
    return lambda end: words in (end.damage or "")


def ended(how: str) -> Seen:
    return lambda end: (end.ended, end.damage) == (how, None)


NAMES = "for name in ['\\x1b[2J', '-rf', 'a\\nb', 'n' * 255]: open(out + '/' + name, 'w')"
FILLS = "file = open('big', 'wb')\nwhile True: file.write(bytes(1 << 24)); file.flush()"
ROWS: list[tuple[str, str, Seen]] = [
    ("2000 folders in each other beside the report", f"os.chdir(out)\n{DEEP}", ended("exited")),
    ("2000 folders in the workspace", DEEP, ended("exited")),
    ("closed folders", "os.makedirs(out + '/a/b'); os.chmod(out + '/a', 0)", ended("exited")),
    ("a folder for a report", "os.mkdir(report)", damage("not a regular file")),
    ("a pipe for a report", "os.mkfifo(report)", damage("not a regular file")),
    ("a link for a report", "os.symlink('/etc/passwd', report)", damage("a symbolic link")),
    (
        "a sparse gigabyte for a report",
        "open(report, 'w').truncate(1 << 30)",
        damage("not a regular file of at most"),
    ),
    ("blank lines for a report", "open(report, 'w').write('\\n' * 10**6)", damage("line 1 of the report")),
    ("odd names beside the report", NAMES, ended("exited")),
    ("a disk that fills", FILLS, ended("disk")),
    ("endless output", "while True: print('\\x1b]0;x\\x07' * 4096)", ended("disk")),
]

ON_DOCKER = (
    "2000 folders in each other beside the report",
    "closed folders",
    "a pipe for a report",
    "endless output",
)
"""Those in which the engine itself has a part; the others are about files that it leaves."""


@pytest.fixture
def attack(gitbox: Gitbox, workspace: Callable[[], Path], place: LockedArena) -> Callable[..., tuple[SuiteEnd, ...]]:
    """Runs deeds in one workspace, a suite each."""

    def run(*deeds: str) -> tuple[SuiteEnd, ...]:
        limits = Limits(memory_mib=1024, disk_mib=128, test_seconds=60)
        scratch, env = gitbox.scratch, place.arena.env
        grader = Grader(engine=gitbox.engine, layers=gitbox.layers, limits=limits, env=env, scratch=scratch)
        commands = [("python3", "-c", HEAD + deed) for deed in deeds]
        suites = [Suite(name=f"s{n}", language="python", format="pytest", command=c) for n, c in enumerate(commands)]
        tree = workspace()
        gitbox.engine.own(tree)
        ends = tuple(end for suite in suites for end in grader.grade(tree, suite).record.suite)
        assert os.listdir(scratch) == []
        return ends

    return run


@pytest.mark.parametrize(("deed", "seen"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_an_attack_of_test_code_ends_its_suite_and_nothing_else(
    attack: Callable[..., tuple[SuiteEnd, ...]], deed: str, seen: Seen
) -> None:
    (end,) = attack(deed)
    assert seen(end), end


@pytest.mark.parametrize("engine", ["docker"], indirect=True)
def test_attacks_one_after_the_other_on_docker(attack: Callable[..., tuple[SuiteEnd, ...]]) -> None:
    rows = [row for row in ROWS if row[0] in ON_DOCKER]
    for (name, _, seen), end in zip(rows, attack(*(row[1] for row in rows)), strict=True):
        assert seen(end), (name, end)
