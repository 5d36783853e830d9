"""What a run leaves behind: plan, cell results, and the manifest of a published bundle."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal, TypeVar

from attrs import field, frozen

from nanobench.errors import Refused
from nanobench.model.fields import (
    DIGEST,
    IDENTIFIER,
    RELATIVE_PATH,
    SHA256,
    Digest,
    optional_text,
    optional_whole,
    text,
    texts,
    whole,
)
from nanobench.model.label import Labelled
from nanobench.model.profile import Profile
from nanobench.model.provider import Arm, Budgets, ModelPrice, Wire

Mode = Literal["hinted", "navigation"]

COST = r"(0|[1-9][0-9]*)(\.[0-9]*[1-9])?"
"""US dollars, computed: decimal text without final zeros."""


class Outcome(StrEnum):
    """One test's outcome. Only ``passed`` is a pass; a test that no reporter named is ``absent``."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    ABSENT = "absent"


class Cause(StrEnum):
    """Every way an agent's run can end. ``nanobench.scoring.causes`` says whose doing each one is."""

    FINISHED = "finished"
    TURN_CAP = "turn_cap"
    TIME_LIMIT = "time_limit"
    TOKEN_BUDGET = "token_budget"  # noqa: S105
    COST_BUDGET = "cost_budget"
    CONTEXT = "context"
    RATE_LIMIT = "rate_limit"
    PROVIDER_REFUSED = "provider_refused"
    PROVIDER_FAILED = "provider_failed"
    WIRE = "wire"
    FORWARDER = "forwarder"
    MEMORY = "memory"
    DISK = "disk"
    ENGINE = "engine"
    STARVED = "starved"
    CONTRACT = "contract"
    AGENT_ERROR = "agent_error"
    GRADER = "grader"
    GRADER_TAMPERED = "grader_tampered"
    INTERRUPTED = "interrupted"
    NOT_RUN = "not_run"


@frozen(kw_only=True)
class SuiteEnd:
    """How a suite's command ended. ``complete`` when its reporter got to its end; ``damage`` when the report could
    not be believed, and so every test of the suite counts as absent. ``vouched``: in how many files the canaries came
    out right; ``disagreement``: why the signals of the run contradict each other."""

    name: str = text(IDENTIFIER)
    exit_code: int = whole(0, 255)
    ended: str = text(IDENTIFIER)
    complete: bool
    damage: str | None = optional_text()
    vouched: int = whole(0, 10**6, default=0)
    disagreement: str | None = optional_text()


@frozen(kw_only=True)
class GradingRecord:
    """What grading saw: every suite's end, and each test's outcome by ``suite|node id``. The blob ``outcomes``."""

    schema: Literal[1]
    suite: tuple[SuiteEnd, ...]
    outcomes: dict[str, Outcome]


@frozen(kw_only=True)
class Failure:
    """Why a test failed: the exception's type (module and name, empty when unknown) and its words, cut."""

    type: str
    message: str


@frozen(kw_only=True)
class FailureRecord:
    """Why target tests failed, and the files and suites that hold them, by ``suite|node id``. The blob ``failures``,
    read for labels alone: it may differ from run to run."""

    schema: Literal[1]
    failures: dict[str, Failure]


@frozen(kw_only=True)
class Cell:
    """One planned run: task × harness × provider × model × mode × profile × repeat (0-based). ``harness`` names a
    lock; without a ``profile`` Nanocoder is set up as ever."""

    task: str = text(IDENTIFIER)
    harness: str = text(IDENTIFIER)
    provider: str = text(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,31}")
    model: str = text(r"[A-Za-z0-9_/.:][A-Za-z0-9_/.:-]{0,119}")
    mode: Mode
    profile: str | None = optional_text(IDENTIFIER)
    repeat: int = whole(0, 10_000)

    @property
    def id(self) -> str:
        """A name that is unique in a plan and safe as a path: a folder a task, in it one a profile, and a file name
        of at most 64 + 32 + 120 + 25 bytes."""
        folder = self.task if self.profile is None else f"{self.task}/{self.profile}"
        model = self.model.replace("/", "_").replace(":", "_")
        return f"{folder}/{self.harness}--{self.provider}--{model}--{self.mode}--{self.repeat}"


@frozen(kw_only=True)
class Usage:
    """Counted at the gateway. ``None`` is unknown, never zero: calls in the text of answers are not counted.

    ``input_tokens`` holds those read from a cache (``cached_tokens``) and those written to one
    (``cache_written_tokens``). ``by_tool`` are the tool calls by the tool's name.
    """

    steps: int
    tool_calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_written_tokens: int | None = None
    by_tool: dict[str, int] | None = None


@frozen(kw_only=True)
class Served:
    """Who answered, in the provider's own words, and how many steps: a name like ``large`` may lead elsewhere
    tomorrow. Absent is what the answers did not say."""

    steps: int
    model: str | None = optional_text()
    fingerprint: str | None = optional_text()


@frozen(kw_only=True)
class Blobs:
    """sha256 of the cell's raw files, kept in the bundle under ``blobs/sha256/``. The report is absent
    when the agent printed none; ``failures`` and ``landmarks`` where nothing is labelled."""

    patch: str = text(SHA256)
    transcript: str = text(SHA256)
    stderr: str = text(SHA256)
    outcomes: str | None = optional_text(SHA256)
    test_output: str | None = optional_text(SHA256)
    report: str | None = optional_text(SHA256)
    failures: str | None = optional_text(SHA256)
    landmarks: str | None = optional_text(SHA256)


