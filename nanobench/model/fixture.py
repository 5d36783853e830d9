"""What only a fixture has: a tree vendored in the task's own folder, and assertions beside its test suites."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from nanobench.model.fields import DIGEST, IDENTIFIER, RELATIVE_PATH, Digest, text, texts, whole


@frozen(kw_only=True)
class VendoredSource:
    """A fixture: ``base/`` of the task's folder is the tree that the agent sees. Over it lie, for the solution, the
    files of ``solution/``, and for grading the hidden ones of ``tests/``; ``answer.txt`` holds the right answer."""

    type: Literal["vendored"]


@frozen(kw_only=True)
class FileAssertion:
    """A line of the file ``path`` must match ``pattern``, an extended regular expression as ``grep -E`` reads it."""

    type: Literal["file"]
    name: str = text(IDENTIFIER)
    path: str = text(RELATIVE_PATH)
    pattern: str = text(r"[^\x00\n]+")


@frozen(kw_only=True)
class ExitAssertion:
    """The command, run in the workspace, must end with the exit code ``code`` within ``seconds``."""

    type: Literal["exit"]
    name: str = text(IDENTIFIER)
    command: tuple[str, ...] = texts(unique=False, nonempty=True)
    code: int = whole(0, 255, default=0)
    seconds: int = whole(1, 86_400, default=60)


@frozen(kw_only=True)
class AnswerAssertion:
    """The agent's final text must give the answer of ``answer.txt`` behind its last ``ANSWER:``."""

    type: Literal["answer"]
    name: str = text(IDENTIFIER)


@frozen(kw_only=True)
class UnchangedAssertion:
    """The agent must leave the tree as it was."""

    type: Literal["unchanged"]
    name: str = text(IDENTIFIER)


Assertion = FileAssertion | ExitAssertion | AnswerAssertion | UnchangedAssertion
"""Told apart by ``type``. Each gives one outcome, with the id ``name|type``."""


FileMode = Literal["0644", "0755"]
"""Of a file, by whether its owner may execute it."""


@frozen(kw_only=True)
class VendoredFile:
    """One file of a fixture by content; ``path`` is below the task's folder."""

    path: str = text(RELATIVE_PATH)
    mode: FileMode
    digest: Digest = text(DIGEST)
    size: int = whole(0, 2**40)


@frozen(kw_only=True)
class LockedFiles:
    """Every file that a fixture is made of, sorted by path."""

    file: tuple[VendoredFile, ...] = field(metadata={"min_items": 1, "unique_key": "path"})

    def __attrs_post_init__(self) -> None:
        paths = [file.path for file in self.file]
        if not paths or paths != sorted(set(paths)):
            raise ValueError("file: at least one is needed, each path once and in order")
