"""Where do the functions of a source text begin and end? By each language's own grammar."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from nanobench.symbols.grammars import grammar_of, walked
from nanobench.symbols.names import readable

_FUNCTIONS = frozenset(
    {
        "function_definition",  # Python
        *("function_declaration", "generator_function_declaration", "function_expression", "arrow_function"),
        *(
            "generator_function",
            "method_definition",
            "method_declaration",
            "constructor_declaration",
            "function_item",
        ),
    }
)
"""In any of the grammars. JavaScript's have no name where they are the value of one."""


def functions_in(path: str, text: bytes) -> tuple[tuple[int, int], ...]:
    """First and last line, from 1, of every function in the file, in order; none where no grammar reads it."""
    grammar = grammar_of(path)
    if grammar is None or not readable(text):
        return ()
    nodes = (node for node, _ in walked(grammar, text) if node.type in _FUNCTIONS)
    return tuple(sorted({(node.start_point.row + 1, node.end_point.row + 1) for node in nodes}))


def openings(path: str, text: bytes) -> tuple[int, ...]:
    """The places, in bytes, at which functions in Python, JavaScript or TypeScript take a first statement, in order.

    None where the text does not parse whole; a body that is an expression, or nothing but text, takes none.
    """
    grammar = grammar_of(path)
    if grammar is None or not readable(text):
        return ()
    found: set[int] = set()
    for node, above in walked(grammar, text):
        if not above and node.has_error:
            return ()
        body = node.child_by_field_name("body") if node.type in _FUNCTIONS else None
        if body is not None:
            found.update(_opening(body))
    return tuple(sorted(found))


def _opening(body: Node) -> Iterator[int]:
    if body.type == "statement_block":  # of JavaScript and TypeScript, with its brace
        yield body.start_byte + 1
    elif body.type == "block" and body.parent is not None and body.parent.type == "function_definition":
        yield from [each.start_byte for each in body.named_children if not _is_prose(each)][:1]


def _is_prose(statement: Node) -> bool:
    """Is it a comment or, as docstrings are, a text alone?"""
    children = statement.named_children
    text = statement.type == "expression_statement" and len(children) == 1 and children[0].type == "string"
    return text or statement.type == "comment"
