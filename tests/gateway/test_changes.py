"""What scripts make of a solution, on a small project of two languages; a rehearsal is told its outcome."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from nanobench.errors import Refused
from nanobench.gateway.scripted import changes
from nanobench.gateway.scripted.scene import Scene, Worth
from nanobench.model.task import PathRules
from nanobench.sources.change import split

PYTHON = '''"""Shop."""


def price(item):
    """What it costs."""
    return 1


def unused(): return 2
'''
TYPESCRIPT = (
    "export function price(item: string): number {\n  return 1;\n}\n\nexport const twice = (n: number) => 2 * n;\n"
)
BASE = {"shop.py": PYTHON, "shop.ts": TYPESCRIPT, "other.py": "def other():\n    return 0\n", "notes.txt": "notes\n"}
SOLUTION = {"shop.py": PYTHON.replace("return 1", "return 3"), "shop.ts": TYPESCRIPT.replace("return 1", "return 3")}
NOTHING = Worth(passed=0, targets=4, broken=0)


def git(root: Path, *arguments: str, given: bytes | None = None) -> bytes:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments]
    done = subprocess.run(command, cwd=root, input=given, capture_output=True, check=False)
    assert done.returncode == 0, (done.stderr, given)
    return done.stdout


def lay(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (root / name).write_text(content)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    root = tmp_path / "project"
    root.mkdir()
    lay(root, BASE)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "base")
    lay(root, {**SOLUTION, "test_shop.py": "import shop\n"})
    git(root, "add", "-A")
    patch = git(root, "diff", "--cached", "--binary", "--full-index", "--no-renames")
    git(root, "reset", "-q", "--hard")
    change = split(patch, PathRules(), where="patch")
    return Scene(
        change=change,
        base=root,
        rules=PathRules(),
        required=("shop.py", "shop.ts"),
        targets={"python": 3, "typescript": 1},
        worth=lambda _: NOTHING,
    )


@pytest.fixture
def changed(scene: Scene) -> Callable[[bytes], dict[str, str]]:
    """What a patch makes of the base, by git: the files that are another."""

    def apply(patch: bytes) -> dict[str, str]:
        git(scene.base, "apply", "--whitespace=nowarn", "-", given=patch)
        names = git(scene.base, "ls-files", "-o", "-m").decode().split()
        files = {name: (scene.base / name).read_text() for name in names}
        git(scene.base, "reset", "-q", "--hard")
        git(scene.base, "clean", "-qfd")
        return files

    return apply


def test_a_statement_stands_first_in_every_function_of_the_solution(
    scene: Scene, changed: Callable[[bytes], dict[str, str]]
) -> None:
    files = changed(changes.with_unknown_call(scene))
    python = SOLUTION["shop.py"].replace("    return 3", "    load_project_defaults()\n    return 3")
    assert files == {
        "shop.py": python.replace("return 2", "load_project_defaults(); return 2"),
        "shop.ts": SOLUTION["shop.ts"].replace("number {", "number { loadProjectDefaults();"),
    }
    assert changed(changes.with_mistyped_call(scene))["shop.py"].count("len(0)") == 2
    assert changed(changes.with_exit(scene))["shop.ts"].count("process.exit(0);") == 1


def test_a_function_that_is_nowhere_is_nowhere(scene: Scene) -> None:
    taken = evolve(scene, change=evolve(scene.change, test=b"load_project_defaults"))
    assert b"+    load_project_defaults_()" in changes.with_unknown_call(taken)


def test_a_comment_and_a_file_elsewhere_change_nothing_that_matters(
    scene: Scene, changed: Callable[[bytes], dict[str, str]]
) -> None:
    assert changed(changes.comment(scene)) == {"shop.py": f"{PYTHON}# Looked at; nothing here has to change.\n"}
    (other,) = changed(changes.elsewhere(scene))
    assert other not in BASE


def test_one_language_is_that_with_the_fewest_target_tests(
    scene: Scene, changed: Callable[[bytes], dict[str, str]]
) -> None:
    assert changed(changes.one_language(scene)) == {"shop.ts": SOLUTION["shop.ts"]}
    with pytest.raises(Refused, match="two languages"):
        changes.one_language(evolve(scene, targets={"python": 3}))


def test_half_is_what_passes_half(scene: Scene, changed: Callable[[bytes], dict[str, str]]) -> None:
    def worth(patch: bytes) -> Worth:
        return Worth(passed=3 if b"shop.py" in patch else 1, targets=4, broken=0)

    assert changed(changes.half(evolve(scene, worth=worth))) == {"shop.py": SOLUTION["shop.py"]}
    with pytest.raises(Refused, match="fewer than half") as caught:
        changes.half(scene)
    assert caught.value.code == "NB_PART"


def test_a_regression_breaks_a_function_that_no_target_needs(
    scene: Scene, changed: Callable[[bytes], dict[str, str]]
) -> None:
    def worth(patch: bytes) -> Worth:
        return Worth(passed=4, targets=4, broken=b"other.py" in patch)

    files = changed(changes.regression(evolve(scene, worth=worth)))
    assert files.pop("other.py").startswith("def other():\n    raise RuntimeError(")
    assert files == SOLUTION
    with pytest.raises(Refused, match="no function"):
        changes.regression(scene)


def test_a_task_without_code_is_told(scene: Scene) -> None:
    text = evolve(scene, required=("notes.txt",))
    for change in (changes.comment, changes.with_unknown_call, changes.with_exit):
        with pytest.raises(Refused) as caught:
            change(text)
        assert caught.value.code == "NB_PART"


def test_what_does_not_parse_is_left_alone(scene: Scene) -> None:
    (scene.base / "other.py").write_text("def other(:\n    return\n")
    with pytest.raises(Refused, match="holds a function"):
        changes.with_unknown_call(evolve(scene, required=("other.py",)))
