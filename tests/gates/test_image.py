from __future__ import annotations

from attrs import evolve

from nanobench.gates.image import CAPTURED, PUBLISH, ImageGate
from nanobench.gates.interface import Case
from nanobench.model.fields import Digest


def test_two_builds_with_one_identity_pass(case: Case) -> None:
    finding = ImageGate().check(case)
    assert (finding.verdict, finding.reasons) == ("pass", ())
    assert finding.evidence["first"] == finding.evidence["second"]


def test_every_part_of_the_identity_that_differs_is_named_with_both_values(case: Case) -> None:
    first = case.image.locked()
    other = Digest("sha256:" + "5" * 64)
    second = evolve(first, manifest_digest=other, source_date_epoch=1, diff_ids=(other, *first.diff_ids[1:]))
    finding = ImageGate().check(evolve(case, rebuild=lambda: second))
    assert finding.verdict == "fail"
    assert [reason.partition(":")[0] for reason in finding.reasons] == [
        "manifest_digest",
        "source_date_epoch",
        "diff_ids",
    ]
    assert f"first build {first.manifest_digest}, second {other}" in finding.reasons[0]
    assert finding.remedy


def test_a_captured_image_is_unknown_and_one_that_differs_fails_all_the_same(case: Case) -> None:
    captured = evolve(case.image.image.layers[0], role="captured")
    image = evolve(case.image, image=evolve(case.image.image, layers=(captured, *case.image.image.layers[1:])))
    case = evolve(case, image=image, rebuild=image.locked)
    finding = ImageGate().check(case)
    assert (finding.verdict, finding.reasons, finding.remedy) == ("unknown", (CAPTURED,), PUBLISH)
    assert finding.evidence["second"]["captured"] is True
    other = evolve(image.locked(), source_date_epoch=1)
    assert ImageGate().check(evolve(case, rebuild=lambda: other)).verdict == "fail"
