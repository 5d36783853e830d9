"""Words of strangers on their way to a person's terminal: no control character arrives, by whatever way they come."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
import typer
from rich.console import Console

from nanobench.cli import common
from nanobench.cli.talk import Talk
from nanobench.errors import Refused
from nanobench.formats.printable import printable

ROOT = Path(__file__).parents[2] / "nanobench"
WORDS = {
    "an escape": "\x1b[2J\x1b]0;title\x07",
    "a return over the line": "fail\rpass",
    "backspaces": "fail\b\b\b\bpass",
    "eight-bit control": "\x9b2J",
    "text that runs backwards": "\u202egnp.exe",
    "a separator of lines": "a\u2028b\x85c\x0bd",
    "half a surrogate pair": "\ud800",
    "nothing": "\0\x7f",
    "markup": "[bold red]x[/] [link=file:///]",
    "a name of an emoji": "tests/a.py::warning:",
}
rows = pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)


def harmless(said: str) -> bool:
    return all(c == "\n" or c.isprintable() for c in said)


@rows
def test_talk_says_the_words_visibly_also_below_a_moving_line(words: str) -> None:
    for moving in (False, True):
        out = io.StringIO()
        talk = Talk(Console(file=out, force_terminal=moving, width=200, color_system=None, emoji=False))
        talk.begin()
        talk.say(f"before {words} after")
        talk.end()
        assert printable(words) in out.getvalue()
        assert words in out.getvalue() or not harmless(words)
        assert moving or harmless(out.getvalue())


@rows
@pytest.mark.parametrize("as_json", [False, True])
def test_a_verdict_and_an_error_are_shown_harmless(
    words: str, as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    common.show({"reason": words}, f"reason: {words}", as_json=as_json)
    assert harmless(capsys.readouterr().out)

    def fails(*, as_json: bool) -> None:
        raise Refused("NB_X", words, where=words, details=(words,), hint=words)

    with pytest.raises(typer.Exit):
        common.verb(fails)(as_json=as_json)
    said = capsys.readouterr()
    assert harmless(said.out) and harmless(said.err)
    assert not as_json or json.loads(said.out)["error"]["message"] == words


def test_every_way_to_a_stream_is_one_of_these() -> None:
    speaks = re.compile(r"(?<![\w.])print\(|typer\.s?echo\(|sys\.std(out|err)\b")
    found = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py") if speaks.search(path.read_text("utf-8"))}
    inside = {"sandbox/launch.py", "ecosystems/py_inside_bytecode.py"}  # what they say is read by us
    assert found - inside <= {f"cli/{name}.py" for name in ("common", "golden", "main", "shell", "talk", "terminal")}
