from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.sources.quoting import display, quote, unquote

names = st.binary(min_size=1, max_size=20).filter(lambda b: b"\0" not in b)


@given(names)
def test_a_quoted_path_reads_back(path: bytes) -> None:
    assert unquote(quote(path)) == path
    assert quote(path).isascii()


@given(names, names)
def test_two_paths_never_look_the_same(one: bytes, two: bytes) -> None:
    assert (display(one) == display(two)) == (one == two)


@given(st.binary(max_size=12))
def test_only_gits_own_spelling_is_read(spelling: bytes) -> None:
    path = unquote(spelling)
    assert path is None or quote(path) == spelling


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (b"a b/c.py", "a b/c.py"),
        ("ü/ß.py".encode(), "ü/ß.py"),
        (b"a\nb", '"a\\nb"'),
        (b"\xff", '"\\377"'),
        (b'"x"', '"\\"x\\""'),
        ("a\u202eb".encode(), '"a\\342\\200\\256b"'),
    ],
)
def test_documents_show_plain_paths_as_they_are(path: bytes, shown: str) -> None:
    assert display(path) == shown


def test_every_byte_is_quoted_as_git_does(tmp_path: Path) -> None:
    codes = set(range(1, 256)) - {ord("/")}
    for code in codes:
        with open(bytes(tmp_path) + b"/n" + bytes([code]), "wb"):
            pass
    git = ["git", "-C", str(tmp_path), "-c", "core.quotePath=true"]
    subprocess.run([*git, "init", "-q"], check=True)
    said = subprocess.run([*git, "ls-files", "--others"], check=True, capture_output=True).stdout
    spelled = set(said.splitlines())
    assert spelled == {quote(b"n" + bytes([code])) for code in codes}
