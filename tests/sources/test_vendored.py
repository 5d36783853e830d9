from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.errors import CannotTell, Refused
from nanobench.model.fixture import LockedFiles, VendoredFile
from nanobench.model.task import PathRules
from nanobench.sources.vendored import Vendored
from nanobench.sources.vendored_files import MAX_BYTES, MAX_ENTRIES, read_files
from nanobench.sources.workspace import EPOCH
from nanobench.store.store import Store

Plant = Callable[[dict[str, str]], Path]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    """A task's folder with these files."""

    def make(files: dict[str, str]) -> Path:
        folder = tmp_path / "tasks/x"
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return folder

    return make


FIXTURE = {
    "task.toml": "not of the fixture",
    "base/README.md": "readme\n",
    "base/src/a.py": "old\n",
    "solution/src/a.py": "new\n",
    "solution/src/deep/b.py": "b\n",
    "tests/tests/test_a.py": "test\n",
    "answer.txt": "src/a.py\n",
}


def source_of(folder: Path, *, rules: PathRules | None = None) -> Vendored:
    files = read_files(folder, where="tasks/x")
    pins = LockedFiles(file=tuple(file for file, _ in files.values()))
    return Vendored(files=pins, rules=rules or PathRules(), folder=folder, where="tasks/x")


def contents(tree: Path) -> dict[str, str]:
    return {p.relative_to(tree).as_posix(): p.read_text() for p in sorted(tree.rglob("*")) if p.is_file()}


def test_the_solution_is_the_base_with_solution_and_tests_laid_over_it(plant: Plant, tmp_path: Path) -> None:
    folder = plant(FIXTURE)
    (folder / "base/run.sh").write_text("#!/bin/sh\n")
    (folder / "base/run.sh").chmod(0o700)
    source, store = source_of(folder), Store(tmp_path / "store")
    source.keep(store)
    (tmp_path / "work").mkdir()
    trees = source.stage(store.blob, tmp_path / "work")
    base = {"README.md": "readme\n", "run.sh": "#!/bin/sh\n", "src/a.py": "old\n"}
    assert contents(trees.base) == base
    assert contents(trees.solution) == {
        **base,
        "src/a.py": "new\n",
        "src/deep/b.py": "b\n",
        "tests/test_a.py": "test\n",
    }
    assert trees.dropped == ()
    assert source.answer(store.blob) == "src/a.py"
    facts = (trees.base / "run.sh").stat()
    assert (facts.st_mode & 0o777, facts.st_mtime) == (0o755, EPOCH)


def test_what_is_pinned_depends_on_paths_contents_and_the_owners_x_bit_alone(plant: Plant) -> None:
    folder = plant(FIXTURE)
    before = read_files(folder, where="tasks/x")
    assert list(before) == sorted(set(FIXTURE) - {"task.toml"})
    (folder / "base/empty/folders").mkdir(parents=True)  # git does not keep them
    (folder / "base/src/a.py").chmod(0o664)
    os.utime(folder / "base/src/a.py", (1, 1))
    assert read_files(folder, where="tasks/x") == before
    (folder / "base/src/a.py").chmod(0o744)
    changed = read_files(folder, where="tasks/x")
    assert [path for path in before if before[path] != changed[path]] == ["base/src/a.py"]


def test_files_come_from_the_store_or_the_folder_and_a_changed_folder_is_refused(
    plant: Plant, tmp_path: Path
) -> None:
    folder = plant(FIXTURE)
    source = source_of(folder)
    full, empty = Store(tmp_path / "full"), Store(tmp_path / "empty")
    source.keep(full)
    nowhere = Vendored(files=source.files, rules=PathRules(), folder=None, where="tasks/x")
    nowhere.keep(full)
    with pytest.raises(CannotTell) as unknown:
        nowhere.keep(empty)
    assert unknown.value.code == "NB_VENDORED_MISSING"
    (folder / "tests/tests/test_a.py").write_text("tesT\n")
    source.keep(full)
    with pytest.raises(Refused) as refused:
        source.keep(empty)
    assert (refused.value.code, refused.value.where) == ("NB_VENDORED_DIFFERS", "tasks/x/tests/tests/test_a.py")


def links(folder: Path) -> None:
    (folder / "base/link").symlink_to("/etc/passwd")


def linked_folder(folder: Path) -> None:
    (folder / "base/linked").symlink_to("/etc")


