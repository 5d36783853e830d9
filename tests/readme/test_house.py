"""The rooms keep their order: imports go down the table of docs/house.md. The source is read, nothing is imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "nanobench"
MODULE_LINES, FUNCTION_LINES = 400, 60
SOURCES = sorted(path for folder in ("nanobench", "benchmarks", "tests") for path in (ROOT / folder).rglob("*.py"))


def floors() -> list[tuple[str, ...]]:
    """The rooms of every line of the table, from the top."""
    section = (ROOT / "docs/house.md").read_text().partition("## Rooms\n")[2].partition("\n## ")[0]
    firsts = [line.split("|")[1] for line in section.splitlines() if line.startswith("|")][2:]
    return [tuple(re.findall(r"`(\w+)(?:/|\.py)`", first)) for first in firsts]


def room_of(module: str) -> str | None:
    """The room of a module of ours; None for the package itself and for others."""
    parts = module.split(".")
    return parts[1] if parts[0] == "nanobench" and len(parts) > 1 else None


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, by its full name, wherever in the file."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*above, *([node.module] if node.module else [])))
            yield from (f"{base}.{alias.name}" for alias in node.names)


def test_the_table_names_every_room() -> None:
    named = {room for floor in floors() for room in floor}
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} | {"errors"}
    assert named == rooms


def test_imports_go_down() -> None:
    height = {room: number for number, floor in enumerate(floors()) for room in floor}
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        own = room_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
        if own not in height:
            continue
        for module in imported(path):
            other = room_of(module)
            if other in height and other != own and height[other] <= height[own]:
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not wrong


def test_an_import_upwards_would_be_seen() -> None:
    file = PACKAGE / "store" / "files.py"
    assert set(map(room_of, imported(file))) >= {"errors"}
    height = {room: number for number, floor in enumerate(floors()) for room in floor}
    assert height["cli"] < height["runner"] == height["audit"] < height["store"] < height["model"] < height["errors"]


def test_no_module_is_too_long() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert not {name: length for name, length in lengths.items() if length > MODULE_LINES}


def test_no_function_of_the_program_is_too_long() -> None:
    assert not [f"{path}: {name}" for path in SOURCES for name, lines in functions(path) if lines > FUNCTION_LINES]


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Every function of a file of the program, and its lines, from its name to its end."""
    if path.is_relative_to(ROOT / "tests"):
        return
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or 0) - node.lineno + 1
