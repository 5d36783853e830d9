"""The text forms of one small bundle, as they must stay: ``python -m tests.report.golden`` writes them again."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.synthetic import Plan, synthetic
from nanobench.bundle.read import open_bundle
from nanobench.project.files import write_whole
from nanobench.report.comment import against, comment
from nanobench.report.data import to_csv, to_json
from nanobench.report.figures import parts_of
from nanobench.report.markdown import markdown
from nanobench.report.rows import gather
from nanobench.report.terminal import terminal

PLACE = Path(__file__).parent / "golden"


def texts(place: Path) -> dict[str, bytes]:
    """File name → bytes, of bundles made below ``place``."""
    axes = {"tasks": 7, "modes": ("hinted", "navigation"), "repeats": 5, "models": ("small", "large")}
    now = Plan(**axes, skill={"large": 0.9, "small": 0.3})  # type: ignore[arg-type]
    then = Plan(**axes, skill={"large": 0.1, "small": 0.3}, seed=2)  # type: ignore[arg-type]
    rows = gather([open_bundle(synthetic(place / "now", now, missing=(3,)))])
    before = gather([open_bundle(synthetic(place / "then", then))])
    parts = parts_of(rows)
    link = "https://example.org/report"
    return {
        "report.txt": terminal(parts, width=120).encode(),
        "report.md": markdown(parts).encode(),
        "report.json": to_json(rows[:3]),
        "report.csv": to_csv(rows[:4]).encode(),
        "comment.md": comment(parts, link=link, base=against(before, rows)).encode(),
    }


def main() -> None:
    """Write every file."""
    with tempfile.TemporaryDirectory() as place:
        for name, data in texts(Path(place)).items():
            write_whole(PLACE / name, data)


if __name__ == "__main__":
    main()
