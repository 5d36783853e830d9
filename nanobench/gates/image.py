"""image: two builds from the same pins, the second from an empty build cache, give one digest."""

from __future__ import annotations

from nanobench.formats.converter import unstructure
from nanobench.gates.interface import Case, Finding, judged


class ImageGate:
    """The evidence is the identity that both builds gave."""

    name = "image"

    def check(self, case: Case) -> Finding:
        """Build again and compare every digest."""
        first, second = unstructure(case.image.locked()), unstructure(case.rebuild())
        reasons = tuple(
            f"{key}: first build {first[key]}, second {second[key]}" for key in first if first[key] != second[key]
        )
        return judged(
            {"first": first, "second": second},
            reasons,
            "a package writes something that differs from build to build: pin another version, or report the layer",
        )
