"""One fuzz target a parser of what strangers write: bytes in; a value, or a refusal of ours.

Anything else that comes out is a bug: another exception, endless work, memory without bound. A new parser is a
function here with ``@target``, and a few small files of our own making in ``corpus/<name>/``.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import httpx

from nanobench.archives.bounds import Bounds, Meter
from nanobench.archives.layer import write_layer
from nanobench.archives.reader import extract
from nanobench.archives.root import Root
from nanobench.archives.unpack import unpack_layer
from nanobench.cli.talk import printable
from nanobench.ecosystems import apt_sources, oci_documents, py_uv
from nanobench.ecosystems.deb_archive import members, unpack
from nanobench.ecosystems.deb_control import stanzas
from nanobench.ecosystems.deb_keys import certificates
from nanobench.ecosystems.deb_scripts import alternatives, unmet
from nanobench.ecosystems.deb_unpack import Installed
from nanobench.ecosystems.devcontainer import read as read_devcontainer
from nanobench.ecosystems.image import members as image_members
from nanobench.ecosystems.locations import Locations
from nanobench.ecosystems.node_lockfile import read_project_lock, with_registry
from nanobench.ecosystems.npm_lockfile import read_package_lock
from nanobench.ecosystems.npm_registry import look_up
from nanobench.ecosystems.oci_token import authorization
from nanobench.ecosystems.online import Gone, Online, Unreachable
from nanobench.ecosystems.pnpm_lockfile import importers_of, read_pnpm_lock
from nanobench.ecosystems.py_sdist import read_sdist
from nanobench.ecosystems.reasons import retry_after
from nanobench.ecosystems.registries import Registries
from nanobench.errors import NanobenchError, Refused
from nanobench.formats import json as canonical
from nanobench.formats import toml
from nanobench.formats.converter import unstructure
from nanobench.formats.digest import from_integrity
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
from nanobench.model.lock import Package
from nanobench.model.task import PathRules
from nanobench.sandbox.interface import Ended, Finished
from nanobench.sources.change import split
from nanobench.sources.git_commit import parse_commit
from nanobench.sources.git_landing import style_of
from nanobench.sources.git_version import counts_tags, version_at
from nanobench.sources.patch import affected_paths, joined, sections
from nanobench.sources.quoting import display, quote, unquote

Target = Callable[[bytes], object]
TARGETS: dict[str, Target] = {}
SMALL = Bounds(members=1000, total=1 << 20, member=1 << 20)


def target(function: Target) -> Target:
    """The function as a fuzz target of its name; a refusal is an answer like any other."""

    def run(data: bytes) -> object:
        try:
            return function(data)
        except NanobenchError as refusal:
            assert printable(str(refusal)) and json.dumps(refusal.document())
            return refusal

    TARGETS[function.__name__] = run
    return run


@contextmanager
def place() -> Iterator[Path]:
    """A directory in memory for what has to be a file."""
    memory = Path("/dev/shm")
    path = Path(tempfile.mkdtemp(prefix="fuzz-", dir=memory if memory.is_dir() else None))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def as_file(data: bytes, folder: Path) -> Path:
    path = folder / "input"
    path.write_bytes(data)
    return path


# Documents of ours ------------------------------------------------------------------------------------------------


@target
def spec(data: bytes) -> object:
    """A spec, a ``providers.toml``: the first byte says which."""
    kinds = [KINDS[name] for name in ("task", "environment", "dataset", "providers")]
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
def patch(data: bytes) -> object:
    """A patch: its parts are the whole, and splitting it loses nothing."""
    parts = sections(data)
    assert joined(parts) == data
    change = split(data, PathRules(), where="patch")
    assert len(change.golden) + len(change.test) == len(data)
    return affected_paths(data)


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


# Archives ---------------------------------------------------------------------------------------------------------


@target
def archive(data: bytes) -> object:
    """A tar, a gzipped tar or a zip."""
    with place() as folder:
        return extract(as_file(data, folder), folder / "out", where="archive", bounds=SMALL, strip=1)


@target
def layer(data: bytes) -> object:
    """A layer."""
    with place() as folder:
        (folder / "out").mkdir()
        unpack_layer(as_file(data, folder), folder / "out")
        return sorted((folder / "out").iterdir())


@target
def image_layers(data: bytes) -> object:
    """A layer of a published image, twice over itself, and the canonical layer of what comes out."""
    with place() as folder:
        path = as_file(data, folder)
        root = Root(epoch=0, limit=SMALL.members, where="image")
        for _ in range(2):
            root.apply(image_members(path, Meter(SMALL, len(data), "image"), "image"))
        root.find("etc/passwd")
        return write_layer(root, io.BytesIO(), epoch=0)


@target
def deb(data: bytes) -> object:
    """A .deb and the members of its data."""
    with place() as folder:
        found = unpack(as_file(data, folder), folder / "data", where="deb")
        return found.control, list(members(found.data, where="deb"))


@target
def sdist(data: bytes) -> object:
    """The metadata of a source archive."""
    with place() as folder:
        path = folder / "a.tar"
        project, _, info = data.partition(b"\0")
        with tarfile.open(path, "w") as out:
            files = {"pyproject.toml": project, "PKG-INFO": info, "a.egg-info/requires.txt": info}
            for name, content in files.items():
                member = tarfile.TarInfo(f"a/{name}")
                member.size = len(content)
                out.addfile(member, io.BytesIO(content))
        return read_sdist(path, folder / "out", where="sdist")


# Package managers -------------------------------------------------------------------------------------------------


@target
def control(data: bytes) -> object:
    """Debian's stanzas and apt's sources."""
    text = data.decode("utf-8", "replace")
    with place() as etc:
        (etc / "sources.list.d").mkdir()
        (etc / "sources.list").write_bytes(data)
        (etc / "sources.list.d/a.sources").write_bytes(data)
        return list(stanzas(text.split("\n"))), apt_sources.archive_uris(etc, "bookworm")


@target
def maintainer_script(data: bytes) -> object:
    """What a maintainer script would do."""
    package = Installed(name="a", fields={}, control={"postinst": data, "preinst": data}, paths=())
    return alternatives([package]), unmet([package])


@target
def keyring(data: bytes) -> object:
    """An OpenPGP keyring."""
    try:
        return list(certificates(data))
    except ValueError as error:  # as its docstring says
        return error


@target
def npm_lock(data: bytes) -> object:
    """A package-lock: of npm's own making, and a project's."""
    for read in (read_package_lock, read_project_lock):
        try:
            found = read(data, where="lock")
        except Refused:
            continue
        assert all(package_of(placed) for placed in found)
        with_registry(data, "http://localhost", where="lock")
    return None


@target
def pnpm_lock(data: bytes) -> object:
    """A pnpm-lock.yaml."""
    names = {folder: "a" for folder in importers_of(data, where="lock")}
    return [package_of(placed) for placed in read_pnpm_lock(data, names=names, filters=(), where="lock")]


def package_of(placed: Any) -> Package:
    """What a lock of ours would hold."""
    return Package(purl=placed.purl, role="npm", path=placed.path, digest=placed.digest, size=1)


@target
def integrity(data: bytes) -> object:
    """An npm integrity."""
    return from_integrity(data.decode("utf-8", "replace"), where="integrity")


@target
def pylock(data: bytes) -> object:
    """What uv wrote for a hostile index."""
    return py_uv._read(data, "pylock")


@target
def registry(data: bytes) -> object:
    """What a registry answers: npm's metadata, a page of the simple index, headers."""
    kind, _, body = data.partition(b"\n")
    headers = {"Content-Type": kind.decode("latin-1")} if kind.isascii() and kind.decode().isprintable() else {}
    wire = httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, content=body))
    env = {"NANOBENCH_NPM_REGISTRY": "http://npm.test", "NANOBENCH_PYPI_INDEX": "http://pypi.test/simple"}
    registries = Registries(
        env=env, home=Path("/nonexistent"), etc=Path("/nonexistent"), project=Path("/nonexistent")
    )
    retry_after(kind.decode("utf-8", "replace"))
    with Online(registries, transport=wire, sleep=lambda _: None) as online:
        with suppress(Gone, Unreachable):
            Locations(online)._read_page("a")
        return package_of(look_up("a", "1.0.0", online=online))


@target
def login(data: bytes) -> object:
    """What a registry of images asks for before it lets anybody pull, and the token that it gives."""
    asked, _, body = data.partition(b"\n")
    headers = [(b"WWW-Authenticate", asked)]
    answers = iter([httpx.Response(401, headers=headers), *[httpx.Response(200, content=body)] * 9])
    with Online(transport=httpx.MockTransport(lambda _: next(answers)), sleep=lambda _: None) as online:
        try:
            return authorization("http://images.test/v2", "a/b", online=online)
        except (Gone, Unreachable) as error:  # as its docstring says
            return error


@target
def image_documents(data: bytes) -> object:
    """Index, manifest and configuration of a published image."""
    for read in (oci_documents.choose, oci_documents.read_manifest, oci_documents.read_config):
        with suppress(Refused):
            read(data, where="image")
    return oci_documents.media_type(data, "", where="image")


@target
def devcontainer(data: bytes) -> object:
    """A devcontainer.json."""
    return read_devcontainer(data, PurePosixPath("e/devcontainer.json"), where="devcontainer.json")
