from __future__ import annotations

import re
import shlex
import subprocess
import sys
from typing import Any

import pytest

from nanobench import __version__

VERBS = (
    *("lock", "build", "fetch", "run", "verify", "compare", "shell", "doctor"),
    *("task check", "store gc", "store verify"),
)


def test_the_version_is_the_packages(nanobench: Any) -> None:
    assert nanobench("--version").out == f"nanobench {__version__}\n"


def test_no_verb_waits_for_libraries_that_few_need() -> None:
    loaded = "import nanobench.cli.main, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert not {"aiohttp", "docker", "jsonschema", "pypi_simple", "requests", "scipy.stats"} & set(
        done.stdout.split()
    )


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_with_an_example_that_it_would_take(nanobench: Any, verb: str) -> None:
    done = nanobench(*verb.split(), "--help", env={"COLUMNS": "80", "TERM": "dumb"})
    assert done.code == 0
    known = set(re.findall(r"--[a-z-]+", done.out.partition("Options")[2]))
    shown = re.split("Arguments|Options", done.out.partition("Examples:")[2])[0].split("\n")[:-1]
    examples = [line.strip().removeprefix("nanobench ") for line in shown if line.strip()]
    assert examples
    for example in examples:
        words = shlex.split(example.split(" -- ")[0])
        assert words[: len(verb.split())] == verb.split()
        assert {word for word in words if word.startswith("--")} <= known, example


def test_the_overview_names_every_verb_and_what_exit_codes_mean(nanobench: Any) -> None:
    done = nanobench("--help", env={"COLUMNS": "200"})
    for word in (*{verb.split()[0] for verb in VERBS}, "130 interrupted"):
        assert word in done.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-verb"],
        ["run", "--no-such-option"],
        ["run", "--repeats", "0"],
        ["run", "--jobs", "many"],
        ["verify"],
        ["store", "burn"],
        ["\x1b[31mred"],
        ["run", "--\x1b[31mred"],
    ],
)
def test_wrong_usage_is_exit_2_on_stderr_and_harmless_to_the_terminal(nanobench: Any, arguments: list[str]) -> None:
    done = nanobench(*arguments, env={"TERM": "dumb"})
    assert (done.code, done.out) == (2, "")
    assert "\x1b[31mred" not in done.err
    assert done.err.strip()
