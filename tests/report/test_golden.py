"""The text forms stay as they are, and are the same bytes wherever they are made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.report.golden import PLACE, texts

ROOT = Path(__file__).parents[2]
ELSEWHERE = """
import hashlib, json, os, sys
from pathlib import Path
os.umask(0o077)
from benchmarks.synthetic import Plan, synthetic
from nanobench.bundle.read import open_bundle
from nanobench.report.rows import gather
from nanobench.report.site import Site
from tests.report.golden import texts
place = Path(sys.argv[1])
found = texts(place)
bundle = open_bundle(synthetic(place / "small", Plan(tasks=2, repeats=2)))
site = Site([bundle], gather([bundle]), None)
site.write_folder(place / "site")
site.write_file(place / "one.html")
pages = [place / "one.html", *(place / "site").rglob("*")]
found |= {str(page.relative_to(place)): page.read_bytes() for page in pages if page.is_file()}
said = {name: hashlib.sha256(data).hexdigest() for name, data in found.items()}
said |= {f"mode of {page.relative_to(place)}": oct(page.stat().st_mode) for page in pages}
print(json.dumps(said, sort_keys=True))
"""


def test_text_forms_are_those_that_were_looked_at(tmp_path: Path) -> None:
    for name, data in texts(tmp_path).items():
        assert data == (PLACE / name).read_bytes(), f"{name}: look at it, then python -m tests.report.golden"


def test_every_form_is_the_same_bytes_in_other_surroundings(tmp_path: Path) -> None:
    def made(name: str, **env: str) -> dict[str, str]:
        place = tmp_path / name
        place.mkdir()
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **env}
        command = [sys.executable, "-c", ELSEWHERE, str(place)]
        done = subprocess.run(command, env=environment, cwd=place, capture_output=True, text=True, check=True)
        found: dict[str, str] = json.loads(done.stdout)
        return found

    here = made("here", TZ="UTC", LC_ALL="C.UTF-8", PYTHONHASHSEED="1", COLUMNS="200")
    there = made("an odd, şmall place", TZ="America/St_Johns", LC_ALL="C", PYTHONHASHSEED="2", PYTHONUTF8="0")
    assert here == there and len(here) > 12
    assert here["mode of site/index.html"] == "0o100644"
