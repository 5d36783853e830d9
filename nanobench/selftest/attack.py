"""The published attacks: what an agent would leave in its workspace, and the class that its patch must get."""

from __future__ import annotations

import base64
import tomllib
import zlib
from pathlib import Path
from typing import Literal

from attrs import field, frozen

from nanobench.formats.converter import structure
from nanobench.store.files import remove_tree

_ATTACKS = Path(__file__).parent / "attacks"
_WIDTH = 52  # bytes in a line of git's binary format

Class = Literal["resolved", "failed", "grader_tampered", "refused"]
"""What a patch may come to: its tests pass, do not, the signals disagree, or it is no patch at all."""


@frozen(kw_only=True)
class Attack:
    """``code`` is added to the module that the tests import; ``files`` (path → text), ``links`` (path → target) and
    ``remove`` change the agent's workspace, before its patch is taken as every agent's is. ``bomb_mib``: a stranger's
    patch in its place, which unpacks to so much.
    """

    name: str
    expected: Class
    code: str = ""
    files: dict[str, str] = field(factory=dict)
    links: dict[str, str] = field(factory=dict)
    remove: tuple[str, ...] = ()
    bomb_mib: int = 0


@frozen(kw_only=True)
class _Attacks:
    attack: tuple[Attack, ...]


def attacks_on(toy: str) -> tuple[Attack, ...]:
    """The attacks on a toy, in the order in which they are published."""
    path = _ATTACKS / f"{toy}.toml"
    return structure(tomllib.loads(path.read_text("utf-8")), _Attacks, where=path.name).attack


def bomb(mib: int) -> bytes:
    """A small patch in git's binary format, for a file of so many MiB of zeros."""
    size = mib << 20
    packed = zlib.compress(bytes(size), 9)
    lines = [
        *(b"diff --git a/zeros b/zeros", b"new file mode 100644", b"index %s..%s" % (b"0" * 40, b"1" * 40)),
        *(b"GIT binary patch", b"literal %d" % size),
        *(_binary_line(packed[at : at + _WIDTH]) for at in range(0, len(packed), _WIDTH)),
        *(b"", b"literal 0", b"HcmV?d00001", b"", b""),
    ]
    return b"\n".join(lines)


def _binary_line(data: bytes) -> bytes:
    """The length as a letter (A to Z, then a to z), and the bytes in base85."""
    return bytes([len(data) + (64 if len(data) <= 26 else 70)]) + base64.b85encode(data, pad=True)


def carry_out(attack: Attack, workspace: Path, module: str) -> None:
    """Do to the workspace what the attack's agent does; ``module`` is the file that the tests import."""
    for path in attack.remove:
        place = workspace / path
        remove_tree(place) if place.is_dir() else place.unlink()
    if attack.code:
        with (workspace / module).open("a") as file:
            file.write(attack.code)
    for path, text in attack.files.items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text)
    for path, target in attack.links.items():
        (workspace / path).symlink_to(target)
