"""A bundle whose cells ran with a harness that the task was not locked with."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import evolve

from nanobench.audit.steps import Step
from nanobench.bundle.write import cell_name
from nanobench.formats.digest import sha256_hex
from nanobench.formats.documents import dump_lock
from nanobench.model.lock import HarnessLock

Look = Callable[..., dict[str, Step]]
Forge = Callable[[Path], Any]


def test_a_harness_that_holds_the_solution_is_found_though_every_other_word_fits(
    nop_bundle: Path, forge: Forge, retest: Look, leaky: HarnessLock
) -> None:
    forged = forge(nop_bundle)
    data = dump_lock(leaky)
    (forged.root / f"locks/harness/{leaky.name}.lock.toml").write_bytes(data)
    results = [
        evolve(
            result,
            cell=evolve(result.cell, harness=leaky.name),
            harness_sha256=sha256_hex(data),
            nanocoder=leaky.nanocoder,
        )
        for result in forged.results()
    ]
    shutil.rmtree(forged.root / "cells")
    for result in results:
        (forged.root / cell_name(result.cell.id)).parent.mkdir(parents=True, exist_ok=True)
        forged.replace(result)
    cells, harnesses = tuple(result.cell for result in results), {leaky.name: sha256_hex(data)}
    forged.run(lambda run: evolve(run, cells=cells, harnesses=harnesses))
    steps = retest(forged.root)
    assert steps["bytes"].verdict == "pass"
    assert steps["derive"].verdict == "fail"
    assert any("NB_LEAK" in reason and leaky.name in reason for reason in steps["derive"].reasons)
