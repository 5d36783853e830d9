"""A scripted model that knows the golden patch and carries it out with a coding agent's ordinary tools.

It works as a model does: first it reads every file that it means to edit. A file that was shown whole (what was
shown has the blob id that the patch names) is edited by ``string_replace``, each text with as much context as makes
it unique, or rewritten by ``write_file`` where that tool would garble the text. New files are written, deleted ones
deleted. What cannot be said that way — binary, modes, renames, links, files too large to be shown whole — goes
through ``execute_bash`` as one ``git apply``. So every step is known to be exact before it is taken.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Callable

from nanobench.gateway.scripted.patch import Creation, Deletion, Edit, Hunk, Section, sections
from nanobench.gateway.scripted.reply import Messages, Reply, ToolCall, turn_of

_CALLS_A_TURN = 8
_TURNS = 100
_CHUNK = 100_000
"""Characters of a shell command; the kernel takes 131,071 in one argument."""

_GARBLED = re.compile(r"\$[$&`']")
"""The tool hands the new text to JavaScript's ``replace``, which reads these as patterns."""

_FILE = '"${TMPDIR:-/tmp}/change.hex"'
_WIDTH = 4000
_LINE = re.compile(r"[^\n]*\n|[^\n]+")

Shown = dict[str, str]
"""Path → what ``read_file`` returned for it."""


def oracle(patch: bytes, said: str | None = None) -> Callable[[Messages], Reply]:
    """The script that turns the base tree into the golden tree, and says at its end what is to be said."""
    parts = sections(patch)
    reads = tuple(_call("read_file", path=part.path) for part in parts if isinstance(part, Edit))

    def script(messages: Messages) -> Reply:
        due = turn_of(messages) - bool(reads)
        if due < 0:
            return Reply(text="I read the files that have to change.", calls=reads)
        shown = dict(zip([call.arguments["path"] for call in reads], _first_results(messages), strict=False))
        turns = _turns(_calls(parts, shown))
        return Reply(calls=turns[due]) if due < len(turns) else Reply(text=said or "The change is made as described.")

    return script


def _first_results(messages: Messages) -> list[str]:
    """What the tools of the first turn returned, in the order of the calls."""
    spoke = [at for at, message in enumerate(messages) if message.get("role") == "assistant"]
    found = messages[spoke[0] : spoke[1] if len(spoke) > 1 else None] if spoke else ()
    return [str(message.get("content")) for message in found if message.get("role") == "tool"]


def _turns(calls: list[ToolCall]) -> list[tuple[ToolCall, ...]]:
    """A few calls a turn; more in a large patch, so that the agent's turn cap is not met."""
    size = max(_CALLS_A_TURN, -(-len(calls) // _TURNS))
    return [tuple(calls[at : at + size]) for at in range(0, len(calls), size)]


def _calls(parts: tuple[Section, ...], shown: Shown) -> list[ToolCall]:
    """Deletions make room, then ``git apply`` for what no file tool can say, then text."""
    deletions = [_call("file_op", operation="delete", path=p.path) for p in parts if isinstance(p, Deletion)]
    raw: list[bytes] = []
    text: list[ToolCall] = []
    for part in parts:
        if isinstance(part, bytes):
            raw.append(part)
        elif isinstance(part, Creation):
            text += _creation(part)
        elif isinstance(part, Edit):
            edits = _edits(part, shown.get(part.path, ""))
            text += edits
            raw += [] if edits else [part.raw]
    return [*deletions, *_apply(b"".join(raw)), *text]


def _creation(part: Creation) -> list[ToolCall]:
    parent = posixpath.dirname(part.path)
    folder = [_call("file_op", operation="mkdir", path=parent)] if parent else []
    return [*folder, _call("write_file", path=part.path, content=part.content)]


def _edits(edit: Edit, text: str) -> list[ToolCall]:
    """The calls that edit a file with content ``text``; none when that is not the file the patch was made for."""
    if not _is_blob(text, edit.before):
        return []
    lines = _LINE.findall(text)
    pairs: list[tuple[str, str]] = []
    shift = 0
    for hunk in edit.hunks:
        start = hunk.at - 1 + shift
        pairs.append(_replacement(lines, start, hunk))
        lines[start : start + len(hunk.old)] = hunk.new
        shift += len(hunk.new) - len(hunk.old)
    after = "".join(lines)
    if not _is_blob(after, edit.after):
        return []
    if any(_GARBLED.search(new) for _, new in pairs):
        return [_call("write_file", path=edit.path, content=after)]
    return [_call("string_replace", path=edit.path, old_str=old, new_str=new) for old, new in pairs]


def _replacement(lines: list[str], start: int, hunk: Hunk) -> tuple[str, str]:
    """The hunk as old and new text, with more lines around it until the old text stands in the file once."""
    text, top, end = "".join(lines), start, start + len(hunk.old)
    bottom = end
    while True:
        old = "".join(lines[top:bottom])
        if text.find(old, text.find(old) + 1) == -1:
            return old, "".join([*lines[top:start], *hunk.new, *lines[end:bottom]])
        top, bottom = max(0, top - 1), min(len(lines), bottom + 1)


def _is_blob(text: str, name: str) -> bool:
    """Whether git would give ``text`` the (maybe shortened) id ``name``."""
    data = text.encode("utf-8", "surrogatepass")
    header = f"blob {len(data)}\0".encode("ascii")
    return hashlib.sha1(header + data, usedforsecurity=False).hexdigest().startswith(name)


def _apply(patch: bytes) -> list[ToolCall]:
    """Shell calls that apply a patch of any bytes.

    It travels in hexadecimal: base64 would now and then spell a word that the tool refuses as dangerous (``mkfs``).
    """
    if not patch:
        return []
    text = patch.hex().upper()
    pieces = [text[at : at + _CHUNK] for at in range(0, len(text), _CHUNK)]
    calls = [
        _call("execute_bash", command=f"cat {'>>' if number else '>'} {_FILE} <<'END'\n{_wrapped(piece)}\nEND")
        for number, piece in enumerate(pieces)
    ]
    command = f"basenc --decode --base16 {_FILE} | git apply --whitespace=nowarn - && rm {_FILE}"
    return [*calls, _call("execute_bash", command=command)]


def _wrapped(text: str) -> str:
    return "\n".join(text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH))


def _call(name: str, **arguments: str) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)
