"""Which grammar reads a file, and where in its tree do names stand? Grammars are tree-sitter's, pinned as wheels.

A grammar reads fragments and broken files too, and says the same on every version of Python. Python's own ``ast``
does not: it refuses a file of a newer syntax than its own, and a hunk of a patch.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath

import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from attrs import frozen
from tree_sitter import Language, Node, Parser

NAMES = frozenset(
    {
        *("identifier", "property_identifier", "private_property_identifier", "shorthand_property_identifier"),
        *("shorthand_property_identifier_pattern", "statement_identifier", "type_identifier"),
        *("field_identifier", "package_identifier", "shorthand_field_identifier"),
    }
)
"""Nodes that are names, in any of the grammars."""

_STRINGS = frozenset({"string_fragment", "interpreted_string_literal_content"})
_NAMING = frozenset(
    {
        *(("pair", "key"), ("subscript_expression", "index"), ("property_signature", "name")),
        ("enum_assignment", "name"),
    }
)
_IMPORTING = frozenset(
    {
        *(("import_statement", "source"), ("export_statement", "source"), ("import_spec", "path")),
        ("arguments of an import", None),
    }
)
"""Where a string is a name, or names a module: the node that it stands in, and as which field of it."""

_CAPSULES = {
    "go": tree_sitter_go.language,
    "java": tree_sitter_java.language,
    "javascript": tree_sitter_javascript.language,
    "python": tree_sitter_python.language,
    "rust": tree_sitter_rust.language,
    "tsx": tree_sitter_typescript.language_tsx,
    "typescript": tree_sitter_typescript.language_typescript,
}
_BY_SUFFIX = {
    **dict.fromkeys((".py", ".pyi"), "python"),
    **dict.fromkeys((".js", ".cjs", ".mjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".cts", ".mts"), "typescript"),
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
}
SUFFIXES = frozenset(_BY_SUFFIX)
"""Of the files that are read."""

_ECMASCRIPTS = frozenset({"javascript", "typescript", "tsx"})


@frozen(kw_only=True)
class Spoken:
    """A name in a text: the line that it stands in, from 0; ``module``: it is what an import calls a module."""

    row: int
    text: bytes
    module: bool = False


def grammar_of(path: str) -> str | None:
    """What reads the file of this name? None for every kind that no grammar reads."""
    return _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())


def speaks(grammar: str, language: str) -> bool:
    """Are names of this grammar's files names to a suite in this language? TypeScript and JavaScript are one."""
    return grammar == language or {grammar, language} <= _ECMASCRIPTS


def spoken(grammar: str, text: bytes) -> Iterator[Spoken]:
    """Every name in the text, in order."""
    for node, above in walked(grammar, text):
        if node.type in NAMES or (node.type == "default" and above[-1][0] == "export_statement"):
            yield Spoken(row=node.start_point.row, text=node.text or b"")
        elif node.type in _STRINGS and len(above) > 1:
            place = (above[-2][0], above[-1][1])
            if place in _NAMING or place in _IMPORTING:
                yield Spoken(row=node.start_point.row, text=node.text or b"", module=place in _IMPORTING)


def walked(grammar: str, text: bytes) -> Iterator[tuple[Node, list[tuple[str, str | None]]]]:
    """Every node of the text's tree, from the top, and what stands above it: the kind of each node, and as which
    field it stands in the one above. The list is one and the same from node to node."""
    cursor = Parser(_language(grammar)).parse(text).walk()
    above: list[tuple[str, str | None]] = []
    while True:
        node = cursor.node
        assert node is not None
        yield node, above
        role = (_kind(node, above), cursor.field_name)
        if cursor.goto_first_child():
            above.append(role)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            above.pop()


@cache
def _language(grammar: str) -> Language:
    return Language(_CAPSULES[grammar]())


def _kind(node: Node, above: list[tuple[str, str | None]]) -> str:
    """The node's type; calls that import have one of their own, and so have their arguments."""
    if node.type == "call_expression":
        called = node.child_by_field_name("function")
        short = called is not None and called.end_byte - called.start_byte <= len("require")
        return "import" if called is not None and short and called.text in (b"import", b"require") else node.type
    return "arguments of an import" if node.type == "arguments" and above and above[-1][0] == "import" else node.type
