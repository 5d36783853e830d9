"""How many tokens are these files? By one pinned vocabulary, offline, the same integer everywhere."""

from __future__ import annotations

import base64
import gzip
import json
import tarfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nanobench.store.plain_file import read_below

if TYPE_CHECKING:
    from tiktoken import Encoding

ENCODING = "o200k_base"
MAX_FILE = 4 << 20
"""Bytes of a file that are counted."""

_MEMBER = f"package/encoders/{ENCODING}.json"


def count_tokens(workspace: Path, files: Iterable[str], *, vocabulary: Path) -> int:
    """The tokens of these files of the base together; one that is not there, or is no plain file, has none.

    Args:
        vocabulary: the pinned archive (:mod:`.tools`).
    """
    encoding = _encoding(vocabulary)
    texts = (_text(workspace, file) for file in sorted(set(files)))
    return sum(len(encoding.encode_ordinary(text)) for text in texts)


def _text(workspace: Path, file: str) -> str:
    try:
        return read_below(workspace, file, limit=MAX_FILE).decode("utf-8", "replace")
    except OSError:
        return ""


@cache
def _encoding(vocabulary: Path) -> Encoding:
    from tiktoken import Encoding  # slow to load, and only ``lock`` and ``verify`` need it

    with gzip.open(vocabulary) as unzipped, tarfile.open(fileobj=unzipped, mode="r|") as archive:
        member = next(archive.extractfile(m) for m in archive if m.name == _MEMBER)
        assert member is not None, "its digest was checked"
        document = json.load(member)
    return Encoding(
        ENCODING,
        pat_str=document["pat_str"],
        mergeable_ranks=_ranks(document["bpe_ranks"]),
        special_tokens=document["special_tokens"],
    )


def _ranks(text: str) -> dict[bytes, int]:
    """Each line is ``! FIRST TOKEN…``: consecutive ranks, tokens in base64."""
    ranks: dict[bytes, int] = {}
    for line in text.splitlines():
        _, first, *tokens = line.split(" ")
        ranks |= {base64.b64decode(token): int(first) + at for at, token in enumerate(tokens)}
    return ranks
