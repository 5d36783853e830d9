from __future__ import annotations

from pathlib import Path

from nanobench.gates.tokens import count_tokens
from nanobench.gates.tools import Tools

# Known from the encoding's publisher: the same text has these tokens wherever it is counted.
KNOWN = "hello world"


def test_files_are_counted_once_and_what_is_no_file_has_none(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(KNOWN)
    (tmp_path / "b.py").write_text("def f(x):\n    return x + 1\n")
    (tmp_path / "link").symlink_to("a.txt")
    (tmp_path / "binary").write_bytes(b"\xff\x00\xfe")

    def count(*files: str) -> int:
        return count_tokens(tmp_path, files, vocabulary=tools.vocabulary)

    assert count("a.txt") == count("a.txt", "a.txt") == 2
    assert count("b.py") == 11
    assert count("a.txt", "b.py", "link", "missing.py") == 13
    assert count("binary") > 0


def test_words_that_models_treat_specially_are_counted_as_text(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("<|endoftext|>")
    assert count_tokens(tmp_path, ["a"], vocabulary=tools.vocabulary) > 1
