"""Does the statement give the solution away? Warnings with their place; whether that is meant, a person decides."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nanobench.leaks.search import Search
from nanobench.leaks.wanted import Wanted

_WORD = re.compile(rb"[A-Za-z_]\w*")


def warnings(statement: bytes, wanted: Wanted) -> Iterator[str]:
    """Runs of the solution that it quotes, its answer, and the names that only the golden patch defines."""
    search = Search(wanted)
    for run in sorted(search.runs(statement)):
        yield f"statement.md: quotes {wanted.runs[run]}"
    if search.answers("statement.md", statement):
        yield "statement.md: gives the answer"
    for number, line in enumerate(statement.splitlines(), 1):
        for name in sorted(set(_WORD.findall(line)) & wanted.names.keys()):
            yield f"statement.md:{number}: names {name.decode()}, which only the {wanted.names[name]} defines"
