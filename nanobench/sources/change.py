"""A solution's patch, split by path: the golden patch, the hidden test patch, and the files that matter."""

from __future__ import annotations

from collections.abc import Collection

from attrs import frozen

from nanobench.errors import Refused
from nanobench.model.task import PathRules
from nanobench.sources.kinds import Kind, kind_of
from nanobench.sources.patch import joined, sections
from nanobench.sources.question import spoken
from nanobench.sources.quoting import display


@frozen(kw_only=True)
class Change:
    """``golden`` is everything that is no test, ``test`` the rest. Paths are as documents show them, sorted.

    ``answer`` is the right one to a task that asks for one.
    """

    golden: bytes
    test: bytes
    source_files: tuple[str, ...]
    test_files: tuple[str, ...]
    answer: str | None = None

    @property
    def said(self) -> str | None:
        """The final text of who solves the task, as far as it matters."""
        return None if self.answer is None else spoken(self.answer)


def split(patch: bytes, rules: PathRules, *, where: str, needed: Collection[Kind] = ("test", "source")) -> Change:
    """The parts of a solution's patch.

    Args:
        patch: base to solution, as git writes it.
        rules: the task's overrides of the path rules.
        where: the task file, for messages.
        needed: the kinds of files that the solution must change.

    Raises:
        Refused: ``NB_NO_TESTS`` or ``NB_NO_SOURCE`` when the solution changes no test or no source file.
    """
    sorted_parts = [(kind_of(part.path, rules), part) for part in sections(patch, where=where)]
    files: dict[Kind, set[str]] = {"test": set(), "source": set(), "docs": set(), "other": set()}
    for kind, part in sorted_parts:
        files[kind].add(display(part.path))
    _check(files, needed, where)
    return Change(
        golden=joined(part for kind, part in sorted_parts if kind != "test"),
        test=joined(part for kind, part in sorted_parts if kind == "test"),
        source_files=tuple(sorted(files["source"])),
        test_files=tuple(sorted(files["test"])),
    )


def _check(files: dict[Kind, set[str]], needed: Collection[Kind], where: str) -> None:
    codes: tuple[tuple[Kind, str], ...] = (("test", "NB_NO_TESTS"), ("source", "NB_NO_SOURCE"))
    for kind, code in codes:
        if kind in needed and not files[kind]:
            raise Refused(
                code,
                f"the solution changes no {kind} file",
                where=where,
                details=tuple(f"{name}: {other}" for other, names in files.items() for name in sorted(names)),
                hint=f"if a file above is a {kind} file, name it under [paths] {kind} in the task file",
            )
