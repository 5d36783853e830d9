"""One fuzz target a parser of what strangers write: bytes in; a value, or a refusal of ours.

Anything else that comes out is a bug: another exception, endless work, memory without bound. A new parser is a
function here or in :mod:`.packages` with ``@target``, and a few small files of our own in ``corpus/<name>/``.
"""

from __future__ import annotations

import hashlib
import json
from types import SimpleNamespace
from typing import Any

from nanobench.formats import json as canonical
from nanobench.formats import toml
from nanobench.formats.converter import unstructure
from nanobench.formats.documents import KINDS, dump_json, dump_lock, read_json, read_lock, read_spec
from nanobench.gateway.exchange import Bytes, Chunk, Exchange
from nanobench.gateway.request import changes, read_request, sent
from nanobench.gateway.scripted.oracle import oracle
from nanobench.gateway.summary import summarise
from nanobench.gateway.transcript import read_transcript
from nanobench.gateway.upstream import Pins
from nanobench.grading.outcomes import parse_report as parse_test_report
from nanobench.harness.contract import CONTRACTS
from nanobench.harness.ending import ending
from nanobench.model.result import Failure
from nanobench.model.task import PathRules
from nanobench.sandbox.interface import Ended, Finished
from nanobench.scoring.errors.recognise import LANGUAGES, compiler_errors, error_of
from nanobench.sources.change import split
from nanobench.sources.git_commit import parse_commit
from nanobench.sources.git_landing import style_of
from nanobench.sources.git_version import counts_tags, version_at
from nanobench.sources.patch import affected_paths, joined, sections
from nanobench.sources.quoting import display, quote, unquote
from nanobench.symbols.grammars import SUFFIXES, grammar_of
from nanobench.symbols.names import names_added, names_in
from tests.fuzz import packages
from tests.fuzz.base import TARGETS, as_file, place, target

__all__ = ["TARGETS", "packages"]
"""All targets: those of the other module too."""

# Documents of ours ------------------------------------------------------------------------------------------------


@target
def spec(data: bytes) -> object:
    """A spec, a ``providers.toml``, a ``matrix.toml``: the first byte says which."""
    kinds = [KINDS[name] for name in ("task", "environment", "dataset", "providers", "matrix")]
    return read_spec(data[1:], kinds[(data or b"\0")[0] % len(kinds)], where="spec")


@target
def lock(data: bytes) -> object:
    """A lock: what is read is written again as the same bytes."""
    kinds: list[Any] = [KINDS[name] for name in ("task-lock", "environment-lock", "harness-lock")]
    value = read_lock(data[1:], kinds[(data or b"\0")[0] % len(kinds)], where="lock")
    assert dump_lock(value) == data[1:]
    return value


@target
def document(data: bytes) -> object:
    """A document of a bundle."""
    kinds = [KINDS[name] for name in ("bundle", "run", "result", "outcomes")]
    value: Any = read_json(data[1:], kinds[(data or b"\0")[0] % len(kinds)], where="document")
    assert dump_json(value) == data[1:]
    return value


@target
def plain_toml(data: bytes) -> object:
    """Any TOML of ours: it survives being written."""
    found = toml.parse(data, where="toml")
    assert toml.parse(toml.dump(found), where="toml") == found
    return found


@target
def plain_json(data: bytes) -> object:
    """Any JSON of ours: it survives being written."""
    found = canonical.parse(data, where="json")
    assert canonical.parse(canonical.dump(found), where="json") == found
    return found


@target
def transcript(data: bytes) -> object:
    """A transcript of a stranger's bundle, and what is concluded from it."""
    with place() as folder:
        return canonical.dump(unstructure(summarise(list(read_transcript(as_file(data, folder))), Pins())))


# What the agent, its model and the tests write --------------------------------------------------------------------


@target
def answer(data: bytes) -> object:
    """A provider's answer, as stream and as object; what it says can be recorded."""
    said = []
    for path in ("/v1/chat/completions", "/v1/messages"):
        for kind in ("text/event-stream", "application/json"):
            chunks = (Chunk(ms=0, data=Bytes.of(data)),)
            exchange = Exchange(
                n=1, start_ms=0, end_ms=0, method="POST", path=path, request=Bytes.of(data), status=200,
                content_type=kind, chunks=chunks,
            ).with_usage()  # fmt: skip
            said += [canonical.dump(unstructure(each)) for each in (exchange, summarise([exchange] * 3, Pins()))]
    return said


@target
def request(data: bytes) -> object:
    """A request from the sandbox: what is forwarded is JSON."""
    chat = read_request(data)
    return None if chat is None else json.loads(sent(chat, changes(chat, Pins(), {}, left=5)))


@target
def nanocoder(data: bytes) -> object:
    """Nanocoder's report, and how the run ended."""
    finished = Finished(exit_code=0, ended=Ended.EXITED, wall_ms=0)
    said = []
    for contract in CONTRACTS:
        end = ending(finished, contract=contract, stdout=data, stderr=data, summary=summarise([], Pins()))
        told = end.report
        assert told is None or all(told.unknown)
        files = list(told.report.filesChanged if told else ())
        said.append(
            canonical.dump({"detail": end.detail, "files": files, "more": list(told.unknown if told else ())})
        )
    return said


@target
def test_report(data: bytes) -> object:
    """A report that code under test may have written."""
    report = parse_test_report(data)
    return canonical.dump(
        {test: outcome.value for test, outcome in report.outcomes.items()} | {"d": report.damage or ""}
    )


@target
def errors(data: bytes) -> object:
    """What a suite's command printed, and what a failing test said, in every language."""
    text = data.decode("utf-8", "replace")
    said = Failure(type=text.partition(":")[0], message=text)
    return [(error_of(each, said), compiler_errors(each, data)) for each in sorted(LANGUAGES)]


@target
def names(data: bytes) -> object:
    """A file of a task's base: the first byte says of which kind."""
    path = "a" + sorted(SUFFIXES)[(data or b"\0")[0] % len(SUFFIXES)]
    return sorted(names_in(grammar_of(path) or "", {path: data[1:]}))


@target
def patch(data: bytes) -> object:
    """A patch: its parts are the whole, and splitting it loses nothing."""
    parts = sections(data)
    assert joined(parts) == data
    change = split(data, PathRules(), where="patch")
    assert len(change.golden) + len(change.test) == len(data)
    return affected_paths(data), sorted(names_added(data))


@target
def golden(data: bytes) -> object:
    """A patch, carried out by the scripted solution."""
    return oracle(data)(({"role": "assistant"}, {"role": "tool", "content": data.decode("latin-1")}))


@target
def spelling(data: bytes) -> object:
    """A path as git quotes it."""
    assert unquote(quote(data)) == data
    path = unquote(data)
    return display(data), None if path is None else display(path)


# Git's own objects ------------------------------------------------------------------------------------------------


@target
def commit(data: bytes) -> object:
    """A commit, under its own name."""
    name = hashlib.sha1(b"commit %d\0" % len(data) + data).hexdigest()
    found = parse_commit(name, data, where="commit")
    return found.date, style_of(found.message, 7)


@target
def tags(data: bytes) -> object:
    """A nearest tag, and files that say how a project counts."""
    text = data.decode("utf-8", "replace")
    said = SimpleNamespace(output=data, words=())
    files = {"pyproject.toml": text, "setup.py": text, "setup.cfg": text}
    found = version_at(SimpleNamespace(run=lambda *_: said), "c", {}, where="tag")  # type: ignore[arg-type]
    return counts_tags(files), found
