from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve, frozen

from nanobench.gates.hermetic import HermeticGate
from nanobench.gates.interface import Case
from nanobench.sandbox.interface import Engine, Finished, Request


@frozen
class Leaking:
    """An engine that seals badly: what its sandbox says of itself is changed."""

    inner: Engine
    old: bytes
    new: bytes
    name: str = "leaking"

    def run(self, request: Request) -> Finished:
        finished = self.inner.run(request)
        request.stdout.write_bytes(request.stdout.read_bytes().replace(self.old, self.new))
        return finished


def test_the_engine_of_this_machine_seals(case: Case) -> None:
    finding = HermeticGate().check(case)
    assert (finding.verdict, finding.reasons) == ("pass", ())
    assert "interface lo" in finding.evidence["probe"]


@pytest.mark.parametrize(
    ("old", "new", "reasons"),
    [
        (b"interface lo", b"interface lo\ninterface eth0", ["found 'interface eth0'"]),
        (b"routes none", b"routes some", ["expected 'routes none'", "found 'routes some'"]),
        (b"root read-only", b"root writable", ["expected 'root read-only'", "found 'root writable'"]),
        (b"core_pattern closed", b"core_pattern writable", ["core_pattern closed", "core_pattern writable"]),
        (b"uid 1000 1000", b"uid 0 0", ["uid 1000 1000", "uid 0 0"]),
        (b"no_new_privileges 1\n", b"", ["expected 'no_new_privileges 1'"]),
    ],
)
def test_every_leak_is_named(case: Case, old: bytes, new: bytes, reasons: list[str]) -> None:
    engine: Any = Leaking(case.bench.engine, old, new)
    finding = HermeticGate().check(evolve(case, bench=evolve(case.bench, engine=engine)))
    assert finding.verdict == "fail"
    assert len(finding.reasons) == len(reasons)
    for found, expected in zip(finding.reasons, reasons, strict=True):
        assert expected in found
    assert "nanobench doctor" in finding.remedy
