"""The pytest format: our own plugin, brought in by environment variables, so that any command will do.

``PYTEST_ADDOPTS`` reaches ``pytest``, ``python -m pytest`` and every wrapper of them; arguments of the command and
of the project's own configuration stay as they are. The cache goes to ``/tmp``: nothing is written into the
workspace, and options that need the cache plugin (``--ff``) still work. A suite's command should keep the workspace
off the module path until pytest adds it (``python -P -m pytest`` or ``pytest``), or a file of the patch could
shadow a module of pytest's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from nanobench.grading.interface import GRADE, OUT, REPORT, REPORTERS

_REPORTER = "nanobench_reporter"


@frozen(kw_only=True)
class Pytest:
    """Outcomes by node id from :mod:`.reporter.nanobench_reporter`. ``plugins`` are more modules of that folder."""

    plugins: tuple[str, ...] = ()

    def prepare(self, folder: Path, env: Mapping[str, str]) -> dict[str, str]:
        """See :meth:`.interface.ReportFormat.prepare`."""
        plugins = (_REPORTER, *self.plugins)
        for name in plugins:
            (folder / f"{name}.py").write_bytes((REPORTERS / f"{name}.py").read_bytes())
        loaded = " ".join(f"-p {name}" for name in plugins)
        return {
            "NANOBENCH_REPORT": f"{OUT}/{REPORT}",
            "PYTEST_ADDOPTS": _joined(" ", env.get("PYTEST_ADDOPTS"), f"{loaded} -o cache_dir=/tmp/pytest-cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": _joined(":", GRADE, env.get("PYTHONPATH")),
        }

    def command(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """See :meth:`.interface.ReportFormat.command`: the variables are enough."""
        return argv


def _joined(separator: str, *parts: str | None) -> str:
    return separator.join(part for part in parts if part)
