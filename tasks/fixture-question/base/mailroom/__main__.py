"""``python -m mailroom SPOOL STORE``"""

from __future__ import annotations

import sys
from pathlib import Path

from mailroom.config import read_settings
from mailroom.pipeline import Pipeline


def main(spool: Path, store: Path) -> int:
    settings = read_settings(Path("stages.ini"))
    pipeline = Pipeline(settings)
    for file in sorted(spool.glob("*.txt")):
        pipeline.run(file.read_text("utf-8"), store)
    if settings.report:
        from mailroom.render import report

        print(report.table(pipeline.counts))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
