"""Paths as git writes them in patches (``core.quotePath``), and as our documents show them.

A path is bytes. Git quotes one in C style when it holds a control character, a quote, a backslash or a byte
above 0x7e. Documents hold text: a path that is plain printable UTF-8 stands for itself, any other as git's quoted
form, so that no two paths look the same.
"""

from __future__ import annotations

import re

_LETTERS = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_BYTES = {letter.encode(): bytes([code]) for code, letter in _LETTERS.items()}
_ESCAPE = re.compile(rb"\\([abtnvfr\"\\]|[0-3][0-7]{2})")
_QUOTED = re.compile(rb'"(?:[ !#-\[\]-~]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*"')


def quote(path: bytes) -> bytes:
    """The path as it stands in a patch: as it is when nothing in it needs quoting."""
    text = "".join(_escaped(code) for code in path)
    return f'"{text}"'.encode() if len(text) != len(path) else path


def unquote(spelling: bytes) -> bytes | None:
    """The path that git spelled so; ``None`` when git never would."""
    if spelling.startswith(b'"'):
        if not _QUOTED.fullmatch(spelling):
            return None
        path = _ESCAPE.sub(_unescaped, spelling[1:-1])
    else:
        path = spelling
    return path if quote(path) == spelling else None


def display(path: bytes) -> str:
    """The path as our documents hold it; two different paths never look the same."""
    try:
        text = path.decode("utf-8")
    except UnicodeDecodeError:
        return quote(path).decode()
    return text if text.isprintable() and not text.startswith('"') else _always_quoted(path)


def _always_quoted(path: bytes) -> str:
    return '"' + "".join(_escaped(code) for code in path) + '"'


def _escaped(code: int) -> str:
    if code in _LETTERS:
        return "\\" + _LETTERS[code]
    return chr(code) if 0x20 <= code < 0x7F else f"\\{code:03o}"


def _unescaped(match: re.Match[bytes]) -> bytes:
    body = match.group(1)
    return _BYTES[body] if body in _BYTES else bytes([int(body, 8)])
