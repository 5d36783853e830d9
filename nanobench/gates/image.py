"""image: two builds from the same pins, the second from an empty build cache, give one digest.

What Docker built from a Dockerfile is itself a pin: whether it can be built again is unknown, and the lock says so.
"""

from __future__ import annotations

from nanobench.formats.converter import unstructure
from nanobench.gates.interface import Case, Finding, judged

CAPTURED = "the base was built once, by Docker, and captured: that this can be done again is not promised"
PUBLISH = "publish the image and name it by digest (base.image), so that nobody has to build it"


class ImageGate:
    """The evidence is the identity that both builds gave."""

    name = "image"

    def check(self, case: Case) -> Finding:
        """Build again and compare every digest."""
        locked = case.image.locked()
        first, second = unstructure(locked), unstructure(case.rebuild())
        evidence = {"first": first, "second": second}
        reasons = tuple(
            f"{key}: first build {first[key]}, second {second[key]}" for key in first if first[key] != second[key]
        )
        if locked.captured and not reasons:
            return Finding(verdict="unknown", evidence=evidence, reasons=(CAPTURED,), remedy=PUBLISH)
        return judged(
            evidence,
            reasons,
            "a package writes something that differs from build to build: pin another version, or report the layer",
        )
