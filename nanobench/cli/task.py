"""``nanobench task``: looks at one task without building anything."""

from __future__ import annotations

from typing import Annotated

import typer

from nanobench.cli import common
from nanobench.formats.digest import sha256_hex
from nanobench.gates.schema import schema_problems
from nanobench.harness.prompt import prompt
from nanobench.image.sources import source_names

app = typer.Typer(no_args_is_help=True, help="Look at one task without building anything.")


@app.command()
@common.verb
def check(
    task: Annotated[str, typer.Argument(help="The task's id.")],
    project: common.ProjectPath = None,
    as_json: common.AsJson = False,
) -> None:
    """Read a task, its environment and its statement, and say what is wrong with them.

    Examples:

        nanobench task check tomlkit-0.15.2
    """
    found = common.project(project)
    spec = found.task(task)
    environment = found.environment(spec.value.environment)
    statement = found.statement(task)
    problems = schema_problems({"task": spec.document, "environment": environment.document})
    names = source_names(spec.value, folder=found.folder(task))
    prompt(statement.decode("utf-8"), "hinted", spec.value.required_files)
    facts = {
        "task": task,
        "spec_sha256": spec.sha256,
        "environment_sha256": environment.sha256,
        "statement_sha256": sha256_hex(statement),
        "source": list(names),
        "problems": list(problems),
    }
    lines = [f"{task}: {'not ' if problems else ''}well-formed", *(f"  - {p}" for p in problems)]
    common.show(facts, "\n".join((*lines, f"  → nanobench lock {task}")), as_json=as_json)
    if problems:
        raise typer.Exit(1)
