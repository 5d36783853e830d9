"""Every figure that is changed in a real result, and still fits its manifest, is computed again and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.audit.raw import RawFiles
from nanobench.audit.rescore import rescore
from nanobench.errors import CannotTell
from nanobench.formats.converter import structure
from nanobench.formats.documents import dump_json
from nanobench.gateway.exchange import Bytes, Exchange, Fault
from nanobench.gateway.price import plain
from nanobench.gateway.transcript import read_transcript
from nanobench.harness.contract import CONTRACTS
from nanobench.image.realise import Locks
from nanobench.model.profile import Profile
from nanobench.model.provider import Arm, Budgets, ModelPrice
from nanobench.model.result import (
    Attempt,
    Cause,
    CellResult,
    GradingRecord,
    ProviderFacts,
    RunManifest,
    Served,
    Usage,
)


@pytest.fixture
def cell(nop_bundle: Path, forge: Any) -> Any:
    """A result of the idle agent, and its raw files; labels and settings are tested elsewhere, and so not there."""
    forger = forge(nop_bundle)
    result: CellResult = evolve(forger.results()[0], failure=None, setting=None)
    blobs = evolve(result.blobs, failures=None, landmarks=None)
    exchanges: tuple[Exchange, ...] = tuple(read_transcript(forger.root / "blobs/sha256" / blobs.transcript))
    raw = RawFiles.of(blobs, forger.blob, exchanges=exchanges)
    return result, raw


@pytest.fixture
def problems(cell: Any, locks: Locks) -> Callable[..., list[str]]:
    def ask(
        raw: dict[str, Any] | None = None,
        arm: Arm | None = None,
        name: str = "nop",
        kind: Any = "scripted",
        budgets: Budgets | None = None,
        price: tuple[ModelPrice, ...] = (),
        profile: Profile | None = None,
        **changes: Any,
    ) -> list[str]:
        result, files = cell
        files = evolve(files, **(raw or {}))
        named = evolve(result.cell, provider=name, profile=profile.name if profile else None)
        result = evolve(result, **{"cell": named, **changes})
        provider = ProviderFacts(name=name, kind=kind, models=("nop",), arm=arm or Arm(), price=price)
        run = RunManifest(
            schema=1,
            nanobench="0",
            provider=provider,
            profiles=(profile,) if profile else None,
            budgets=budgets or Budgets(),
            cells=(named,),
        )
        return list(rescore(result, locks.task, run, files, CONTRACTS[-1]))

    return ask


def test_a_result_follows_from_its_raw_files(problems: Callable[..., list[str]]) -> None:
    assert problems() == []


def test_a_provider_of_another_kind_and_another_way_of_asking_are_named(problems: Callable[..., list[str]]) -> None:
    assert problems(kind="anthropic") == ["provider.kind: published anthropic, the transcript speaks to another"]
    assert problems(name="qwen") == ["provider.kind: published scripted, and no script is called qwen"]
    assert problems(arm=Arm(tools="xml")) == ["provider.arm.tools: published xml, the transcript says otherwise"]


def test_what_the_gateway_answered_alone_says_nothing_of_how_the_provider_was_asked(
    problems: Callable[..., list[str]], cell: Any
) -> None:
    (first,) = cell[1].exchanges
    late = evolve(first, n=0, fault=Fault.TIME_BUDGET, tools=False, status=None, content_type=None, chunks=())
    late = evolve(late, detail="the 600 seconds are over")
    found = problems(raw={"exchanges": (late, first)}, budgets=Budgets(max_seconds=600))
    assert not [problem for problem in found if problem.startswith(("provider", "budgets"))]


@pytest.mark.parametrize(
    ("budgets", "words"),
    [
        (Budgets(max_tokens=1), " of 1 tokens are used, and the transcript goes on"),
        (Budgets(max_seconds=600), "the 600 seconds are over, and the transcript goes on"),
    ],
)
def test_a_budget_that_was_not_kept_is_not_the_one_of_the_run(
    problems: Callable[..., list[str]], cell: Any, budgets: Budgets, words: str
) -> None:
    (first,) = cell[1].exchanges
    again = evolve(first, n=first.n + 1, start_ms=600_000, end_ms=600_001)
    assert not [problem for problem in problems(budgets=budgets) if "the transcript goes on" in problem]
    (problem,) = (p for p in problems(budgets=budgets, raw={"exchanges": (first, again)}) if p.startswith("budgets"))
    assert problem.endswith(words)


def test_a_better_score_is_named_with_both_values(problems: Callable[..., list[str]], cell: Any) -> None:
    score = evolve(cell[0].score, value="1.0", label="Complete Resolution", resolved=True)
    (problem,) = problems(score=score)
    assert problem.startswith("score: published Score(value='1.0'")
    assert "computed Score(value='0.0'" in problem


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("files_changed", ("unidiff/patch.py",)),
        ("reported_files_changed", ("unidiff/patch.py",)),
        ("reported_files_changed", None),
        ("unknown_fields", ("steps",)),
        ("sampling_pinned", False),
        ("seed", 7),
        ("usage", Usage(steps=0, tool_calls=0)),
        ("served", (Served(model="large", steps=1),)),
        ("served", ()),
        ("cost", "0"),
        ("no_model_usage", True),
    ],
)
def test_every_other_figure_too(problems: Callable[..., list[str]], name: str, value: Any) -> None:
    assert [problem.partition(":")[0] for problem in problems(**{name: value})] == [name]


PRICE = ModelPrice(model="nop", input="1", output="1000")


def test_a_result_that_leaves_out_what_its_transcript_tells_is_named(
    problems: Callable[..., list[str]], cell: Any
) -> None:
    """Who answered, and what was dear, could else be hidden."""
    assert problems(served=None)[0].startswith("served: published None, computed ")
    for name in ("by_tool", "input_tokens", "tool_calls"):
        assert problems(usage=evolve(cell[0].usage, **{name: None}))[0].startswith("usage: published ")
    assert problems(price=(PRICE,), cost=None)[0].startswith("cost: published None, computed ")


def test_the_cost_is_computed_at_the_prices_of_the_run(problems: Callable[..., list[str]], cell: Any) -> None:
    usage = cell[0].usage
    cost = plain(Decimal(usage.input_tokens + 1000 * usage.output_tokens) / 1_000_000)
    assert problems(price=(PRICE,), cost=cost) == []
    assert problems(price=(evolve(PRICE, input="2"),), cost=cost)[0].startswith(f"cost: published {cost}, computed ")
    assert problems(cost=cost) == [f"cost: published {cost}, computed None"]


def test_a_score_that_no_model_earned_is_marked_unless_it_is_a_scripts(
    problems: Callable[..., list[str]], cell: Any
) -> None:
    (only,) = cell[1].exchanges
    chunks = tuple(evolve(c, data=Bytes.of(c.data.raw().replace(b'"usage"', b'"other"'))) for c in only.chunks)
    silent = {"exchanges": (evolve(only, chunks=chunks).with_usage(),)}
    usage = evolve(cell[0].usage, input_tokens=None, output_tokens=None, cached_tokens=None)
    found = {"raw": silent, "usage": usage}
    assert problems(**found) == []
    real = {"name": "real", "kind": "openai-compatible"}
    assert problems(**real) == []
    assert problems(**found, **real, no_model_usage=True) == []
    assert problems(**found, **real) == ["no_model_usage: published None, computed True"]


def test_tools_of_another_profile_than_the_runs_are_named(problems: Callable[..., list[str]]) -> None:
    words = "tool_profile: published nano, the transcript offers that of full"
    assert (
        problems(arm=Arm(tool_profile="nano")) == problems(profile=Profile(name="x", tool_profile="nano")) == [words]
    )
    assert problems(arm=Arm(tool_profile="nano"), profile=Profile(name="x", tool_profile="full")) == []
    shown = problems(profile=Profile(name="x", disabled_tools=("execute_bash",)))
    assert shown == ["disabled_tools: published execute_bash, the transcript offers it"]


def test_a_conversation_that_went_on_beyond_the_context_limit_is_named(
    problems: Callable[..., list[str]], cell: Any
) -> None:
    (first,) = cell[1].exchanges
    raw = {"exchanges": (first, evolve(first, n=first.n + 1))}
    found = [p for p in problems(raw=raw, profile=Profile(name="x", context_limit=10)) if p.startswith("budgets")]
    assert found and found[0].endswith("of 10 that its context holds, and the transcript goes on")
    assert not [p for p in problems(raw=raw, profile=Profile(name="x", context_limit=10**6)) if "context" in p]


def ended(cause: Cause, *before: Cause) -> dict[str, Any]:
    tries = tuple(Attempt(number=n, cause=c) for n, c in enumerate((*before, cause), 1))
    return {"cause": cause, "attempts": tries}


@pytest.mark.parametrize(
    "cause", [Cause.PROVIDER_FAILED, Cause.PROVIDER_REFUSED, Cause.WIRE, Cause.RATE_LIMIT, Cause.CONTEXT]
)
def test_a_cell_does_not_leave_the_denominator_for_an_error_that_its_transcript_does_not_show(
    problems: Callable[..., list[str]], cell: Any, cause: Cause
) -> None:
    scored = cause in (Cause.RATE_LIMIT, Cause.CONTEXT)
    found = problems(
        raw={} if scored else {"outcomes": None}, score=cell[0].score if scored else None, **ended(cause)
    )
    assert found == [f"cause: published {cause}, report and transcript say contract or finished"]


@pytest.mark.parametrize("cause", [Cause.ENGINE, Cause.NOT_RUN])
def test_where_an_agent_was_at_work_neither_did_the_engine_fail_nor_was_nothing_run(
    problems: Callable[..., list[str]], cause: Cause
) -> None:
    found = problems(raw={"outcomes": None}, score=None, **ended(cause))
    assert found == [f"cause: published {cause}, report and transcript say contract or finished"]


# A result as of an agent that never spoke.
UNSCORED: dict[str, Any] = {"score": None, "reported_files_changed": None, "sampling_pinned": False}
SILENT: dict[str, Any] = {**UNSCORED, "usage": Usage(steps=0, tool_calls=0, by_tool={}), "served": ()}
NOTHING: dict[str, Any] = {"exchanges": (), "report": None, "outcomes": None}
BROKEN = b'{"kind": "success"}'
NEW_FILE = (
    b"diff --git a/x b/x\nnew file mode 100644\nindex " + b"0" * 40 + b"..e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n"
)


@pytest.mark.parametrize("cause", [Cause.ENGINE, Cause.CONTRACT, Cause.NOT_RUN])
def test_what_the_raw_files_allow_and_cannot_show_is_an_open_question(
    problems: Callable[..., list[str]], cause: Cause
) -> None:
    with pytest.raises(CannotTell, match=f"ended with {cause}, which its raw files cannot show") as caught:
        problems(raw=NOTHING, kind="openai-compatible", **SILENT, **ended(cause))
    assert caught.value.code == "NB_CAUSE_UNSHOWN"


def test_whether_a_script_had_a_part_is_left_to_the_task(problems: Callable[..., list[str]]) -> None:
    assert problems(raw=NOTHING, **SILENT, **ended(Cause.NOT_RUN)) == []


def test_how_busy_a_machine_was_nobody_can_tell_afterwards(problems: Callable[..., list[str]]) -> None:
    with pytest.raises(CannotTell, match="ended with starved, which its raw files cannot show"):
        problems(raw={"outcomes": None}, score=None, **ended(Cause.STARVED))


@pytest.mark.parametrize(
    ("fault", "cause", "said"),
    [
        (Fault.TOKEN_BUDGET, Cause.TOKEN_BUDGET, "1000001 of 1000000 tokens are used"),
        (Fault.COST_BUDGET, Cause.COST_BUDGET, "the run has spent 2.1 of 2 USD"),
        (Fault.TIME_BUDGET, Cause.TIME_LIMIT, "the 600 seconds are over"),
    ],
)
def test_a_spent_budget_is_shown_by_the_last_exchange_and_is_the_runs(
    problems: Callable[..., list[str]], cell: Any, fault: Fault, cause: Cause, said: str
) -> None:
    first = cell[1].exchanges[-1]
    last = evolve(first, n=first.n + 1, status=None, chunks=(), usage=None, fault=fault, detail=said)
    budgets = Budgets(max_tokens=1_000_000, max_seconds=600, max_cost="2")
    assert problems(raw={"exchanges": (first, last)}, budgets=budgets, **ended(cause)) == []
    (found,) = problems(raw={"exchanges": (first, last)}, budgets=budgets)
    assert found == f"cause: published finished, report and transcript say contract or {cause}"
    larger = Budgets(max_tokens=2_000_000, max_seconds=900, max_cost="20")
    (found,) = problems(raw={"exchanges": (first, last)}, budgets=larger, **ended(cause))
    assert found.startswith("budgets.max_") and found.endswith(f", the transcript says: {said}")


def test_a_sound_report_leaves_open_whether_the_exit_code_broke_the_contract(
    problems: Callable[..., list[str]],
) -> None:
    with pytest.raises(CannotTell):
        problems(raw={"outcomes": None}, score=None, **ended(Cause.CONTRACT))


def test_a_report_that_breaks_the_contract_shows_it(problems: Callable[..., list[str]]) -> None:
    raw = {"outcomes": None, "report": BROKEN}
    assert problems(raw=raw, score=None, reported_files_changed=None, **ended(Cause.CONTRACT)) == []


def test_an_agent_at_work_that_said_nothing_broke_no_contract(problems: Callable[..., list[str]]) -> None:
    raw = {"outcomes": None, "report": None}
    (found,) = problems(raw=raw, score=None, reported_files_changed=None, **ended(Cause.CONTRACT))
    assert found == "cause: published contract, report and transcript say agent_error"


def test_an_engine_that_failed_has_no_report_and_no_patch(problems: Callable[..., list[str]]) -> None:
    raw = {**NOTHING, "report": BROKEN, "patch": NEW_FILE}
    found = problems(raw=raw, **SILENT, files_changed=("x",), **ended(Cause.ENGINE))
    assert found == [
        "cause: published engine, report and transcript say contract",
        "patch: something was changed, the transcript shows no request",
    ]


def test_an_interrupted_cell_is_never_published(problems: Callable[..., list[str]]) -> None:
    found = problems(raw=NOTHING, **SILENT, **ended(Cause.INTERRUPTED))
    assert found == [
        "cause: published interrupted, report and transcript say agent_error or contract or engine or not_run",
        "attempts: published interrupted, which no finished cell is",
    ]


def test_a_run_without_a_request_did_not_finish(problems: Callable[..., list[str]]) -> None:
    figures = {"usage": Usage(steps=0, tool_calls=0, by_tool={}), "served": (), "sampling_pinned": False}
    found = problems(raw={"exchanges": ()}, **figures)
    assert found == ["cause: published finished, the transcript shows no request"]


def test_a_run_whose_report_says_something_else_did_not_finish(problems: Callable[..., list[str]]) -> None:
    (found,) = problems(raw={"report": None}, reported_files_changed=None)
    assert found == "cause: published finished, report and transcript say agent_error"


def test_a_transcript_of_another_model_is_named(problems: Callable[..., list[str]], cell: Any) -> None:
    (last,) = cell[1].exchanges
    body = json.dumps(json.loads(last.request.raw()) | {"model": "large"}).encode()
    found = problems(raw={"exchanges": (evolve(last, request=Bytes.of(body)),)})
    assert found == ["model: the cell is of nop, its transcript asks for large"]
    unread = problems(raw={"exchanges": (evolve(last, request=Bytes.of(b"")),)})
    assert unread == ["model: the cell is of nop, its transcript asks for nothing"]


def test_a_score_for_what_is_not_scored_and_none_for_what_is_are_both_named(
    problems: Callable[..., list[str]],
) -> None:
    contract = problems(raw={"report": BROKEN}, reported_files_changed=None, **ended(Cause.CONTRACT))
    assert contract == ["score: a cell that ended with contract is not scored"]
    assert problems(raw={"outcomes": None}, score=None) == ["score: a cell that ended with finished is scored"]


def test_a_failure_on_the_wire_is_no_clean_end(problems: Callable[..., list[str]], cell: Any) -> None:
    last = evolve(cell[1].exchanges[-1], status=500, chunks=(), usage=None)
    none = {
        "usage": Usage(steps=0, tool_calls=0, by_tool={}),
        "served": (),
        "sampling_pinned": False,
        "reported_files_changed": None,
    }
    (found,) = problems(raw={"exchanges": (last,), "report": None}, **none)
    assert found == "cause: published finished, report and transcript say agent_error or provider_failed"
    raw = {"exchanges": (last,), "report": None, "outcomes": None}
    assert problems(raw=raw, **none, score=None, **ended(Cause.PROVIDER_FAILED)) == []


def test_the_turn_cap_is_no_success(problems: Callable[..., list[str]], cell: Any) -> None:
    (only,) = cell[1].exchanges
    tokens = {"input_tokens": 2 * only.usage.input, "output_tokens": 2 * only.usage.output}
    usage = evolve(cell[0].usage, steps=2, **tokens)
    served = tuple(evolve(who, steps=2) for who in cell[0].served)
    assert problems(raw={"exchanges": (only, evolve(only, tools=False))}, usage=usage, served=served) == [
        "cause: published finished, report and transcript say contract or turn_cap"
    ]


def test_a_cause_that_is_not_its_last_attempts_is_named(problems: Callable[..., list[str]]) -> None:
    found = problems(attempts=(Attempt(number=1, cause=Cause.TURN_CAP),))
    assert found == ["cause: published finished, computed turn_cap"]


def test_there_is_no_second_try_after_the_agents_own_failure(problems: Callable[..., list[str]]) -> None:
    found = problems(**ended(Cause.FINISHED, Cause.WIRE, Cause.TURN_CAP))
    assert found == ["attempts: number 2 ended with turn_cap, after which there is no other"]


def test_an_attempt_that_is_left_out_is_missed(problems: Callable[..., list[str]]) -> None:
    tries = (Attempt(number=1, cause=Cause.WIRE), Attempt(number=3, cause=Cause.FINISHED))
    assert problems(attempts=tries) == ["attempts: published [1, 3], computed [1, 2]"]


def test_a_seed_that_the_transcript_does_not_show_pinned_nothing(problems: Callable[..., list[str]]) -> None:
    arm = Arm(temperature=1, seed=7)
    assert problems(arm=arm, seed=7, sampling_pinned=False) == []
    assert problems(arm=arm, seed=7) == ["sampling_pinned: published True, computed False"]


def test_tampering_that_the_record_does_not_show_or_the_cause_hides_is_named(
    problems: Callable[..., list[str]], cell: Any
) -> None:
    _, raw = cell
    tampered = (Attempt(number=1, cause=Cause.GRADER_TAMPERED),)
    said = problems(cause=Cause.GRADER_TAMPERED, attempts=tampered)
    assert said == ["cause: published grader_tampered, the signals of its grading agree"]
    record = json.loads(raw.outcomes)
    record["suite"][0]["disagreement"] = "a test that must fail did not"
    shown = {"outcomes": dump_json(structure(record, GradingRecord, where="test"))}
    assert problems(raw=shown) == ["cause: published finished, the signals of its grading disagree"]
    assert problems(raw=shown, cause=Cause.GRADER_TAMPERED, attempts=tampered) == []
