"""The repository that an agent finds: one commit, the same bytes wherever and by whomever it is made."""

from __future__ import annotations

import os
import re
from pathlib import Path

from attrs import frozen

from nanobench.errors import Refused
from nanobench.sandbox.interface import WORKSPACE, Mount
from nanobench.sources.clean import AGENT_FOLDER
from nanobench.sources.gitbox import Gitbox

EPOCH = 946_684_800
"""2000-01-01T00:00:00Z: the date of the commit and the time of every file of a canonical tree."""

CONFIG = b"""\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = false
\tautocrlf = false
\tsymlinks = true
[user]
\tname = NanoBench
\temail = nanobench@localhost
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
ATTRIBUTES = b"* -text !eol -ident -filter !working-tree-encoding !diff !merge !whitespace\n"
"""Stronger than any ``.gitattributes`` of the tree: a blob is exactly the bytes of its file."""

_IDS = re.compile(rb"([0-9a-f]{40}) ([0-9a-f]{40})\n")
_MAGIC = re.compile(rb"([\\*?\[\]!# ])")


@frozen(kw_only=True)
class Repository:
    """The one commit of a workspace and its tree."""

    commit: str
    tree: str


def make_repository(gitbox: Gitbox, tree: Path, *, products: tuple[str, ...] = ()) -> Repository:
    """Make ``tree`` a repository of one commit that holds all its files, ignored ones too.

    Args:
        gitbox: the layers' git makes it, so the objects are the same on every machine.
        tree: a clean tree of the host (see :mod:`nanobench.sources.clean`); gets a ``.git``.
        products: files and folders of the tree that a build made: they are not committed but ignored.

    Raises:
        Refused: ``NB_GIT`` when git refuses, or when there is a ``.git`` already.
    """
    if os.path.lexists(tree / ".git"):
        raise Refused("NB_GIT", "the tree has a .git already", where=str(tree))
    gitbox.engine.own(tree)
    said = gitbox.run(
        "workspace.sh",
        mounts=(Mount(source=tree, target=WORKSPACE, writable=True),),
        files={
            "config": CONFIG,
            "attributes": ATTRIBUTES,
            "exclude": exclude_file(products),
            "pathspec": _pathspec(products),
        },
    )
    ids = _IDS.fullmatch(said)
    if ids is None:
        raise Refused("NB_GIT", f"git printed {said!r:.80} for two ids", where=str(tree))
    return Repository(commit=ids[1].decode(), tree=ids[2].decode())


def exclude_file(products: tuple[str, ...]) -> bytes:
    """The bytes of ``.git/info/exclude``: the agent's folder and the products of a build."""
    paths = [AGENT_FOLDER + b"/", *sorted(os.fsencode(path) for path in products)]
    return b"".join(b"/" + _MAGIC.sub(rb"\\\1", path) + b"\n" for path in paths)


def _pathspec(products: tuple[str, ...]) -> bytes:
    left_out = (b":(top,exclude,literal)" + os.fsencode(path.rstrip("/")) for path in sorted(products))
    return b"".join(spec + b"\0" for spec in (b".", *left_out))
