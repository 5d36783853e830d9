"""The programming languages in which scripts make mistakes: where functions begin, and what to say there.

A language is read by its own grammar, so that a statement stands where one may. What does not parse is left alone.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@frozen(kw_only=True)
class Tongue:
    """One language. ``suites`` is what tasks call it.

    Statements: ``unknown`` calls ``{name}``, ``function`` where nothing has that name; ``mistyped`` gives a function
    what it does not take; ``raises`` ends a function with an error, ``leaves`` the whole process with success.
    """

    name: str
    suffixes: tuple[str, ...]
    suites: frozenset[str]
    comment: str
    unknown: str
    function: str
    mistyped: str
    raises: str
    leaves: str

    def heads(self, content: bytes) -> tuple[int, ...]:
        """The places, in bytes, at which a function's body takes a statement; none where the text does not parse."""
        root = _parser(self.name).parse(content).root_node
        return () if root.has_error else tuple(sorted(_heads(root)))

    def insert(self, content: bytes, places: tuple[int, ...], statement: str) -> bytes:
        """The content with the statement at each of these of its :meth:`heads`."""
        for place in sorted(places, reverse=True):
            content = content[:place] + self._spelled(content, place, statement.encode()) + content[place:]
        return content

    def _spelled(self, content: bytes, place: int, statement: bytes) -> bytes:
        if self.name != "python":
            return b" " + statement
        before = content[content.rfind(b"\n", 0, place) + 1 : place]
        return statement + (b"; " if before.strip() else b"\n" + before)


PYTHON = Tongue(
    name="python",
    suffixes=(".py",),
    suites=frozenset({"python"}),
    comment="# Looked at; nothing here has to change.",
    unknown="{name}()",
    function="load_project_defaults",
    mistyped="len(0)",
    raises='raise RuntimeError("not in this version")',
    leaves='__import__("os")._exit(0)',
)
TYPESCRIPT = Tongue(
    name="typescript",
    suffixes=(".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"),
    suites=frozenset({"typescript", "javascript"}),
    comment="// Looked at; nothing here has to change.",
    unknown="{name}();",
    function="loadProjectDefaults",
    mistyped="Reflect.ownKeys(0);",
    raises='throw new Error("not in this version");',
    leaves="process.exit(0);",
)
TONGUES = (PYTHON, TYPESCRIPT)

_FUNCTIONS = frozenset(
    (
        *("function_definition", "function_declaration", "function_expression", "arrow_function"),
        *("generator_function", "generator_function_declaration", "method_definition"),
    )
)
"""As the grammars call them. One whose body is an expression has no place for a statement."""


def tongue_of(path: str) -> Tongue | None:
    """The language of a file, by its name."""
    suffix = posixpath.splitext(path)[1]
    return next((tongue for tongue in TONGUES if suffix in tongue.suffixes), None)


@cache
def _parser(name: str) -> Parser:
    from tree_sitter import Language, Parser  # slow to load, and few runs need it

    if name == "python":
        from tree_sitter_python import language
    else:
        from tree_sitter_typescript import language_typescript as language
    return Parser(Language(language()))


def _heads(root: Node) -> Iterator[int]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        body = node.child_by_field_name("body") if node.type in _FUNCTIONS else None
        if body is not None and body.type == "statement_block":
            yield body.start_byte + 1
        elif body is not None and body.type == "block":
            yield from _first_statement(body)


def _first_statement(body: Node) -> Iterator[int]:
    """Behind comments and the docstring; a body of nothing else takes none."""
    for statement in body.named_children:
        if statement.type != "comment" and not _is_text(statement):
            yield statement.start_byte
            return


def _is_text(statement: Node) -> bool:
    children = statement.named_children
    return statement.type == "expression_statement" and len(children) == 1 and children[0].type == "string"
