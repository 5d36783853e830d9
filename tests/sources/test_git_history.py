"""A small main line on a real server: what is counted, and what is looked into."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nanobench.sources.git_history import DAYS, history_of
from nanobench.sources.git_remote import Remote

DAY = 24 * 3600
FILES = {"pkg/__init__.py": "", "pkg/a.py": "from pkg import b\n", "pkg/b.py": "import pkg.c\n", "pkg/c.py": ""}


def test_changes_in_the_window_are_counted_and_the_newest_of_source_files_looked_into(
    forge: Any, serve: Any, tmp_path: Path
) -> None:
    last = forge.commit(FILES, message="long ago")
    days = (1, 2, DAYS + 10, DAYS + 20, DAYS + 30)
    for n, day in enumerate(days):
        last = forge.commit({**FILES, "docs/x.md": str(n)}, last, message="docs", at=day * DAY)
    changed = {**FILES, "docs/x.md": "4", "pkg/a.py": "from pkg import b\n\nx = 1\n", "web/d.ts": "import './e'\n"}
    side = forge.commit({**FILES, "pkg/c.py": "side"}, last, message="aside", at=(DAYS + 31) * DAY)
    merge = forge.commit(changed, last, side, message="merge", at=(DAYS + 32) * DAY)
    forge.ref("refs/heads/main", merge)
    for url in (forge.url, serve(forge.root)):
        where = tmp_path / str(len(list(tmp_path.iterdir())))
        found = history_of(merge, Remote(url=url, where="task.toml", say=lambda _: None), where)
        assert found is not None
        assert (found.days, found.changes) == (DAYS, 4)
        newest, first = found.sample[0], found.sample[-1:]
        assert newest.commit == merge
        assert (newest.languages, newest.changed, newest.read) == (("python", "typescript"), 2, 4)
        assert first == (newest,)


def test_a_history_that_breaks_off_is_not_known(forge: Any, tmp_path: Path) -> None:
    merge = forge.commit(FILES, "1" * 40, message="its parent is nowhere")
    forge.ref("refs/heads/main", merge)
    assert history_of(merge, Remote(url=forge.url, where="task.toml", say=lambda _: None), tmp_path / "w") is None
