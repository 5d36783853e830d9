from __future__ import annotations

import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import CannotTell, Refused
from nanobench.sources.git_remote import Remote
from nanobench.sources.git_run import Git


def remote(url: str) -> Remote:
    return Remote(url=url, where="task.toml", say=lambda _: None)


def test_nothing_of_the_callers_git_state_counts(
    tmp_path: Path, git_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", "/nowhere")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "somebody")
    git = Git(tmp_path / "own")
    assert git.read("rev-parse", "--absolute-git-dir").decode().strip() == str((tmp_path / "own").resolve())
    assert git.run("config", "user.name").code == 1


def test_only_a_command_that_may_use_the_network_reaches_a_repository(forge: Any, tmp_path: Path) -> None:
    forge.ref("refs/heads/main", forge.commit({"a": "1"}))
    git = Git(tmp_path / "own")
    refused = git.run("ls-remote", "--", forge.url)
    assert refused.code != 0 and "not allowed" in " ".join(refused.words)
    assert git.run("ls-remote", "--", forge.url, network=True).code == 0


@pytest.mark.parametrize("target", ["ext::sh -c 'touch {}'", "foo://x/{}", "fd::17"])
def test_a_transport_that_runs_commands_is_never_used_even_by_way_of_insteadof(
    target: str, tmp_path: Path, git_home: Path
) -> None:
    sentinel = tmp_path / "sentinel"
    url = "https://host.invalid/x"
    git_home.write_text(f'[url "{target.format(sentinel)}"]\n\tinsteadOf = {url}\n[protocol]\n\tallow = always\n')
    with pytest.raises(Refused, match=r"NB_GIT_URL: task\.toml: source\.url"):
        remote(url).refs(Git(tmp_path / "own"), "HEAD")
    assert Git(tmp_path / "own").run("ls-remote", "--", url, network=True).code != 0
    assert not sentinel.exists()


def test_the_users_own_narrower_list_of_transports_holds(
    forge: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forge.ref("refs/heads/main", forge.commit({"a": "1"}))
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "https:ext")
    said = Git(tmp_path / "own").run("ls-remote", "--", forge.url, network=True)
    assert said.code != 0 and "not allowed" in " ".join(said.words)


def test_no_hook_of_the_users_templates_or_configuration_runs(forge: Any, tmp_path: Path, git_home: Path) -> None:
    hooks = tmp_path / "template" / "hooks"
    hooks.mkdir(parents=True)
    for name in ("reference-transaction", "post-checkout"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/sentinel\n")
        (hooks / name).chmod(0o755)
    core = f"hooksPath = {hooks}\n\tfsmonitor = touch {tmp_path}/sentinel"
    git_home.write_text(f"[init]\n\ttemplateDir = {hooks.parent}\n[core]\n\t{core}\n")
    forge.ref("refs/heads/main", commit := forge.commit({"a": "1"}))
    forge.ref("refs/tags/v1", commit)
    git = Git(tmp_path / "own")
    remote(forge.url).history(git, [commit, "+refs/tags/*:refs/tags/*"])
    assert git.read("for-each-ref", "--format=%(refname)") == b"refs/tags/v1\n"
    assert not (tmp_path / "sentinel").exists()


def test_more_output_than_allowed_is_refused(tmp_path: Path, git_home: Path) -> None:
    with pytest.raises(Refused, match="NB_GIT_BOUND"):
        Git(tmp_path / "own").read("help", "-a", limit=100)


def test_what_was_started_is_dead_when_the_block_is_left(tmp_path: Path, git_home: Path) -> None:
    with Git(tmp_path / "own").started("cat-file", "--batch") as running:
        process = running.process
    assert process.returncode is not None
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_a_server_that_never_answers_is_given_up(tmp_path: Path, git_home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://somebody:secret@127.0.0.1:{silent.getsockname()[1]}/x"
        with pytest.raises(CannotTell, match=r"NB_GIT_TIME: git ls-remote was stopped after 0\.3 seconds"):
            Git(tmp_path / "own", seconds=0.3).run("ls-remote", "--", url, network=True)


def test_no_credentials_stand_in_what_git_said(tmp_path: Path, git_home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    said = Git(tmp_path / "own").run("ls-remote", "--", f"https://me:secret@127.0.0.1:{port}/x", network=True)
    assert said.code != 0 and said.words
    assert "secret" not in repr(said.words)


class Guarded(BaseHTTPRequestHandler):
    """A server that wants to know who asks."""

    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="x"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_nobody_is_asked_for_a_password(tmp_path: Path, git_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asking = tmp_path / "asking"
    asking.write_text(f"#!/bin/sh\ntouch {tmp_path}/sentinel\necho guess\n")
    asking.chmod(0o755)
    git_home.write_text(f"[core]\n\taskPass = {asking}\n")
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.setenv(name, str(asking))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Guarded)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}/x"
    with pytest.raises(CannotTell) as error:
        remote(url).refs(Git(tmp_path / "own"), "HEAD", "refs/pull/7/head")
    server.shutdown()
    thread.join()
    server.server_close()
    assert (error.value.code, error.value.exit_code) == ("NB_UNREACHABLE", 3)
    assert error.value.details[:2] == ("needed: HEAD", "needed: refs/pull/7/head")
    assert not (tmp_path / "sentinel").exists()
