"""How a question is answered: in the final text, behind a mark that the statement asks for."""

from __future__ import annotations

from collections.abc import Iterator

MARK = "ANSWER:"
MAX_ANSWER = 1000
_AROUND = " \t\r*`'\""


def heard(text: str) -> str | None:
    """What a text answers: the rest of the line behind its last mark, without quotes and emphasis around it.

    Nanocoder joins the texts of all turns without a separator, so the mark need not begin a line.
    """
    _, mark, rest = text.rpartition(MARK)
    return rest.partition("\n")[0].rstrip(_AROUND + ".").lstrip(_AROUND) if mark else None


def marked(text: str) -> Iterator[str]:
    """Every place of a text that answers, from its mark on."""
    return (MARK + rest for rest in text.split(MARK)[1:])


def spoken(answer: str) -> str:
    """The words that answer so: ``heard(spoken(a)) == a`` for every answer of a fixture."""
    return f"{MARK} {answer}"
