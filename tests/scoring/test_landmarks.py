from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nanobench.model.label import Function, Landmarks
from nanobench.scoring.landmarks import landmarks, touched
from nanobench.sources.patch import sections

BASE = b"""\
import os


class Toy:
    def double(self, n):
        return n + n

    def half(self, n):
        return n // 2


def stay():
    return os.name
"""
GOLDEN = BASE.replace(b"self, n):\n        return n // 2", b"self, n, strict=False):\n        return n / 2")
MADE = b"def made():\n    return 1\n"


def patch(folder: Path, before: dict[str, bytes], after: dict[str, bytes]) -> bytes:
    """As the image's git writes it."""
    folder.mkdir()
    run = ["git", "-C", str(folder)]
    subprocess.run([*run, "init", "-q"], check=True)
    for files in (before, after):
        for name, content in files.items():
            (folder / name).write_bytes(content)
        subprocess.run([*run, "add", "--all"], check=True)
        who = ["-c", "user.name=x", "-c", "user.email=x@x"]
        subprocess.run([*run, *who, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    shown = ["diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "HEAD~1", "HEAD"]
    return subprocess.run([*run, *shown], check=True, capture_output=True).stdout


@pytest.fixture
def found(tmp_path: Path) -> Landmarks:
    base = {"toy.py": BASE, "new.py": b""}
    golden = patch(tmp_path / "golden", {"toy.py": BASE}, {"toy.py": GOLDEN, "new.py": MADE})
    return landmarks(base, golden=golden, asked=frozenset({"half", "test_half"}), languages=("python",))


def test_names_are_those_of_the_required_files_at_base(found: Landmarks) -> None:
    assert {"Toy", "double", "half", "os", "toy"} <= set(found.names)
    assert not {"strict", "made", "test_half"} & set(found.names)


def test_the_solution_introduces_what_it_adds_and_the_required_files_do_not_hold(found: Landmarks) -> None:
    assert {"strict", "made", "test_half"} <= set(found.introduced)
    assert not set(found.introduced) & set(found.names)


def test_functions_to_which_the_solution_gives_other_parameters_are_told(found: Landmarks) -> None:
    assert found.reshaped == ("half", "strict")


def test_the_functions_that_the_solution_changes_are_marked(found: Landmarks) -> None:
    lines = {path: [(f.first, f.last, f.changed) for f in functions] for path, functions in found.functions.items()}
    assert lines == {"new.py": [], "toy.py": [(5, 6, False), (8, 9, True), (12, 13, False)]}


def test_everything_is_sorted_so_that_all_cells_of_a_task_share_one_blob(found: Landmarks) -> None:
    assert list(found.names) == sorted(set(found.names))
    assert list(found.introduced) == sorted(set(found.introduced))
    assert list(found.functions) == sorted(found.functions)


@pytest.mark.parametrize(
    ("before", "after", "firsts"),
    [
        (b"return n + n", b"return 2 * n", [5]),
        (b"import os\n", b"import os\nimport sys\n", []),
        (b"return n + n\n", b"return n + n\n        # the end\n", [5]),
        (b"    def half(self, n):\n        return n // 2\n", b"", [8]),
        (BASE, b"", [5, 8, 12]),
        (b"n + n\n\n    def half(self, n):", b"n * 2\n\n    def half(self, m):", [5, 8]),
    ],
)
def test_a_function_is_touched_where_a_line_of_it_goes_or_one_comes_in_or_behind(
    tmp_path: Path, found: Landmarks, before: bytes, after: bytes, firsts: list[int]
) -> None:
    (part,) = sections(patch(tmp_path / "agent", {"toy.py": BASE}, {"toy.py": BASE.replace(before, after)}))
    assert sorted(f.first for f in touched(found.functions["toy.py"], part)) == firsts


def test_many_lines_and_many_functions_are_no_burden() -> None:
    functions = [Function(first=2 * n + 1, last=2 * n + 2, changed=False) for n in range(20_000)]
    head = b"diff --git a/x b/x\nindex " + b"0" * 40 + b".." + b"1" * 40 + b" 100644\n--- a/x\n+++ b/x\n"
    hunks = b"".join(b"@@ -%d +%d @@\n-a\n+b\n" % (n, n) for n in range(1, 80_001, 2))
    (part,) = sections(head + hunks)
    assert len(touched(functions, part)) == 20_000
