from __future__ import annotations

from pathlib import Path

import pytest

from nanobench.cli.golden import golden_files, main

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", sorted(golden_files()))
def test_generated_files_are_what_the_code_says(name: str) -> None:
    assert (ROOT / name).read_bytes() == golden_files()[name], "run `make golden`"


def test_no_generated_file_is_left_that_nothing_generates() -> None:
    assert {p.relative_to(ROOT).as_posix() for p in (ROOT / "schemas").iterdir()} == set(golden_files())


def test_writing_them_twice_writes_nothing_the_second_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(tmp_path)
    assert capsys.readouterr().out.count("wrote ") == len(golden_files())
    main(tmp_path)
    assert capsys.readouterr().out == ""
