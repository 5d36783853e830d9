"""Every kept file, and some mutations of it, through its target: a value or a refusal, soon, and in little memory."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
KEPT = {name: sorted((CORPUS / name).iterdir()) for name in TARGETS}
MORE_MEMORY = 1 << 30


@pytest.fixture(scope="module", autouse=True)
def little_memory() -> Iterator[None]:
    """No target may ask for more than this much beyond what the program has."""
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held + MORE_MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", TARGETS)
def test_no_kept_file_breaks_its_parser(name: str) -> None:
    for path in KEPT[name]:
        TARGETS[name](path.read_bytes())


def test_the_corpus_is_small_and_each_file_has_a_target() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)
    assert max(path.stat().st_size for files in KEPT.values() for path in files) < 100_001


@st.composite
def mutations(draw: st.DrawFn, name: str) -> bytes:
    """A kept file, or a part of it, with bytes of itself, of another one or of nowhere in some places."""
    data = draw(st.sampled_from(KEPT[name])).read_bytes()[:4096]
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 20)))
        other = draw(st.sampled_from(KEPT[name])).read_bytes()[:4096]
        at = draw(st.integers(0, len(other)))
        new = draw(st.binary(max_size=4) | st.just(other[at : at + draw(st.integers(0, 200))]))
        data = data[:start] + new * draw(st.sampled_from([1, 1, 1, 50])) + data[end:]
    return data


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", TARGETS)
def test_no_mutation_of_a_kept_file_breaks_its_parser(name: str) -> None:
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(mutations(name))
    def check(data: bytes) -> None:
        TARGETS[name](data)

    check()
