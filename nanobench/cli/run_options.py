"""The options of ``run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nanobench.cli.nanocoder import HELP, OPTION
from nanobench.cli.provider import FILE
from nanobench.gateway.scripted.behaviours import SCRIPTED, STANDALONE

Tasks = Annotated[list[str] | None, typer.Argument(metavar="TASK", help="Locked tasks (default: all).")]
MatrixFile = Annotated[
    Path | None, typer.Option("--matrix", help="All axes in a file; an option stands in place of its key.")
]
ProviderNames = Annotated[
    list[str] | None,
    typer.Option(
        "--provider",
        metavar="NAME[=MODEL,…]",
        help=f"{', '.join((*STANDALONE, SCRIPTED))} (no model), or a name; several may be given.",
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="MODEL", help="A model of the one provider; several may be given."),
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="An OpenAI-compatible endpoint, up to and with /v1.")]
KeyEnv = Annotated[
    str | None, typer.Option("--key-env", help="The environment variable that holds the provider's key.")
]
KeyFile = Annotated[Path | None, typer.Option("--key-file", help="A file that holds only the key.")]
ProvidersFile = Annotated[
    Path | None, typer.Option("--providers", help=f"Endpoints by name (default: {FILE} of the project).")
]
Modes = Annotated[
    list[str] | None, typer.Option("--mode", metavar="MODE", help="hinted (default) or navigation; or both.")
]
Nanocoders = Annotated[
    list[str] | None,
    typer.Option(OPTION, metavar="X", help=f"{HELP} (default: the one that a task was locked with)."),
]
Profiles = Annotated[
    list[str] | None,
    typer.Option(
        "--profile",
        metavar="TABLE",
        help="How Nanocoder is set up, a table of TOML: name, tool_profile, disabled_tools, agents_md, context_limit;"
        " several may be given.",
    ),
]
Repeats = Annotated[int | None, typer.Option("--repeats", min=1, max=1000, help="Runs of each cell (default: 1).")]
OrderSeed = Annotated[
    int | None,
    typer.Option("--order-seed", min=0, max=2**31 - 1, help="Draws the order of the cells (default: 0)."),
]
Out = Annotated[Path | None, typer.Option("--out", help="Folder of the bundle (default: runs/<date>).")]
LockFile = Annotated[Path | None, typer.Option("--lock", help="Use this task lock in place of the project's.")]
LockedFlag = Annotated[bool, typer.Option("--locked", help="Run only what is locked and current (always so).")]
Frozen = Annotated[bool, typer.Option("--frozen", help="--locked and --offline.")]
Jobs = Annotated[int | None, typer.Option("--jobs", min=1, help="Cells at once (default: what the CPUs hold).")]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens", help="Tokens, in and out, of an attempt at a cell; then it ends softly."),
]
MaxSeconds = Annotated[
    int | None,
    typer.Option("--max-seconds", help="Seconds of an attempt at a cell; then it ends softly."),
]
MaxCost = Annotated[
    str | None,
    typer.Option("--max-cost", metavar="USD", help="Money of the whole run; then no cell starts."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what the plan is and what it uses at most.")]
