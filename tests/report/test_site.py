"""The pages as bytes: what is in them, what bounds them, and what leaves nothing half-written."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from nanobench.bundle.read import Bundle
from nanobench.errors import Misuse, Refused
from nanobench.formats.digest import sha256_hex
from nanobench.model.lock import TaskLock
from nanobench.project.files import Project
from nanobench.report import site as module
from nanobench.report.detail import MOST_OF_CELL, MOST_STEPS, MOST_TEXT, Allowance, detail
from nanobench.report.rows import Row, gather, run_sha256
from nanobench.report.site import Site

Made = Callable[..., Bundle]


def written(bundle: Bundle, place: Path, project: Project | None = None) -> dict[str, str]:
    """Every page of the folder form, by its path."""
    Site([bundle], gather([bundle]), project).write_folder(place)
    return {path.relative_to(place).as_posix(): path.read_text() for path in place.rglob("*.html")}


def test_there_is_a_page_for_every_found_cell_and_every_link_leads_to_one(made: Made, tmp_path: Path) -> None:
    bundle = made(tasks=2, repeats=2, missing=(1,))
    pages = written(bundle, tmp_path / "site")
    hrefs = re.findall(r'href="(cells/[^"]+)"', pages["index.html"])
    assert sorted(hrefs) == sorted(set(pages) - {"index.html"}) and len(hrefs) == 7
    assert all('href="../../../index.html"' in pages[href] for href in hrefs)
    assert run_sha256(bundle) in pages["index.html"] and all(run_sha256(bundle) in pages[href] for href in hrefs)


def test_the_policy_allows_the_bytes_of_the_page_and_nothing_else(made: Made, tmp_path: Path) -> None:
    for page in written(made(tasks=1), tmp_path / "site").values():
        policy = html.unescape(re.findall(r'Content-Security-Policy" content="([^"]+)"', page)[0])
        assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "http" not in policy
        for kind in ("style", "script"):
            found = re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
            digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in found]
            allowed = re.findall(r"sha256-([A-Za-z0-9+/=]+)", policy.split(f"{kind}-src")[1].split(";")[0])
            assert digests == allowed
        assert not re.search(
            r"\sstyle=|\son[a-z]+=|https?://|//[a-z]", re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)
        )


def test_a_cell_shows_label_rule_level_tests_and_pins(made: Made, tmp_path: Path) -> None:
    bundle = made(tasks=6, skill={"small": 0.0, "large": 1.0}, repeats=3)
    pages = written(bundle, tmp_path / "site")
    failed = next(page for page in pages.values() if "<strong>hallucinated_api</strong>" in page)
    for expected in (
        "3: overlap, full failure, missing-symbol error",
        "4, content: what an error says, the least certain",
        "correct_file_wrong_function",
        "python|tests/test_a.py::test_reads",
        "<code>src/a.py</code> changed",
        "<code>src/b.py</code> not changed",
        'class="add">+    found = ',
        "task lock",
        "image manifest",
        "nanobench verify BUNDLE",
        "does not have the statement that was locked",
    ):
        assert expected in failed, expected
    assert any(
        "would match too" in page and "missing_cross_language_change (rule 6, level 1)" in page
        for page in pages.values()
    )
    assert any("Solved: every target test passes" in page for page in pages.values())


def test_the_statement_is_shown_where_the_project_has_the_one_that_was_locked(made: Made, tmp_path: Path) -> None:
    bundle = made(tasks=1)
    folder = tmp_path / "project/tasks/task-000"
    folder.mkdir(parents=True)
    (tmp_path / "project/environments").mkdir()
    (folder / "task.toml").write_text("")
    (folder / "statement.md").write_text("<em>Drop</em> trailing spaces.")
    (row, *_) = gather([bundle])
    project = Project(tmp_path / "project")
    lock: TaskLock = bundle.task_lock("task-000").value
    assert detail(row, bundle, lock, project).statement is None  # another one was locked
    locked = evolve(lock, source=evolve(lock.source, statement_sha256=sha256_hex(b"<em>Drop</em> trailing spaces.")))
    shown = detail(row, bundle, locked, project).statement
    assert shown is not None and (shown.text, shown.cut) == ("<em>Drop</em> trailing spaces.", False)


def test_huge_texts_are_cut_and_their_length_is_said(made: Made, tmp_path: Path) -> None:
    bundle = made(tasks=1, models=("m",), said="x" * 100_000)
    (page,) = (text for name, text in written(bundle, tmp_path / "site").items() if name != "index.html")
    assert f"Cut: {MOST_TEXT} of 100000 characters are shown." in page and len(page) < 120_000
    allowance = Allowance()
    shown = [allowance.show("y" * 10**6) for _ in range(100)]
    assert sum(len(part.text) for part in shown) == MOST_OF_CELL and all(part.length == 10**6 for part in shown)
    assert MOST_STEPS * 100 < MOST_OF_CELL


def test_long_names_of_tests_and_files_make_no_long_page(made: Made, tmp_path: Path) -> None:
    bundle = made(tasks=1, models=("m",), skill={"m": 0.0})
    (row,) = gather([bundle])
    assert row.result is not None
    lock: TaskLock = bundle.task_lock("task-000").value
    names = tuple(f"python|{number}{'n' * 10**6}" for number in range(3))
    lock = evolve(lock, tests=evolve(lock.tests, fail_to_pass=names))
    strange = evolve(row, result=evolve(row.result, files_changed=("src/" + "f" * 10**6,)))
    page = Site([bundle], [row], None)._article(detail(strange, bundle, lock, None), back="#")
    assert "python|1nnn" in page and "src/fff" in page and len(page) < 50_000


def test_an_existing_folder_is_left_alone_and_a_failure_leaves_nothing(made: Made, tmp_path: Path) -> None:
    bundle = made(tasks=1)
    place = tmp_path / "site"
    written(bundle, place)
    with pytest.raises(Misuse, match="already exists"):
        written(bundle, place)
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(Misuse, match="already exists"):
        written(bundle, tmp_path / "link")
    with pytest.raises(Misuse, match="is a folder"):
        Site([bundle], gather([bundle]), None).write_file(place)
    blob = bundle.root / f"blobs/sha256/{next(iter(gather([bundle]))).result.blobs.patch}"  # type: ignore[union-attr]
    blob.write_bytes(b"another patch")
    with pytest.raises(Refused, match="the manifest says"):
        written(bundle, tmp_path / "other")
    assert not list(tmp_path.glob("*other*"))


def test_a_single_file_takes_no_more_cells_than_a_browser_does(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = made(tasks=2)
    rows: tuple[Row, ...] = gather([bundle])
    Site([bundle], rows, None).write_file(tmp_path / "one.html")
    assert (tmp_path / "one.html").read_text().count("<article") == 4
    monkeypatch.setattr(module, "MOST_IN_A_FILE", 3)
    with pytest.raises(Misuse, match="4 cells; a single file holds at most 3"):
        Site([bundle], rows, None).write_file(tmp_path / "two.html")
    assert not (tmp_path / "two.html").exists()
