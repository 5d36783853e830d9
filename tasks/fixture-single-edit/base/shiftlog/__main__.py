"""``python -m shiftlog LOG``"""

from __future__ import annotations

import sys
from pathlib import Path

from shiftlog.parse import LogError, read_log
from shiftlog.report import hours, weekly


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m shiftlog LOG", file=sys.stderr)
        return 2
    try:
        shifts = read_log(Path(arguments[0]).read_text("utf-8"))
    except (OSError, LogError) as error:
        print(f"shiftlog: {error}", file=sys.stderr)
        return 1
    for week, worked in weekly(shifts).items():
        print(f"{week} {hours(worked)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
