"""``nanobench selftest``: does the grader hold on this machine?"""

from __future__ import annotations

from typing import Annotated

import typer

from nanobench.cli import common
from nanobench.errors import Misuse
from nanobench.sandbox.choose import EngineName
from nanobench.selftest.suite import TOYS, Result, attack_all, ready


@common.verb
def selftest(
    attacks: Annotated[
        bool, typer.Option("--attacks", help="Carry out every published attack on the grader.")
    ] = False,
    offline: common.Offline = False,
    store: common.StorePath = None,
    engine: common.Engines = EngineName.AUTO,
    project: common.ProjectPath = None,
    as_json: common.AsJson = False,
) -> None:
    """Attack the grader with patches that are wrong and want to be called right, and see that none is.

    Exit 1 when an attack came to something else than it should.

    Examples:

        nanobench selftest --attacks
    """
    if not attacks:
        raise Misuse("NB_USAGE", "what is to be tested?", hint="nanobench selftest --attacks")
    found, bench = common.project(project), common.workbench(store, engine)
    results: list[Result] = []
    with common.network(offline=offline) as online:
        for name in TOYS.task_ids():
            toy = ready(name, found, online=online, bench=bench)
            for result in attack_all(toy, bench):
                common.say(f"{name}: {result.attack.name}: {result.got}")
                results.append(result)
    common.show({"attacks": [_document(r) for r in results]}, "\n".join(map(_line, results)), as_json=as_json)
    if not all(result.held for result in results):
        raise typer.Exit(1)


def _document(result: Result) -> dict[str, str]:
    attack = result.attack
    return {
        "suite": result.toy,
        "attack": attack.name,
        "expected": attack.expected,
        "got": result.got,
        "detail": result.detail,
    }


def _line(result: Result) -> str:
    sign = "ok  " if result.held else "FAIL"
    return f"{sign} {result.toy:<11} {result.attack.expected:<16} {result.got:<16} {result.attack.name}"
