"""Files that are generated from the code: ``python -m nanobench.cli.golden`` writes them, a test compares them."""

from __future__ import annotations

import sys
from pathlib import Path

from nanobench.formats import json
from nanobench.formats.documents import KINDS
from nanobench.formats.schema import emit
from nanobench.harness.contract import CONTRACTS
from nanobench.project.files import write_whole


def golden_files() -> dict[str, bytes]:
    """Path below the project → bytes."""
    ours = {f"schemas/{name}.schema.json": json.pretty(emit(kind, name=name)) for name, kind in KINDS.items()}
    reports = {f"schemas/{contract.name}.schema.json": json.pretty(contract.schema) for contract in CONTRACTS}
    return {**ours, **reports}


def main(root: Path) -> None:
    """Write every file whose bytes differ."""
    for name, data in golden_files().items():
        path = root / name
        if not path.is_file() or path.read_bytes() != data:
            write_whole(path, data)
            sys.stdout.write(f"wrote {name}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
