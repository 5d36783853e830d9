"""What every command does alike."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from nanobench.cli import common
from nanobench.errors import CannotTell, MachineFailure, Misuse, Refused

Outcome = tuple[int, str, str]


@pytest.fixture
def ended(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """How a verb ends whose body raises: exit code, stdout, stderr."""

    def run(error: BaseException, *, as_json: bool = False) -> Outcome:
        def body(*, as_json: bool) -> None:
            raise error

        with pytest.raises(typer.Exit) as left:
            common.verb(body)(as_json=as_json)
        said = capsys.readouterr()
        return left.value.exit_code, said.out, said.err

    return run


ERRORS: list[tuple[BaseException, int, str]] = [
    (Refused("NB_X", "no"), 1, "NB_X"),
    (Misuse("NB_X", "not so"), 2, "NB_X"),
    (CannotTell("NB_X", "who knows"), 3, "NB_X"),
    (MachineFailure("NB_X", "broken"), 4, "NB_X"),
    (OSError(28, "No space left on device", "/full"), 4, "NB_OS"),
    (PermissionError(13, "Permission denied", "/closed"), 4, "NB_OS"),
    (KeyboardInterrupt(), 130, "NB_INTERRUPTED"),
    (ZeroDivisionError("oh"), 2, "NB_BUG"),
    (AssertionError(), 2, "NB_BUG"),
]


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("error", "code", "name"), ERRORS)
def test_every_way_to_fail_has_its_exit_code_and_is_told_on_stderr_alone(
    ended: Callable[..., Outcome], error: BaseException, code: int, name: str
) -> None:
    found, out, err = ended(error)
    assert (found, out) == (code, "")
    assert err.startswith(f"{name}: ")
    assert "Traceback" not in err


@pytest.mark.parametrize(("error", "code", "name"), ERRORS)
def test_with_json_every_error_is_a_document_too(
    ended: Callable[..., Outcome], error: BaseException, code: int, name: str
) -> None:
    found, out, _ = ended(error, as_json=True)
    document = json.loads(out)
    assert (found, document["error"]["code"]) == (code, name)
    assert set(document["error"]) == {"code", "message", "where", "hint", "details"}


def test_a_bug_of_ours_leaves_a_log_to_paste(ended: Callable[..., Outcome], logs: Path) -> None:
    _, _, err = ended(ZeroDivisionError("division by zero"))
    (log,) = logs.glob("nanobench-bug-*.log")
    assert str(log) in err
    text = log.read_text()
    for expected in ("nanobench ", "arguments: ", "Traceback", "raise error", "ZeroDivisionError: division by zero"):
        assert expected in text


def test_an_errors_reasons_and_remedy_are_lines_and_cannot_move_the_terminal(ended: Callable[..., Outcome]) -> None:
    error = Refused(
        "NB_X", "bad \x1b[2J name", where="\x9b31m", details=("a\rb", "[bold]c[/bold]"), hint="do\u202eit"
    )
    _, _, err = ended(error)
    assert err == ("NB_X: \\x9b31m: bad \\x1b[2J name\n  - a\\x0db\n  - [bold]c[/bold]\n  → do\\u202eit\n")
    _, out, _ = ended(error, as_json=True)
    assert out.isascii()
    assert json.loads(out)["error"]["hint"] == "do\u202eit"


def test_text_and_json_end_with_one_line_break(capsys: pytest.CaptureFixture[str]) -> None:
    common.show({"é": "\x1b"}, "text\n\n", as_json=False)
    common.show({"é": "\x1b"}, "", as_json=True)
    assert capsys.readouterr().out == 'text\n{\n  "\\u00e9": "\\u001b"\n}\n'


def test_an_exit_of_a_verb_passes_through() -> None:
    def body() -> None:
        raise typer.Exit(3)

    with pytest.raises(typer.Exit) as left:
        common.verb(body)()
    assert left.value.exit_code == 3


def test_the_store_is_the_one_named_else_the_variables_else_the_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NANOBENCH_STORE", str(tmp_path / "b"))
    assert common.store(tmp_path / "a").root == tmp_path / "a"
    assert common.store(None).root == tmp_path / "b"
    monkeypatch.delenv("NANOBENCH_STORE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    assert common.store(None).root == tmp_path / "c/nanobench"


def test_a_project_that_may_be_missing_is_none_unless_it_was_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repository: Any
) -> None:
    monkeypatch.chdir("/")
    assert common.project_if_any(None) is None
    assert common.project_if_any(repository.root) == repository
    with pytest.raises(Misuse):
        common.project_if_any(tmp_path)


def test_without_proc_the_remedy_is_to_mount_it(tmp_path: Path) -> None:
    main = "import sys; sys.argv[0] = 'nanobench'; from nanobench.cli.main import main; main()"
    hidden = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        'mount -t tmpfs none /proc; exec "$@"',
        "sh",
    ]
    arguments = ["build", "--store", str(tmp_path / "store"), "--project", str(Path(__file__).parents[2])]
    done = subprocess.run([*hidden, sys.executable, "-c", main, *arguments], capture_output=True, text=True)
    assert done.returncode == 4
    assert "NB_OS: /proc/self/" in done.stderr
    assert "mount -t proc proc /proc" in done.stderr
