"""Scripted providers: the golden patch carried out call by call, by an interpreter of the agent's tools."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.errors import Refused
from nanobench.gateway.scripted.behaviours import nop
from nanobench.gateway.scripted.oracle import oracle
from nanobench.gateway.scripted.provider import ScriptedProvider
from nanobench.gateway.scripted.reply import Failure, Messages, Reply, ToolCall, events, turn_of

IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "a"), ("EMAIL", "a@example.org"), ("DATE", "2026-01-01T00:00:00Z"))
}
CONFIG = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "PATH": "/usr/local/bin:/usr/bin:/bin"}


def git(root: Path, *argv: str) -> bytes:
    command = ["git", "-c", "core.quotePath=false", *argv]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, env=IDENTITY | CONFIG).stdout


class Tools:
    """The file and shell tools of the agent, with its refusals, over a work tree."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.seen: set[str] = set()

    def run(self, call: ToolCall) -> str:
        result: str = getattr(self, call.name)(**call.arguments)
        return result

    def read_file(self, path: str) -> str:
        text = (self.root / path).read_bytes().decode("utf-8", "replace")
        self.seen.add(path)
        lines = text.split("\n")
        if len(lines) > 1500:
            return "\n".join(lines[:250]) + "\n\n[Truncated at line 250]"
        return text if len(text) <= 20_000 else text[:8000] + "\n... [Output truncated] ...\n" + text[-11_000:]

    def write_file(self, path: str, content: str) -> str:
        target = self.root / path
        assert not target.exists() or path in self.seen, f"{path} was not read"
        target.write_bytes(content.encode())
        return "File written successfully"

    def string_replace(self, path: str, old_str: str, new_str: str) -> str:
        assert path in self.seen, f"{path} was not read"
        text = (self.root / path).read_bytes().decode("utf-8", "replace")
        assert old_str and text.count(old_str) == 1, f"{old_str!r} is not there once"
        for pattern, meaning in (("$&", old_str), ("$$", "$")):
            new_str = new_str.replace(pattern, meaning)
        (self.root / path).write_bytes(text.replace(old_str, new_str).encode())
        return "Successfully replaced content"

    def file_op(self, operation: str, path: str) -> str:
        if operation == "mkdir":
            (self.root / path).mkdir(parents=True, exist_ok=True)
        else:
            assert operation == "delete"
            (self.root / path).unlink()
        return "done"

    def execute_bash(self, command: str) -> str:
        assert len(command.encode()) < 131_000
        env = CONFIG | {"TMPDIR": str(self.root.parent)}
        done = subprocess.run(["sh", "-c", command], cwd=self.root, capture_output=True, env=env, check=True)
        return f"EXIT_CODE: 0\n{done.stdout.decode()}"


def play(script: Callable[[Messages], Reply], tools: Tools) -> list[Reply]:
    """Let the script speak and carry out its calls until it says something final; every turn is asked twice."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}, {"role": "user", "content": "do it"}]
    replies = []
    while True:
        reply = script(tuple(messages))
        assert script(tuple(messages)) == reply
        replies.append(reply)
        messages.append({"role": "assistant", "content": reply.text})
        if not reply.calls:
            return replies
        messages += [{"role": "tool", "content": tools.run(call)} for call in reply.calls]


Files = dict[str, bytes]


def lay(root: Path, files: Files) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def golden(root: Path, before: Files, change: Callable[[Path], None]) -> tuple[bytes, bytes]:
    """A repository with ``before`` committed; the patch and tree that ``change`` makes; the work tree as before."""
    root.mkdir()
    git(root, "init", "-q")
    lay(root, {"keep.txt": b"keep\n", **before})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "base")
    change(root)
    git(root, "add", "-A")
    patch = git(root, "diff", "--cached", "--binary", "--full-index", "--no-renames")
    tree = git(root, "write-tree")
    git(root, "reset", "-q", "--hard")
    git(root, "clean", "-qfd")
    return patch, tree


def carried_out(root: Path, patch: bytes) -> tuple[bytes, list[str]]:
    """The tree after the oracle's calls, and the names of the tools it used."""
    replies = play(oracle(patch), Tools(root))
    git(root, "add", "-A")
    return git(root, "write-tree"), [call.name for reply in replies for call in reply.calls]