def linked_top(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "solution").rename(folder / "was")
    (folder / "solution").symlink_to("elsewhere")


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "tests/pipe")


def answer_is_a_folder(folder: Path) -> None:
    (folder / "answer.txt").unlink()
    (folder / "answer.txt").symlink_to("/dev/zero")


def line_in_a_name(folder: Path) -> None:
    (folder / "base/two\nlines").write_text("")


def latin_name(folder: Path) -> None:
    (Path(os.fsdecode(os.fsencode(folder) + b"/base/\xe9"))).write_text("")


def huge(folder: Path) -> None:
    with (folder / "base/huge").open("wb") as file:
        file.truncate(MAX_BYTES + 1)


def crowd(folder: Path) -> None:
    for number in range(MAX_ENTRIES):
        (folder / f"base/{number}").mkdir()


def deep(folder: Path) -> None:
    path = folder / "base" / ("d" * 250) / ("e" * 250)
    path.mkdir(parents=True)
    (path / "file").write_text("")


def no_base(folder: Path) -> None:
    (folder / "base").rename(folder / "bases")


@pytest.mark.parametrize(
    ("spoil", "place"),
    [
        (links, "base/link"),
        (linked_folder, "base/linked"),
        (linked_top, "solution"),
        (pipe, "tests/pipe"),
        (answer_is_a_folder, "answer.txt"),
        (line_in_a_name, "base/two\\nlines"),
        (latin_name, "base/\\udce9"),
        (huge, "base/huge"),
        (crowd, ""),
        (deep, "base/" + "d" * 192 + "..."),
        (no_base, "base"),
    ],
)
def test_what_no_fixture_holds_is_refused_at_its_place(
    plant: Plant, spoil: Callable[[Path], None], place: str
) -> None:
    folder = plant(FIXTURE)
    spoil(folder)
    with pytest.raises(Refused) as refused:
        read_files(folder, where="tasks/x")
    assert (refused.value.code, refused.value.where) == ("NB_VENDORED", f"tasks/x/{place}".rstrip("/"))


def test_every_file_in_the_wrong_folder_is_named_and_the_tasks_rules_decide(plant: Plant) -> None:
    folder = plant({**FIXTURE, "tests/check.ts": "", "solution/tests/test_b.py": ""})
    with pytest.raises(Refused) as refused:
        source_of(folder)
    assert refused.value.details == (
        "solution/tests/test_b.py: a test by the path rules",
        "tests/check.ts: no test by the path rules",
    )
    source_of(folder, rules=PathRules(test=("check.ts",), source=("tests/test_b.py",)))


@pytest.mark.parametrize("answer", ["", "two\nlines", "`quoted`", "a sentence.", "x" * 1001])
def test_an_answer_is_one_plain_line(plant: Plant, tmp_path: Path, answer: str) -> None:
    source, store = source_of(plant({**FIXTURE, "answer.txt": answer})), Store(tmp_path / "store")
    source.keep(store)
    with pytest.raises(Refused) as refused:
        source.answer(store.blob)
    assert refused.value.where == "tasks/x/answer.txt"


CLASHES = [("base/a", "base/a/b"), ("base/a/b", "solution/a"), ("base/a", "base/b/"), ("base/" + "x" * 256,)]


def test_a_lock_whose_paths_clash_or_lead_to_a_repository_makes_no_such_tree(plant: Plant, tmp_path: Path) -> None:
    folder = plant({"base/a": "", "base/b/c": ""})
    source, store = source_of(folder), Store(tmp_path / "store")
    source.keep(store)
    one = source.files.file[0]

    def lay(*paths: str) -> Vendored:
        files = [VendoredFile(path=path, mode="0644", digest=one.digest, size=one.size) for path in paths]
        return Vendored(files=LockedFiles(file=tuple(files)), rules=PathRules(), folder=None, where="tasks/x")

    for number, paths in enumerate(CLASHES):
        work = tmp_path / str(number)
        work.mkdir()
        with pytest.raises(Refused) as refused:
            lay(*paths).stage(store.blob, work)
        assert refused.value.code == "NB_VENDORED"
    (tmp_path / "git").mkdir()
    trees = lay("base/.git/config", "base/a").stage(store.blob, tmp_path / "git")
    assert contents(trees.base) == {"a": ""}
