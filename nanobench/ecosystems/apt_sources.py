"""Which of the machine's apt sources serve Debian's main archive? Both the one-line and the deb822 format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from nanobench.ecosystems.deb_control import stanzas

_ONE_LINE = re.compile(r"deb\s+(?:\[(?P<options>[^\]]*)\]\s*)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>.+)")


@frozen(kw_only=True)
class _Source:
    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    signed_by: str = ""
    architectures: tuple[str, ...] = ()

    def serves(self, suite: str) -> bool:
        if suite not in self.suites or "main" not in self.components:
            return False
        if self.architectures and "amd64" not in self.architectures:
            return False
        # Other vendors name their suites after Debian's too: theirs are signed by a key of their own. A wrong guess
        # costs a failed attempt only, because the signature of what comes is checked against pinned keys.
        ours = "debian-archive" in self.signed_by if self.signed_by else "debian" in self.uri.partition("://")[2]
        return ours and self.uri.startswith(("http://", "https://"))


def archive_uris(etc_apt: Path, suite: str) -> tuple[str, ...]:
    """The URIs under ``etc_apt`` that serve component main of Debian's ``suite`` itself (no updates, no security)."""
    return tuple(dict.fromkeys(source.uri for source in _sources(etc_apt) if source.serves(suite)))


def _sources(etc_apt: Path) -> Iterator[_Source]:
    parts = sorted((etc_apt / "sources.list.d").glob("*"))
    for path in [etc_apt / "sources.list", *parts]:
        if path.suffix not in (".list", ".sources") or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        yield from _one_line(text) if path.suffix == ".list" else _deb822(text)


def _one_line(text: str) -> Iterator[_Source]:
    for line in text.splitlines():
        match = _ONE_LINE.fullmatch(line.partition("#")[0].strip())
        if match:
            pairs = (option.partition("=") for option in (match["options"] or "").split())
            options = {key: value for key, _, value in pairs}
            yield _Source(
                uri=match["uri"],
                suites=(match["suite"],),
                components=tuple(match["components"].split()),
                signed_by=options.get("signed-by", ""),
                architectures=tuple(filter(None, options.get("arch", "").split(","))),
            )


def _deb822(text: str) -> Iterator[_Source]:
    for found in stanzas(text.splitlines()):
        stanza = {key.lower(): value for key, value in found.items()}
        if "deb" not in stanza.get("types", "").split() or stanza.get("enabled", "yes").lower() in (
            "no",
            "false",
            "0",
        ):
            continue
        for uri in stanza.get("uris", "").split():
            yield _Source(
                uri=uri,
                suites=tuple(stanza.get("suites", "").split()),
                components=tuple(stanza.get("components", "").split()),
                signed_by=stanza.get("signed-by", ""),
                architectures=tuple(stanza.get("architectures", "").split()),
            )
