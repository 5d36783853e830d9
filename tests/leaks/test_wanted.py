"""What of a patch is looked for, and what is too little to be."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from nanobench.leaks.runs import MIN_BYTES, squeezed
from nanobench.leaks.search import Search, Texts
from nanobench.leaks.wanted import wanted_of
from nanobench.model.task import PathRules
from nanobench.sources.change import Change
from nanobench.sources.kinds import kind_of

OLD, NEW = "1" * 40, "2" * 40


def change(*hunk: str, path: str = "src/a.py", made: str = NEW, old: str = OLD) -> Change:
    """A golden patch of one hunk."""
    before, after = (sum(not line.startswith(other) for line in hunk) for other in "+-")
    created = set(old) == {"0"}
    head = f"diff --git a/{path} b/{path}\n" + ("new file mode 100644\n" if created else "")
    head += f"index {old}..{made}{'' if created else ' 100644'}\n"
    head += f"--- {'/dev/null' if created else f'a/{path}'}\n+++ b/{path}\n"
    patch = f"{head}@@ -{0 if created else 1},{before} +1,{after} @@\n" + "".join(f"{line}\n" for line in hunk)
    return Change(golden=patch.encode(), test=b"", source_files=(path,), test_files=())


def runs(*hunk: str, **kwargs: str) -> set[bytes]:
    return set(wanted_of(change(*hunk, **kwargs), PathRules()).runs)


BEFORE = (" def total(numbers, start, finish):", "     result = 0", "     for number in numbers:")
AFTER = ("     result += 1", "     return result + start - finish")


def test_an_edit_of_one_character_is_told_by_its_context() -> None:
    found = runs(*BEFORE, "-    if number > 0:", "+    if number >= 0:", *AFTER)
    assert found
    assert all(b"ifnumber>=0:" in run and len(run) >= MIN_BYTES for run in found)


def test_lines_that_are_only_taken_away_are_told_by_what_meets_then() -> None:
    found = runs(*BEFORE, "-    print(number)", *AFTER)
    assert found
    assert all(b"fornumberinnumbers:result+=1" in run for run in found)


def test_a_change_of_white_space_is_none() -> None:
    wanted = wanted_of(change(*BEFORE, "-", "+   ", *AFTER), PathRules())
    assert (wanted.runs, wanted.short) == ({}, ())


def test_a_hunk_with_less_text_than_a_run_is_named_with_its_line() -> None:
    wanted = wanted_of(change(" a = 1", "-b = 2", "+b = 3", " c = 4"), PathRules())
    assert (wanted.runs, wanted.short) == ({}, ("golden patch: src/a.py:1",))


def test_a_ruler_is_no_text() -> None:
    assert runs(*["+" + "-" * 80] * 5) == set()


@pytest.mark.parametrize(("path", "wanted"), [("package-lock.json", False), ("CHANGELOG.md", True)])
def test_what_tools_write_is_not_looked_for_beside_a_source(path: str, wanted: bool) -> None:
    text = [f"+  a line of some file, number {n}" for n in range(5)]
    source, other = change(*text), change(*(line.upper() for line in text), path=path)
    # Git's order: capitals, then p, then s.
    both = evolve(source, golden=other.golden + source.golden)
    found = wanted_of(both, PathRules())
    assert any(b"ALINEOFSOMEFILE" in run for run in found.runs) is wanted
    assert kind_of(path.encode(), PathRules()) == ("docs" if wanted else "other")
    assert list(found.files.values()) == ["golden patch: src/a.py"]  # the same id twice: the last


def test_a_solution_of_nothing_else_is_looked_for() -> None:
    assert runs(*(f"+  entry number {n} of the data" for n in range(5)), path="data.json")


def test_whole_files_are_told_by_what_git_calls_them_except_small_new_ones(toy: Any) -> None:
    names = set(toy.wanted.files.values())
    assert names == {"golden patch: src/toy/parser.py", "test patch: tests/test_parser.py"}
    small = change("+x = 1", old="0" * 40)
    large = change(*(f"+number_{n} = {n} * seventeen" for n in range(9)), old="0" * 40)
    assert wanted_of(small, PathRules()).files == {}
    assert wanted_of(large, PathRules()).files == {NEW: "golden patch: src/a.py"}


def test_words_are_names_of_two_parts_and_literals_between_what_is_filled_in(toy: Any) -> None:
    words = toy.wanted.words.keys()
    assert {word for word in words if b" " not in word} == {
        b"next_field",
        b"UnclosedQuote",
        b"test_a_quoted_field_may_hold_the_separator",
    }
    assert {b"the quote at column ", b" is never closed"} <= words


def test_plain_words_are_anybodys() -> None:
    assert wanted_of(change("+def plain(x):", "+    self.total = 'so it is'"), PathRules()).words == {}


def test_what_is_looked_for_has_one_identity(toy: Any) -> None:
    wanted = toy.wanted
    assert wanted.identity() == toy.wanted.identity()
    for text in (next(iter(wanted.runs)), next(iter(wanted.words))):
        assert wanted.without(texts={text}, files=()).identity() != wanted.identity()
    assert wanted.without(texts=(), files=wanted.files).identity() != wanted.identity()


def test_very_many_runs_are_thinned_out(monkeypatch: pytest.MonkeyPatch) -> None:
    text = [f"+  a line of some file, number {n}, and its square {n * n}" for n in range(500)]
    everything = runs(*text)
    monkeypatch.setattr("nanobench.leaks.wanted._MAX_RUNS", 100)
    assert 0 < len(runs(*text)) <= 100 < len(everything)
    assert Search(wanted_of(change(*text), PathRules())).runs("\n".join(line[1:] for line in text).encode())


@given(st.sets(st.binary(min_size=1, max_size=6), max_size=20), st.binary(max_size=300))
def test_exactly_the_texts_that_are_there_are_found(texts: set[bytes], data: bytes) -> None:
    assert Texts(texts).within(data) == {text for text in texts if text in data}


@given(st.text(alphabet="abc \t\n", max_size=200))
def test_squeezing_takes_away_white_space_alone(text: str) -> None:
    assert squeezed(text.encode()) == "".join(text.split()).encode()
