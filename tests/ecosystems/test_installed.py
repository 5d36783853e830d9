from __future__ import annotations

import os
from pathlib import Path

import pytest

from nanobench.archives.entries import Entry
from nanobench.ecosystems.installed import snapshot, stamped, tidied
from nanobench.errors import Refused

EPOCH = 1_000_000_000
INFO = "lib/python3.11/site-packages/a-1.dist-info"


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    info = tmp_path / INFO
    info.mkdir(parents=True)
    (tmp_path / ".lock").touch()
    (info / "uv_cache.json").write_text('{"timestamp": 1}')
    (info / "RECORD").write_text("a.py,sha256=x,1\na-1.dist-info/uv_cache.json,sha256=y,15\na-1.dist-info/RECORD,,\n")
    return tmp_path


def by_path(entries: list[Entry]) -> dict[str, Entry]:
    return {entry.path: entry for entry in entries}


def test_the_time_stamps_and_the_lock_of_uv_are_left_out_of_files_and_record(venv: Path) -> None:
    found = by_path(list(tidied(venv, prefix="opt/venv", epoch=EPOCH)))
    record = found.pop(f"opt/venv/{INFO}/RECORD")
    assert record.content is not None
    with record.content() as file:
        data = file.read()
    assert data == b"a.py,sha256=x,1\na-1.dist-info/RECORD,,\n"
    assert record.size == len(data)
    assert all(entry.kind == "dir" for entry in found.values())


def test_every_time_is_the_epoch_even_when_the_clock_stands_before_it(venv: Path) -> None:
    os.utime(venv / INFO / "RECORD", (1, 1))
    assert {e.mtime for e in stamped(venv, prefix="x", epoch=EPOCH)} == {EPOCH}


def test_a_record_that_is_a_link_is_refused_instead_of_followed(venv: Path) -> None:
    (venv / INFO / "RECORD").unlink()
    (venv / INFO / "RECORD").symlink_to("/etc/passwd")
    with pytest.raises(Refused) as error:
        list(tidied(venv, prefix="opt/venv", epoch=EPOCH))
    assert error.value.code == "NB_RECORD"


def test_a_snapshot_tells_content_x_bit_kind_and_link_target(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/file").write_text("1")
    (tmp_path / "link").symlink_to("d")
    before = snapshot(tmp_path)
    assert set(before) == {"d/file", "link"}
    states = [before]
    (tmp_path / "d/file").write_text("2")
    states.append(snapshot(tmp_path))
    (tmp_path / "d/file").chmod(0o755)
    states.append(snapshot(tmp_path))
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("e")
    states.append(snapshot(tmp_path))
    (tmp_path / "link").unlink()
    (tmp_path / "link").write_text("link e")
    states.append(snapshot(tmp_path))
    assert len({str(state) for state in states}) == 5
