"""What the texts say of the program is true: names, tables and links that they use exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

from nanobench.gateway.scripted.behaviours import BEHAVIOURS
from nanobench.model.label import Label
from nanobench.model.lock import LOCK_REVISION, LOCK_VERSION, RECIPE
from nanobench.project.stale import REVISION_GATES
from nanobench.scoring.causes import POLICIES, Denominator

ROOT = Path(__file__).parents[2]
CODES = re.compile(r"\bNB_[A-Z0-9_]+\b")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
FILE = re.compile(r"`((?:[\w-]+/)+[\w.-]+\.\w+)`")
SVG = "{http://www.w3.org/2000/svg}"


def rows(text: str, heading: str) -> Iterator[tuple[str, ...]]:
    """The rows of the first table under a heading."""
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield tuple(cell.strip() for cell in line.strip("|").split("|"))


def test_every_link_leads_somewhere(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        for target in LINK.findall(text):
            assert (ROOT / name).parent.joinpath(target).exists(), f"{name}: {target}"


def test_every_file_that_is_named_exists(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        for path in FILE.findall(text):
            made = path.startswith(("runs/", "cells/", "tasks/unidiff-again", "locks/unidiff-again"))
            assert made or (ROOT / path).exists() or (ROOT / "nanobench" / path).exists(), f"{name}: {path}"


def test_every_code_is_one_of_the_programs(texts: dict[str, str]) -> None:
    known = set(CODES.findall("".join(path.read_text() for path in (ROOT / "nanobench").rglob("*.py"))))
    for name, text in texts.items():
        assert set(CODES.findall(text)) <= known, name


def test_every_test_that_shows_a_claim_exists(texts: dict[str, str]) -> None:
    named = TEST.findall(texts["docs/security.md"])
    assert len(named) > 20
    for path, test in named:
        tree = ast.parse((ROOT / path).read_text())
        assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, f"{path}::{test}"


def test_the_rules_name_the_gates_of_the_current_revision(texts: dict[str, str]) -> None:
    named = [gate for gate, _ in rows(texts["docs/rules.md"], f"Gates of revision {LOCK_REVISION}")]
    assert tuple(named) == REVISION_GATES[LOCK_REVISION]


def test_the_rules_tell_the_policy_of_every_cause(texts: dict[str, str]) -> None:
    told = {}
    for causes, owner, tries, scored, counted in rows(texts["docs/rules.md"], "Causes"):
        for cause in re.findall(r"`(\w+)`", causes):
            told[cause] = (owner, int(tries), scored == "yes", counted.strip("`"))
    assert told == {c.value: (p.owner, p.retries, p.scored, p.denominator) for c, p in POLICIES.items()}


def test_the_rules_name_the_steps_of_verification(texts: dict[str, str]) -> None:
    section = texts["docs/rules.md"].partition("## Verification\n")[2]
    assert re.findall(r"^\d\. \*\*(\w+)\*\*", section, re.MULTILINE) == steps_of_verification()


def steps_of_verification() -> list[str]:
    """The names of the steps in the order of the code: first arguments of ``step`` and ``_step`` in ``verify``."""
    tree = ast.parse((ROOT / "nanobench/audit/verify.py").read_text())
    (verify,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "verify")
    (last,) = (node for node in verify.body if isinstance(node, ast.Return))
    calls = [call for call in ast.walk(last) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)]
    named = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id in ("step", "_step")]
    return [
        argument.value for argument in named if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def test_the_providers_tell_every_scripted_behaviour(texts: dict[str, str]) -> None:
    told = [name.strip("`") for name, _ in rows(texts["docs/providers.md"], "Without a model")]
    assert told == list(BEHAVIOURS)


def test_the_house_tells_the_versions_of_locks(texts: dict[str, str]) -> None:
    now = [cells[2] for cells in rows(texts["docs/house.md"], "What lies on disk") if "lock.toml" in cells[0]]
    assert now == [f"version {LOCK_VERSION}, revision {LOCK_REVISION}, recipe {RECIPE}"]


def test_the_picture_is_one_file_for_narrow_screens_in_light_and_dark() -> None:
    text = (ROOT / "docs/overview.svg").read_text()
    tree = ElementTree.fromstring(text)
    assert tree.attrib["viewBox"].split()[2] == "360"
    assert tree.find(f"{SVG}title") is not None and tree.find(f"{SVG}desc") is not None
    assert "prefers-color-scheme: dark" in text
    assert "href" not in text and "<script" not in text and "url(http" not in text
    sizes = [float(size) for size in re.findall(r"([\d.]+)px", text)]
    assert min(sizes) >= 11


def test_every_label_and_every_class_that_is_not_the_agents_is_explained(texts: dict[str, str]) -> None:
    first = "".join(re.findall(r"^\| (`[^|]*) \|", texts["docs/why-it-failed.md"], re.MULTILINE))
    classes = set(Denominator) - {Denominator.VALID}
    assert sorted(re.findall(r"`(\w+)`", first)) == sorted((*get_args(Label), *classes))