@frozen(kw_only=True)
class Score:
    """``value`` is one of the four scores of the rules; the rest is what it was computed from."""

    value: Literal["0.0", "0.1", "0.5", "1.0"]
    label: Literal["Complete Resolution", "Partial Resolution", "Pathfinding Credit", "Zero Signal"]
    resolved: bool
    targets_passed: int = whole(0, 10**7)
    targets: int = whole(1, 10**7)
    broken: tuple[str, ...] = texts(default=())
    required_touched: tuple[str, ...] = texts(RELATIVE_PATH, default=())


@frozen(kw_only=True)
class Attempt:
    """One try at a cell; all are kept. Times in milliseconds of wall and CPU clock."""

    number: int = whole(1, 1000)
    cause: Cause
    detail: str = ""
    wall_ms: int = whole(0, 10**10, default=0)
    cpu_ms: int = whole(0, 10**10, default=0)


@frozen(kw_only=True)
class CellResult:
    """One finished cell. ``score`` is absent when the run was not the agent's to lose (see the cause table);
    ``failure`` when it was resolved or not scored.

    ``unknown_fields`` names what the report says that its contract does not know; ``weak_limits`` the limits that the
    engine could only watch, not enforce, on the machine of the run.
    ``sampling_pinned``: every answer was sampled with the arm's temperature and this ``seed``. Where not, the run is
    not deterministic.
    ``setting``: the sha256 of the provider's facts and the profile that the cell was run with.
    ``served``: who answered. ``cost``: US dollars of the attempt that stands, at the prices of the run; absent is
    unknown. ``no_model_usage`` marks a scored cell of a real provider of which no answer told a token that a model
    made.
    """

    schema: Literal[1]
    cell: Cell
    lock_sha256: str = text(SHA256)
    image_manifest: Digest = text(DIGEST)
    harness_sha256: str = text(SHA256)
    nanocoder: str = text()
    setting: str | None = optional_text(SHA256)
    engine: str = text(IDENTIFIER)
    cause: Cause
    attempts: tuple[Attempt, ...] = field(metadata={"min_items": 1})
    files_changed: tuple[str, ...] = texts(default=())
    reported_files_changed: tuple[str, ...] | None = None
    unknown_fields: tuple[str, ...] = texts(default=())
    dropped: tuple[str, ...] = texts(default=())
    usage: Usage
    served: tuple[Served, ...] | None = None
    cost: str | None = optional_text(COST)
    no_model_usage: Literal[True] | None = None
    sampling_pinned: bool
    seed: int | None = optional_whole(0, 2**32)
    weak_limits: tuple[str, ...] = texts(default=())
    blobs: Blobs
    score: Score | None = None
    failure: Labelled | None = None

    def __attrs_post_init__(self) -> None:
        if not self.attempts:
            raise ValueError("attempts: at least one is needed")


@frozen(kw_only=True)
class ProviderFacts:
    """The provider as published: never a key, never an address with credentials."""

    name: str = text()
    kind: Literal[Wire, "scripted"]
    base_url: str | None = optional_text()
    models: tuple[str, ...] = texts(nonempty=True)
    price: tuple[ModelPrice, ...] = ()
    arm: Arm = field(factory=Arm)

    @property
    def wire(self) -> Wire:
        """How it is spoken to."""
        return "openai-compatible" if self.kind == "scripted" else self.kind

    def price_of(self, model: str) -> ModelPrice | None:
        """What a model takes, where that is known."""
        return next((price for price in self.price if price.model == model), None)


@frozen(kw_only=True)
class RunManifest:
    """``run.json`` of a bundle: what was planned, from which locks. The cells must all be there.

    ``provider`` is the first and ``other_providers`` are the further ones; ``profiles`` those that cells name.
    ``order_seed`` gives the order in which the cells were begun.
    ``locks`` and ``harnesses`` give the sha256 of every task's and harness's lock by its name.
    """

    schema: Literal[1]
    nanobench: str = text()
    provider: ProviderFacts
    other_providers: tuple[ProviderFacts, ...] | None = None
    profiles: tuple[Profile, ...] | None = None
    order_seed: int | None = optional_whole(0, 2**31 - 1)
    budgets: Budgets = Budgets()
    locks: dict[str, str] = field(factory=dict)
    harnesses: dict[str, str] = field(factory=dict)
    cells: tuple[Cell, ...]

    def __attrs_post_init__(self) -> None:
        names = [facts.name for facts in self.providers]
        if len(set(names)) != len(names):
            raise ValueError("other_providers: two providers have the same name")

    @property
    def providers(self) -> tuple[ProviderFacts, ...]:
        """Every provider of the run."""
        return (self.provider, *(self.other_providers or ()))

    def provider_of(self, cell: Cell) -> ProviderFacts:
        """The provider of a cell.

        Raises:
            Refused: ``NB_RUN_CELL`` when the run has none of that name.
        """
        return _named(self.providers, cell.provider, f"{cell.id}: provider")

    def profile_of(self, cell: Cell) -> Profile | None:
        """The profile of a cell; None for one without.

        Raises:
            Refused: ``NB_RUN_CELL`` when the run has none of that name.
        """
        return None if cell.profile is None else _named(self.profiles or (), cell.profile, f"{cell.id}: profile")


N = TypeVar("N", ProviderFacts, Profile)


def _named(members: Iterable[N], name: str, where: str) -> N:
    for member in members:
        if member.name == name:
            return member
    raise Refused("NB_RUN_CELL", f"the run has none of the name {name}", where=where)


@frozen(kw_only=True)
class BundleManifest:
    """``manifest.json``: every other file of the bundle and its sha256."""

    schema: Literal[1]
    files: dict[str, str]
