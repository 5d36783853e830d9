"""Debian's stanza format: package control files, indices, apt's deb822 sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def stanzas(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Each stanza of ``lines`` as field → value; continuation lines keep their line break and leading blank.

    Comment lines are skipped. A line that is neither a field nor a continuation is ignored.
    """
    stanza: dict[str, str] = {}
    key = ""
    for raw in lines:
        line = raw.rstrip("\r\n")
        if not line.strip():
            if stanza:
                yield stanza
            stanza, key = {}, ""
        elif line[0] in " \t":
            if key:
                stanza[key] += "\n" + line
        elif line[0] != "#" and ":" in line:
            key, _, value = line.partition(":")
            stanza[key] = value.strip()
    if stanza:
        yield stanza
