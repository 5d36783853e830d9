"""``nanobench store``: free space, look for damage, or put in what no registry has."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from nanobench.cli import common
from nanobench.errors import Misuse

app = typer.Typer(no_args_is_help=True, help="The content store: free space, look for damage, add.")


@app.command()
@common.verb
def gc(store: common.StorePath = None, as_json: common.AsJson = False) -> None:
    """Remove what no lock or unfinished run reaches any more, and images at a Docker daemon that were made of it.

    Waits until nobody else uses the store.

    Examples:

        nanobench store gc
    """
    from nanobench.sandbox.docker import Docker  # its libraries are slow to load, for every verb

    place = common.store(store)
    freed = place.gc()
    Docker(place).forget()
    common.show({"freed_bytes": freed}, f"freed {freed / (1 << 20):.1f} MiB", as_json=as_json)


@app.command()
@common.verb
def add(
    file: Annotated[Path, typer.Argument(help="A captured layer, from the store of the machine that locked it.")],
    store: common.StorePath = None,
    as_json: common.AsJson = False,
) -> None:
    """Put a file into the store, under its own digest, and say which that is.

    Examples:

        nanobench store add captured.tar
    """
    try:
        with file.open("rb") as source, common.store(store).incoming() as incoming:
            shutil.copyfileobj(source, incoming, 1 << 20)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise Misuse("NB_NO_FILE", f"cannot be read: {error.strerror}", where=str(file)) from None
    common.show({"digest": incoming.digest}, incoming.digest, as_json=as_json)


@app.command()
@common.verb
def verify(store: common.StorePath = None, as_json: common.AsJson = False) -> None:
    """Hash everything anew; what is damaged is put into quarantine and named (exit 1).

    Examples:

        nanobench store verify
    """
    bad = common.store(store).verify()
    lines = [f"- {error}" for error in bad] or ["every blob and tree is as it was stored"]
    common.show({"damaged": [error.document() for error in bad]}, "\n".join(lines), as_json=as_json)
    if bad:
        raise typer.Exit(1)
