"""Where do the functions of a source text begin and end? By each language's own grammar."""

from __future__ import annotations

from nanobench.symbols.grammars import grammar_of, walked
from nanobench.symbols.names import readable

_FUNCTIONS = frozenset(
    {
        "function_definition",  # Python
        *("function_declaration", "generator_function_declaration", "function_expression", "arrow_function"),
        *("method_definition", "method_declaration", "constructor_declaration", "function_item"),
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
