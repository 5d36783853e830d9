"""Which functions of a file take other parameters than before? By each language's own grammar."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from nanobench.symbols.grammars import grammar_of, spoken, walked
from nanobench.symbols.names import readable

_Signatures = Mapping[bytes, frozenset[bytes]]


def reshaped(path: str, before: bytes, after: bytes) -> frozenset[str]:
    """The functions that the file had before and whose parameters differ, and the names that these gain."""
    grammar = grammar_of(path)
    if grammar is None:
        return frozenset()
    old, new = _signatures(grammar, before), _signatures(grammar, after)
    changed = {name for name in old.keys() & new.keys() if old[name] != new[name]}
    known, wanted = (_named(grammar, changed, side) for side in (old, new))
    return frozenset(name.decode("utf-8", "replace") for name in changed | (wanted - known))


def _signatures(grammar: str, text: bytes) -> _Signatures:
    """Name → the parameters, as they are written but for blanks, of every function of that name."""
    found: dict[bytes, set[bytes]] = defaultdict(set)
    for node, _ in walked(grammar, text) if readable(text) else ():
        name, parameters = node.child_by_field_name("name"), node.child_by_field_name("parameters")
        if name is not None and parameters is not None:
            found[name.text or b""].add(b" ".join((parameters.text or b"").split()))
    return {name: frozenset(parameters) for name, parameters in found.items()}


def _named(grammar: str, functions: set[bytes], signatures: _Signatures) -> set[bytes]:
    """The names in the parameters of these functions."""
    written = b"\n".join(text for name in sorted(functions) for text in sorted(signatures.get(name, ())))
    return {each.text for each in spoken(grammar, written)}
