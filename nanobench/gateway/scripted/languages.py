"""The programming languages in which scripts make mistakes: what they say there."""

from __future__ import annotations

from attrs import frozen

from nanobench.symbols.grammars import grammar_of


@frozen(kw_only=True)
class Language:
    """One language, which stands in files of these ``grammars`` and in suites of the same names.

    Statements: ``unknown`` calls ``{name}``, ``function`` where nothing has that name; ``mistyped`` gives a function
    what it does not take; ``raises`` ends a function with an error, ``leaves`` the whole process with success.
    """

    grammars: frozenset[str]
    comment: str
    unknown: str
    function: str
    mistyped: str
    raises: str
    leaves: str

    def insert(self, content: bytes, places: tuple[int, ...], statement: str) -> bytes:
        """The content with the statement at each of these places, at which its functions take one."""
        for place in sorted(places, reverse=True):
            content = content[:place] + self._spelled(content, place, statement.encode()) + content[place:]
        return content

    def _spelled(self, content: bytes, place: int, statement: bytes) -> bytes:
        if self is not PYTHON:
            return b" " + statement
        before = content[content.rfind(b"\n", 0, place) + 1 : place]
        return statement + (b"; " if before.strip() else b"\n" + before)


PYTHON = Language(
    grammars=frozenset({"python"}),
    comment="# Looked at; nothing here has to change.",
    unknown="{name}()",
    function="load_project_defaults",
    mistyped="len(0)",
    raises='raise RuntimeError("not in this version")',
    leaves='__import__("os")._exit(0)',
)
TYPESCRIPT = Language(
    grammars=frozenset({"javascript", "tsx", "typescript"}),
    comment="// Looked at; nothing here has to change.",
    unknown="{name}();",
    function="loadProjectDefaults",
    mistyped="new Map(0);",
    raises='throw new Error("not in this version");',
    leaves="process.exit(0);",
)
LANGUAGES = (PYTHON, TYPESCRIPT)


def language_of(path: str) -> Language | None:
    """The language of a file, by its name."""
    return next((language for language in LANGUAGES if grammar_of(path) in language.grammars), None)
