"""What would maintainer scripts have done? Alternatives are read and carried out; what we cannot do is warned of."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from attrs import frozen

from nanobench.ecosystems.deb_unpack import Installed

# Whatever may repeat is bounded, or ends at the line: a script must not cost the square of its length.
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_ALTERNATIVE = re.compile(r"update-alternatives[^\n;&|]{0,200}?(--install\s[^\n;&|]*)")

_PRIORITY = re.compile(r"[0-9]{1,9}")

_EFFECTS = {
    "sets file capabilities": re.compile(r"\bsetcap\b"),
    "creates users or groups": re.compile(
        r"\b(adduser|useradd|addgroup|groupadd|addsysuser|systemd-sysusers|usermod|gpasswd)\s+[-\w$\"]"
    ),
    "generates keys or ids": re.compile(
        r"\b(ssh-keygen|openssl\s+(req|gen\w+)|uuidgen|make-ssl-cert|dbus-uuidgen|certtool|systemd-machine-id-setup)\b"
    ),
    "builds caches or databases": re.compile(
        r"\b(glib-compile-schemas|gio-querymodules|gdk-pixbuf-query-loaders|fc-cache|update-mime-database"
        r"|mktexlsr|fmtutil-sys|updmap-sys|localedef|locale-gen|update-xmlcatalog|update-catalog"
        r"|install-sgmlcatalog|jks-keystore|initdb|mysql_install_db|update-binfmts\s+--install)\b"
    ),
    "changes owners or modes by dpkg-statoverride": re.compile(r"dpkg-statoverride\b[^\n]{0,200}--add"),
}

_EMULATED = {
    ("apt", "creates users or groups"),  # the user _apt
    ("passwd", "creates users or groups"),  # the group shadow, which base-passwd has
}


@frozen(kw_only=True)
class Alternative:
    """One ``update-alternatives --install``: links (link, name, path), the first one the master."""

    name: str
    priority: int
    links: tuple[tuple[str, str, str], ...]


def alternatives(packages: Iterable[Installed]) -> tuple[list[Alternative], list[str]]:
    """Every alternative that a postinst installs with plain words, and warnings about the others."""
    found: list[Alternative] = []
    warnings: list[str] = []
    for package in packages:
        for call in _ALTERNATIVE.findall(_code(package.script("postinst")).replace("\\\n", " ")):
            parsed = _parse(call)
            if parsed is None:
                warnings.append(f"{package.name}: postinst installs alternatives that its script computes")
            else:
                found.append(parsed)
    return found, warnings


def unmet(packages: Iterable[Installed]) -> list[str]:
    """Warnings about what maintainer scripts do beyond what is emulated."""
    return [
        f"{package.name}: {script} {effect}"
        for package in packages
        for script in ("preinst", "postinst")
        for effect, pattern in _EFFECTS.items()
        if (package.name, effect) not in _EMULATED and pattern.search(_code(package.script(script)))
    ]


def _code(script: str) -> str:
    return _COMMENT.sub("", script)


def _parse(call: str) -> Alternative | None:
    """The words of ``--install LINK NAME PATH PRIORITY [--slave LINK NAME PATH]…``; None when some are computed."""
    try:
        words = shlex.split(call)
    except ValueError:
        return None
    if len(words) < 5 or any(re.search(r"[$`*]", word) for word in words) or not _PRIORITY.fullmatch(words[4]):
        return None
    links = [(words[1], words[2], words[3])]
    rest = words[5:]
    while len(rest) >= 4 and rest[0] == "--slave":
        links.append((rest[1], rest[2], rest[3]))
        rest = rest[4:]
    return Alternative(name=words[2], priority=int(words[4]), links=tuple(links))
