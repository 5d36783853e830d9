"""What every test-report format does: bring its reporter into the sandbox. All reporters write the same lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from nanobench.formats.digest import document_sha256, sha256_hex

GRADE = "/nanobench/grade"
"""Where the reporter's files are inside, read-only, while tests run and never while an agent does."""

OUT = "/nanobench/out"
"""Where a report is written inside."""

REPORT = "report.jsonl"
"""Its name there."""

REPORTERS = Path(__file__).parent / "reporter"
"""The files that run inside."""

CANARIES = Path(__file__).parent / "canary"
"""What test files end with while they are graded."""


def grading_sha256() -> str:
    """The digest of this room with every reporter and canary: outcomes that are remembered were seen with these."""
    folders = (Path(__file__).parent, REPORTERS, CANARIES)
    files = sorted(path for folder in folders for path in folder.iterdir() if path.is_file())
    return document_sha256({path.name: sha256_hex(path.read_bytes()) for path in files})


class ReportFormat(Protocol):
    """One way to learn what became of each test."""

    def prepare(self, folder: Path, env: Mapping[str, str]) -> dict[str, str]:
        """Put the reporter's files into ``folder`` (``GRADE`` inside); the variables that this adds to ``env``."""

    def command(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The suite's command, with what makes it load the reporter."""
