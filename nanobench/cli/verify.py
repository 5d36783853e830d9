"""``nanobench verify``: a published bundle, checked step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nanobench.audit.steps import exit_code
from nanobench.audit.verify import Audit
from nanobench.audit.verify import verify as verify_bundle
from nanobench.cli import common
from nanobench.sandbox.choose import EngineName


@common.verb
def verify(
    bundle: Annotated[Path, typer.Argument(help="The folder that `run` wrote.")],
    offline: common.Offline = False,
    store: common.StorePath = None,
    engine: common.Engines = EngineName.AUTO,
    project: common.ProjectPath = None,
    as_json: common.AsJson = False,
) -> None:
    """Check a bundle again: its bytes, its locks, the gates, its scores, and each patch in the locked image.

    Exit 0: verified. 1: something is not as published. 3: something could not be told.

    Examples:

        nanobench verify runs/oracle

        nanobench verify ./published --project ~/nanobench --json
    """
    folder = common.bundle(bundle).absolute()
    with common.network(offline=offline) as online:
        bench = common.untried_workbench(store, engine)
        audit = Audit(project=common.project_if_any(project), bench=bench, online=online)
        steps = verify_bundle(folder, audit)
    lines = [line for s in steps for line in (f"{s.name:<8} {s.verdict}", *map(_indented, s.reasons))]
    code = exit_code(steps)
    document = {
        "bundle": str(bundle),
        "verdict": {0: "pass", 1: "fail"}.get(code, "unknown"),
        "steps": {s.name: {"verdict": s.verdict, "reasons": list(s.reasons)} for s in steps},
    }
    common.show(document, "\n".join(lines), as_json=as_json)
    if code:
        raise typer.Exit(code)


def _indented(reason: str) -> str:
    """A reason below its step, all of it: names in it are a stranger's, and one may end a line."""
    return "  - " + reason.replace("\n", "\n      ")
