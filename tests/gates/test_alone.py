"""For each gate a toy that fails at it and at no other, or is warned of by it alone; its remedy, followed, helps."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen

from nanobench.archives.oci import ImageLayer
from nanobench.formats.digest import sha256
from nanobench.gates.interface import Case, Finding
from nanobench.gates.judge import GATES, judge_all
from nanobench.model.fields import Digest
from nanobench.model.upstream import LockedHistory, LockedUpstream, PinnedTree, SampledChange

GAP = "".join(f"# {n}\n" for n in range(9))
BASE = {"shop.py": f"def price(count):\n    return count\n\n{GAP}\ndef is_open(hour):\n    return True\n"}
SOLUTION = {
    "shop.py": f"def price(count):\n    return 2 * count\n\n{GAP}\ndef is_open(hour):\n    return hour >= 8\n"
}
TESTS = """
import pytest
import shop

def test_price():
    assert shop.price(2) == 4

def test_hours():
    assert shop.is_open(8) and not shop.is_open(7)

@pytest.mark.parametrize("hour", range(8, 13))
def test_day(hour):
    assert shop.is_open(hour)
"""
BREAKS = "\ndef test_night():\n    assert shop.is_open(3)\n"
ORDERED = "\nseen = []\n\ndef test_one():\n    seen.append(1)\n\ndef test_other():\n    assert seen == [1]\n"
HOURS = TESTS[TESTS.index("def test_hours") : TESTS.index("@pytest")]


@frozen
class Toy:
    """``wrong`` is the toy; ``said`` and ``helps`` are words of its gate's reason or warning and of its remedy;
    ``mended`` is the toy when the remedy was followed."""

    wrong: Case
    mended: Callable[[Finding], Case]
    said: str
    helps: str = ""


@pytest.fixture
def make(toy_case: Any) -> Callable[..., Case]:
    """The toy of which no gate has anything to say: with other tests, or lines at the top of its task."""

    def case(tests: str = TESTS, head: str = "") -> Case:
        made: Case = toy_case(BASE, SOLUTION, {"tests/test_shop.py": tests}, head)
        return with_image(made, b"")

    return case


def with_image(case: Case, mark: bytes, **changes: Any) -> Case:
    """The case with another image, by its digest too; built again, it is the same."""
    image = case.image.image
    other = evolve(case.image, image=evolve(image, manifest=image.manifest + mark))
    return evolve(case, image=other, rebuild=other.locked, **changes)


def schema(good: Case, _: Any) -> Toy:
    surprised = {**good.documents, "task": {**good.documents["task"], "surprise": 1}}
    return Toy(evolve(good, documents=surprised), lambda _: good, "'surprise' was unexpected", "mend the keys named")


def source(_: Case, make: Any) -> Toy:
    wrong = make(head='required_files = ["till.py"]\n')
    right = lambda _: make(head='required_files = ["shop.py"]\n')  # noqa: E731
    return Toy(wrong, right, "required file till.py is not changed", "name the right files under required_files")


def merged(good: Case, *, changes: int = 80, **curation: Any) -> Case:
    """The toy with the pins of a merged change."""
    tree = PinnedTree(commit="a" * 40, tree="b" * 40, archive=Digest(f"sha256:{'0' * 64}"), size=1)
    read = tuple(SampledChange(commit="a" * 40, languages=("python",), changed=1, read=9) for _ in range(5))
    history = LockedHistory(days=180, changes=changes, sample=read)
    date = "2026-06-01T00:00:00Z"
    pins = LockedUpstream(identity="squash", merged_at=date, base=tree, merge=tree, history=history)
    task = evolve(good.task, curation=evolve(good.task.curation, **curation))
    return evolve(good, pins=pins, cutoff="2026-01-01", tokens=90_000, task=task)


def repository(good: Case, _: Any) -> Toy:
    mended = lambda _: merged(good, changes=3, domain_novelty="new")  # noqa: E731
    return Toy(merged(good, changes=3), mended, "9 of 16 points, 10 are needed", "state curation.domain_novelty")


def contamination(good: Case, _: Any) -> Toy:
    return Toy(
        merged(good, merged_at="2026-06-02"),
        lambda _: merged(good),
        "curation.merged_at: stated 2026-06-02",
        "leave curation.merged_at out",
    )


def image(good: Case, _: Any) -> Toy:
    """Another version of the package that wrote the time: another image, the same each time."""
    late = evolve(good.image.locked(), source_date_epoch=1)
    wrong = evolve(with_image(good, b"time"), rebuild=lambda: late)
    return Toy(wrong, lambda _: with_image(good, b"no time"), "source_date_epoch: first build", "pin another version")


def harness(good: Case, _: Any) -> Toy:
    build = evolve(good.harness.original, tarball=Digest(f"sha256:{'0' * 64}"))
    other = evolve(good.harness, nanocoder="1.31.0", original=build)
    return Toy(evolve(good, harness=other), lambda _: good, "locked is 1.31.0", "--upgrade-input harness")


def leak(good: Case, _: Any, place: Path) -> Toy:
    solved = SOLUTION["shop.py"].encode()
    (place / "shop.py").write_bytes(solved)
    wrong = with_image(good, solved)
    layer = ImageLayer(role="image", diff_id=sha256(b"a layer of" + solved), size=0)
    inner = evolve(wrong.image.image, layers=(layer, *wrong.image.image.layers))
    holding = evolve(wrong.image, image=inner, trees=(place, *wrong.image.trees))
    return Toy(
        evolve(wrong, image=holding, rebuild=holding.locked),
        lambda _: good,
        "image: /shop.py: file: golden patch: shop.py",
        "keep it out of the image",
    )


def quarantined(finding: Finding, make: Any, tests: str) -> Case:
    """What the remedy says to write, written."""
    lines = finding.remedy[finding.remedy.index("quarantine = ") :]
    assert tomllib.loads(lines)["quarantine"]
    made: Case = make(tests, lines + "\n")
    return made


def verification(_: Case, make: Any) -> Toy:
    night = 'quarantine = ["py|tests/test_shop.py::test_night"]\n'
    return Toy(
        make(TESTS + BREAKS),
        lambda _: make(TESTS + BREAKS, night),
        "py|tests/test_shop.py::test_night: passed at base, failed with the golden patch",
        "quarantine tests that are not the change's",
    )


def flakiness(_: Case, make: Any) -> Toy:
    return Toy(
        make(TESTS + ORDERED),
        lambda finding: quarantined(finding, make, TESTS + ORDERED),
        "test_other: passed in golden, run 1, failed in golden, another order",
        "or quarantine them in tasks/toy/task.toml",
    )


def adequacy(_: Case, make: Any) -> Toy:
    return Toy(make(TESTS.replace(HOURS, "")), lambda _: make(), "shop.py:12: no target test notices a missing hunk")


def fairness(good: Case, _: Any) -> Toy:
    told = evolve(good, statement=b"Mend shop.py.\n")
    return Toy(told, lambda _: good, "tasks/toy/statement.md:1: names the required file shop.py")


class Leaking:
    """An engine that seals badly."""

    name = "leaking"

    def __init__(self, good: Any) -> None:
        self._good = good

    def __getattr__(self, name: str) -> Any:
        return getattr(self._good, name)

    def run(self, request: Any) -> Any:
        finished = self._good.run(request)
        request.stdout.write_bytes(request.stdout.read_bytes().replace(b"routes none", b"routes some"))
        return finished


def hermetic(good: Case, _: Any) -> Toy:
    engine: Any = Leaking(good.bench.engine)
    wrong = evolve(good, bench=evolve(good.bench, engine=engine))
    return Toy(wrong, lambda _: good, "found 'routes some'", "nanobench doctor")


TOYS: dict[str, Callable[..., Toy]] = {
    **{"schema": schema, "source": source, "repository": repository, "contamination": contamination},
    **{"image": image, "harness": harness, "leak": leak, "verification": verification, "flakiness": flakiness},
    **{"adequacy": adequacy, "fairness": fairness, "hermetic": hermetic},
}


def troubles(case: Case) -> Iterator[tuple[str, Finding]]:
    """Every gate that did not pass, or that warns of the toy."""
    for judged in judge_all(case):
        finding = judged.finding
        if finding.verdict != "pass" or (finding.warnings and finding.evidence.get("asked", True)):
            yield judged.name, finding


def test_there_is_a_toy_for_each_gate() -> None:
    assert tuple(TOYS) == tuple(gate.name for gate in GATES)


@pytest.mark.parametrize("gate", TOYS)
def test_a_toy_fails_at_one_gate_alone_and_following_the_remedy_helps(
    gate: str, make: Callable[..., Case], tmp_path: Path
) -> None:
    (tmp_path / "layer").mkdir()
    more = (tmp_path / "layer",) if gate == "leak" else ()
    toy = TOYS[gate](make(), make, *more)
    found = dict(troubles(toy.wrong))
    assert list(found) == [gate]
    assert toy.said in "\n".join((*found[gate].reasons, *found[gate].warnings))
    assert toy.helps in found[gate].remedy
    assert dict(troubles(toy.mended(found[gate]))) == {}
