"""What every command does alike."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_without_proc_the_remedy_is_to_mount_it(tmp_path: Path) -> None:
    main = "import sys; sys.argv[0] = 'nanobench'; from nanobench.cli.main import main; main()"
    hidden = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        'mount -t tmpfs none /proc; exec "$@"',
        "sh",
    ]
    arguments = ["build", "--store", str(tmp_path / "store"), "--project", str(Path(__file__).parents[2])]
    done = subprocess.run([*hidden, sys.executable, "-c", main, *arguments], capture_output=True, text=True)
    assert done.returncode == 4
    assert "NB_OS: /proc/self/" in done.stderr
    assert "mount -t proc proc /proc" in done.stderr
