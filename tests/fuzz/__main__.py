"""Fuzz for as long as you like, guided by coverage: ``python -m tests.fuzz TARGET… [--seconds 60]``.

Needs atheris, which nothing else here does: ``.venv/bin/pip install atheris``. What is found is written to ``--out``;
make it small, mend the parser, and keep the file in ``corpus/TARGET/``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
ONE = """
import sys, atheris
with atheris.instrument_imports(include=["nanobench", "tests.fuzz"]):
    from tests.fuzz.targets import TARGETS
atheris.Setup(sys.argv[:1] + sys.argv[2:], lambda data: TARGETS[sys.argv[1]](bytes(data)) and None)
atheris.Fuzz()
"""


def main() -> int:
    """Fuzz the targets one after the other; 1 when one of them has a finding."""
    from tests.fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"default: all of {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (default: 60)")
    parser.add_argument("--out", type=Path, default=Path("runs/fuzz"), help="where findings go (default: runs/fuzz)")
    asked = parser.parse_args()
    return max(_fuzz(name, asked.seconds, asked.out) for name in asked.targets or TARGETS)


def _fuzz(name: str, seconds: int, out: Path) -> int:
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as grown:
        options = [f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-max_len=16384"]
        options += [f"-artifact_prefix={out}/{name}-", "-print_final_stats=0", "-verbosity=0"]
        done = subprocess.run([sys.executable, "-c", ONE, name, *options, grown, str(CORPUS / name)], check=False)
    print(f"{name}: {'a finding, see above' if done.returncode else 'nothing found'}")
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