LINES = "".join(f"line {number}\n" for number in range(60))
BIG = "".join(f"line {number}\n" for number in range(3000))


def write(name: str, content: bytes | str) -> Callable[[Path], None]:
    data = content.encode() if isinstance(content, str) else content
    return lambda root: lay(root, {name: data})


def become_link(root: Path) -> None:
    (root / "a.txt").unlink()
    (root / "a.txt").symlink_to("keep.txt")


def become_directory(root: Path) -> None:
    (root / "a.txt").unlink()
    lay(root, {"a.txt/b.txt": b"inside\n"})


def become_file(root: Path) -> None:
    (root / "d" / "b.txt").unlink()
    (root / "d").rmdir()
    lay(root, {"d": b"a file\n"})


def move_and_edit(root: Path) -> None:
    (root / "a.txt").rename(root / "moved.txt")
    write("moved.txt", LINES.replace("line 7\n", "line seven\n"))(root)


CASES: dict[str, tuple[Files, Callable[[Path], None], list[str]]] = {
    "one-hunk": (
        {"a.txt": LINES.encode()},
        write("a.txt", LINES.replace("line 7\n", "line seven\n")),
        ["read_file", "string_replace"],
    ),
    "two-hunks": (
        {"a.txt": LINES.encode()},
        write("a.txt", LINES.replace("line 7\n", "").replace("line 50\n", "line 50\nmore\n")),
        ["read_file", "string_replace", "string_replace"],
    ),
    "ambiguous-context": (
        {"a.txt": b"x\ny\nz\n" * 30},
        write("a.txt", "x\ny\nz\n" * 15 + "x\nchanged\nz\n" + "x\ny\nz\n" * 14),
        ["read_file", "string_replace"],
    ),
    "dollar-patterns": (
        {"a.txt": LINES.encode()},
        write("a.txt", LINES.replace("line 7\n", "cost $& $$ 5\n")),
        ["read_file", "write_file"],
    ),
    "harmless-dollar": (
        {"a.txt": LINES.encode()},
        write("a.txt", LINES.replace("line 7\n", "$1 ${x} $HOME\n")),
        ["read_file", "string_replace"],
    ),
    "no-newline-at-end": ({"a.txt": b"a\nb\nc"}, write("a.txt", "a\nb\nC"), ["read_file", "string_replace"]),
    "newline-added-at-end": ({"a.txt": b"a\nb"}, write("a.txt", "a\nb\n"), ["read_file", "string_replace"]),
    "newline-taken-at-end": ({"a.txt": b"a\nb\n"}, write("a.txt", "a\nb"), ["read_file", "string_replace"]),
    "emptied": ({"a.txt": b"a\nb\n"}, write("a.txt", ""), ["read_file", "string_replace"]),
    "filled": ({"a.txt": b""}, write("a.txt", "a\n"), ["execute_bash", "execute_bash"]),
    "crlf": ({"a.txt": b"a\r\nb\r\n"}, write("a.txt", "a\r\nB\r\n"), ["read_file", "string_replace"]),
    "unicode": (
        {"a.txt": "ä\u2028ö\x0cü\n".encode()},
        write("a.txt", "ä\u2028o\x0cü\n"),
        ["read_file", "string_replace"],
    ),
    "not-utf8": ({"a.txt": b"\xe4\nb\n"}, write("a.txt", b"\xe4\nB\n"), ["execute_bash", "execute_bash"]),
    "not-utf8-elsewhere": (
        {"a.txt": b"\xe4\n" + LINES.encode()},
        write("a.txt", b"\xe4\n" + LINES.replace("line 50\n", "L\n").encode()),
        ["read_file", "execute_bash", "execute_bash"],
    ),
    "too-long-to-be-shown": (
        {"a.txt": BIG.encode()},
        write("a.txt", BIG.replace("line 2000\n", "L\n")),
        ["read_file", "execute_bash", "execute_bash"],
    ),
    "too-wide-to-be-shown": (
        {"a.txt": (LINES + "x" * 30_000 + "\n").encode()},
        write("a.txt", LINES.replace("line 7\n", "") + "x" * 30_000 + "\n"),
        ["read_file", "execute_bash", "execute_bash"],
    ),
    "created": ({}, write("new/deep/n.txt", "new\n"), ["file_op", "write_file"]),
    "created-at-the-top": ({}, write("n.txt", "no newline"), ["write_file"]),
    "created-empty": ({}, write("pkg/__init__.py", ""), ["file_op", "write_file"]),
    "deleted": ({"d/a.txt": LINES.encode()}, lambda root: (root / "d/a.txt").unlink(), ["file_op"]),
    "moved-and-edited": ({"a.txt": LINES.encode()}, move_and_edit, ["file_op", "write_file"]),
    "executable": ({"a.txt": b"x\n"}, lambda root: (root / "a.txt").chmod(0o755), ["execute_bash", "execute_bash"]),
    "binary": ({"a.bin": b"\0\1\2"}, write("a.bin", bytes(range(256)) * 9), ["execute_bash", "execute_bash"]),
    "large-binary": (
        {},
        write("a.bin", b"".join(hashlib.sha256(bytes([n // 256, n % 256])).digest() for n in range(3000))),
        ["execute_bash"] * 4,
    ),
    "link-made": ({}, lambda root: (root / "l").symlink_to("keep.txt"), ["execute_bash", "execute_bash"]),
    "file-becomes-link": ({"a.txt": b"x\n"}, become_link, ["execute_bash", "execute_bash"]),
    "file-becomes-directory": ({"a.txt": b"x\n"}, become_directory, ["execute_bash", "execute_bash"]),
    "directory-becomes-file": ({"d/b.txt": b"x\n"}, become_file, ["execute_bash", "execute_bash"]),
    "odd-name": ({'a "b"\n.txt': b"x\n"}, write('a "b"\n.txt', "y\n"), ["execute_bash", "execute_bash"]),
    "name-with-space": ({"a b.txt": b"x\n"}, write("a b.txt", "y\n"), ["execute_bash", "execute_bash"]),
    "looks-like-a-patch": (
        {"a.txt": b"@@ -1 +1 @@\n--- a/x\n+++ b/x\ndiff --git a/x b/x\n"},
        write("a.txt", "@@ -1 +1 @@\n-- a/x\n++ b/x\ndiff --git a/x b/x\n"),
        ["read_file", "string_replace"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_oracle_makes_exactly_the_golden_tree(name: str, tmp_path: Path) -> None:
    before, change, tools = CASES[name]
    patch, tree = golden(tmp_path / "repo", before, change)
    assert carried_out(tmp_path / "repo", patch) == (tree, tools)


def test_the_oracle_does_all_of_it_together_in_few_turns(tmp_path: Path) -> None:
    def change(root: Path) -> None:
        for number in range(30):
            write(f"f{number}.txt", LINES.replace("line 7\n", f"seven {number}\n"))(root)
            write(f"n{number}/new.txt", str(number))(root)
        (root / "gone.txt").unlink()
        (root / "keep.txt").chmod(0o755)

    before = {f"f{number}.txt": LINES.encode() for number in range(30)} | {"gone.txt": b"x\n"}
    patch, tree = golden(tmp_path / "repo", before, change)
    replies = play(oracle(patch), Tools(tmp_path / "repo"))
    git(tmp_path / "repo", "add", "-A")
    assert git(tmp_path / "repo", "write-tree") == tree
    assert len(replies) < 20
    assert replies[-1].text and not replies[-1].calls


def test_a_file_that_is_not_the_patch_s_is_left_to_git(tmp_path: Path) -> None:
    patch, _ = golden(tmp_path / "repo", {"a.txt": b"a\nb\n"}, write("a.txt", "a\nB\n"))
    messages = ({"role": "assistant", "content": ""}, {"role": "tool", "content": "a\nb\nunexpected\n"})
    assert {call.name for call in oracle(patch)(messages).calls} == {"execute_bash"}


def test_no_shell_command_says_a_word_that_the_tool_refuses(tmp_path: Path) -> None:
    def change(root: Path) -> None:
        lay(root, {"x": b"mkfs rm -rf / dd if=x\n"})
        (root / "x").chmod(0o755)

    patch, _ = golden(tmp_path / "repo", {}, change)
    commands = [call.arguments["command"] for call in oracle(patch)(()).calls]
    assert commands and not any(word in command for word in ("mkfs", "rm -rf /", "dd if") for command in commands)


def test_an_empty_patch_is_prose_at_once() -> None:
    assert oracle(b"")(()).calls == ()


def test_what_git_would_not_have_written_is_refused() -> None:
    with pytest.raises(Refused, match="not a patch as git writes it"):
        oracle(b"no patch at all\n")


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["a\n", "b\n", "$&\n", "\n", "é\r\n"]), max_size=30), st.data())
def test_any_edit_of_any_text_comes_out_exactly(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], data: st.DataObject
) -> None:
    after = data.draw(st.lists(st.sampled_from([*lines, "new\n", "a\n"]), max_size=40)) if lines else ["a\n"]
    root = tmp_path_factory.mktemp("any") / "repo"
    patch, tree = golden(root, {"a.txt": "".join(lines).encode()}, write("a.txt", "".join(after)))
    assert carried_out(root, patch)[0] == tree


def test_nop_speaks_and_does_nothing(tmp_path: Path) -> None:
    (reply,) = play(nop, Tools(tmp_path))
    assert reply.text


def test_the_same_request_gets_the_same_bytes() -> None:
    reply = Reply(text="ö" * 5000, calls=(ToolCall(name="t", arguments={"a": "x" * 9000}),))
    request = {"model": "m", "messages": [{"content": "hi"}], "stream_options": {"include_usage": True}}
    stream = list(events(reply, request, turn=3))
    assert stream == list(events(reply, request, turn=3))
    documents = [json.loads(event[6:]) for event in stream[:-1]]
    deltas = [d["choices"][0]["delta"] for d in documents if d["choices"]]
    parts = [d["tool_calls"][0] for d in deltas if "tool_calls" in d]
    assert parts[0]["id"] == "call_3_0"
    assert json.loads("".join(part["function"]["arguments"] for part in parts)) == {"a": "x" * 9000}
    assert "".join(d.get("content", "") for d in deltas) == reply.text
    assert len(parts) > 3
    assert (stream[-1], documents[-1]["usage"]["prompt_tokens"]) == (b"data: [DONE]\n\n", 5)


def test_usage_is_told_only_when_asked_for() -> None:
    told = b"".join(events(Reply(text="x"), {"model": "m", "messages": []}, turn=0))
    assert b"usage" not in told


def test_turns_are_counted_by_what_the_assistant_said() -> None:
    assert turn_of(({"role": "user"}, {"role": "assistant"}, {"role": "tool"}, {"role": "assistant"})) == 2


def test_many_providers_serve_side_by_side() -> None:
    body = {"model": "m", "messages": [], "stream": True}
    with ScriptedProvider("nop", nop) as first, ScriptedProvider("oracle", oracle(b"")) as second:
        answers = [httpx.post(f"{p.upstream.base_url}/chat/completions", json=body).text for p in (first, second)]
    assert "leave the project" in answers[0] and "change is made" in answers[1]


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"messages": [], "stream": false}', b'{"messages": 1}'])
def test_a_request_that_is_no_chat_stream_is_a_bad_request(body: bytes) -> None:
    with ScriptedProvider("nop", nop) as provider:
        assert httpx.post(f"{provider.upstream.base_url}/chat/completions", content=body).status_code == 400


def test_a_turn_that_is_cut_breaks_the_connection_and_a_failure_is_the_providers_own() -> None:
    body = {"model": "m", "messages": [], "stream": True}
    cut = ScriptedProvider("cut", lambda _: Reply(text="I begin", cut=True))
    with cut as provider, pytest.raises(httpx.RemoteProtocolError):
        httpx.post(f"{provider.upstream.base_url}/chat/completions", json=body)
    with ScriptedProvider("full", lambda _: Failure(status=429, error={"message": "slow down"})) as provider:
        answer = httpx.post(f"{provider.upstream.base_url}/chat/completions", json=body)
    assert (answer.status_code, answer.json()) == (429, {"error": {"message": "slow down"}})
    assert answer.headers["retry-after-ms"] == "1"
