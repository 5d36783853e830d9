"""A server's refs and objects: asked for exactly and shallowly, and for more only where it gives no less."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NoReturn

from attrs import frozen

from nanobench.errors import CannotTell, Refused
from nanobench.sources.git_run import PROTOCOLS, Git, Said

COMMITS_ONLY, NO_FILES = "tree:0", "blob:none"
"""Partial fetches: the history without trees, or trees without files."""

_REF_LINE = re.compile(rb"([0-9a-f]{40})\t([^\s]+)")
# What a mirror on this machine would not do unless it were told; servers have their own mind.
_LOCAL = "git -c uploadpack.allowFilter=true -c uploadpack.allowAnySHA1InWant=true upload-pack"
_EVERYTHING = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
"""A server that gives no commit by its name may have it below a branch or tag."""

_BATCH = 500
_MAX_ABSENT = 200
_NOT_OURS = re.compile(r"not our ref ([0-9a-f]{40})")


def safe(url: str) -> str:
    """The URL for messages: without what stands before the host's ``@``."""
    return re.sub(r"(?<=://)[^/@]*@", "", url)


@frozen(kw_only=True)
class Remote:
    """A repository somewhere. ``where`` names the task file in messages; ``say`` is told what is fetched."""

    url: str
    where: str
    say: Callable[[str], None]

    def refs(self, git: Git, *names: str, needed: Sequence[str] = ()) -> dict[str, str]:
        """The object that each of these refs names; a ref that the server does not have is left out.

        Args:
            needed: what an error says is needed, where that is not the refs themselves.

        Raises:
            CannotTell: ``NB_UNREACHABLE`` when the server does not answer.
        """
        self._check_transport(git)
        said = git.run("ls-remote", "--quiet", "--", self.url, *names, network=True)
        if said.code:
            raise CannotTell(
                "NB_UNREACHABLE",
                f"{safe(self.url)} does not answer",
                where=f"{self.where}: source.url",
                details=(*(f"needed: {name}" for name in needed or names), *(f"git: {word}" for word in said.words)),
                hint="check the network, or name a mirror: git config --global url.MIRROR.insteadOf URL",
            )
        found = (_REF_LINE.fullmatch(line) for line in said.output.splitlines())
        refs = {match[2].decode("utf-8", "replace"): match[1].decode() for match in found if match}
        return {name: refs[name] for name in names if name in refs}

    def history(self, git: Git, wants: Sequence[str]) -> None:
        """The whole history of these refs or commits, without trees where the server can leave them out.

        Raises:
            CannotTell: ``NB_GIT_OBJECT`` naming what cannot be had.
        """
        self.say(f"fetching the history of {', '.join(wants)} from {safe(self.url)}")
        said = self._history(git, wants)
        commits = [want for want in wants if re.fullmatch(r"[0-9a-f]{40}", want)]
        others = [*_EVERYTHING, *(want for want in wants if want not in commits)]
        if said.code and (not commits or self._history(git, others).code or lacking(git, commits)):
            self._missing(lacking(git, commits) or wants, said)

    def _history(self, git: Git, wants: Sequence[str]) -> Said:
        said = self._fetch(git, wants, partial=COMMITS_ONLY)
        return self._fetch(git, wants) if said.code else said

    def commit(self, git: Git, want: str) -> None:
        """One commit, without history and trees where the server can leave them out; raises like :meth:`history`."""
        self.say(f"fetching {want} from {safe(self.url)}")
        said = self._fetch(git, [want], shallow=True, partial=COMMITS_ONLY)
        if said.code:
            self.history(git, [want])

    def commits(self, git: Git, wants: Collection[str], *, files: bool) -> None:
        """These commits with their trees, and as little else as the server allows.

        Args:
            files: whether their files may come along; a server that lacks some then gives none of it, and the
                trees are asked for alone.

        Raises:
            CannotTell: ``NB_GIT_OBJECT`` naming the commits that cannot be had.
        """
        names = sorted(wants)
        trees = [f"{name}^{{tree}}" for name in names]
        self.say(f"fetching {', '.join(names)} from {safe(self.url)}")
        attempts: list[tuple[bool, str | None]] = [(True, None), (True, NO_FILES), (False, NO_FILES), (False, None)]
        said = None
        for shallow, partial in attempts if files else attempts[1:]:
            said = self._fetch(git, names, shallow=shallow, partial=partial)
            if not lacking(git, trees):
                return
        self._fetch(git, _EVERYTHING)
        missing = lacking(git, trees)
        if missing:
            assert said is not None
            self._missing([name.partition("^")[0] for name in missing], said)

    def files(self, git: Git, objects: Iterable[str]) -> frozenset[str]:
        """Ask for these blobs; those that cannot be had."""
        missing: list[str] = sorted(set(objects))
        for start in range(0, len(missing), _BATCH):
            self._batch(git, missing[start : start + _BATCH])
        return frozenset(lacking(git, missing))

    def _batch(self, git: Git, objects: list[str]) -> None:
        """A server refuses a whole batch for one object that it lacks, and names that: ask for the others again."""
        asked = set(objects)
        for _ in range(_MAX_ABSENT):
            lines = "".join(f"{name}\n" for name in sorted(asked)).encode()
            said = self._fetch(git, ["--stdin"], partial=NO_FILES, stdin=lines)
            refused = {name for word in said.words for name in _NOT_OURS.findall(word)} & asked
            asked -= refused
            if not said.code or not refused or not asked:
                return

    def _fetch(
        self,
        git: Git,
        wants: Sequence[str],
        *,
        shallow: bool = False,
        partial: str | None = None,
        stdin: bytes = b"",
    ) -> Said:
        options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
        options += ["--depth=1"] if shallow else []
        options += [f"--filter={partial}"] if partial else []
        options += [f"--upload-pack={_LOCAL}"] if self._is_local(git) else []
        # Names from standard input are no command line: they can be many.
        words = [*options, "--stdin", "--", self.url] if stdin else [*options, "--", self.url, *wants]
        said = git.run("fetch", *words, network=True, stdin=stdin)
        git.forget_remotes()
        return said

    def _missing(self, wants: Sequence[str], said: Said) -> NoReturn:
        raise CannotTell(
            "NB_GIT_OBJECT",
            f"{safe(self.url)} does not give what is needed",
            where=f"{self.where}: source",
            details=(*(f"missing: {want}" for want in wants), *(f"git: {word}" for word in said.words)),
            hint="the repository may have been rewritten or made private; name a mirror that still has it: "
            "git config --global url.MIRROR.insteadOf URL",
        )

    def _resolved(self, git: Git) -> str:
        """The URL after the user's ``insteadOf``."""
        said = git.run("ls-remote", "--get-url", "--", self.url)
        return said.output.decode("utf-8", "replace").strip()

    def _is_local(self, git: Git) -> bool:
        return self._resolved(git).startswith(("/", "file://"))

    def _check_transport(self, git: Git) -> None:
        scheme, separator, _ = self._resolved(git).partition("://")
        if (separator and scheme not in PROTOCOLS) or "::" in scheme:
            raise Refused(
                "NB_GIT_URL",
                f"transport {scheme[:40]!r} is never used; one of {', '.join(PROTOCOLS)}",
                where=f"{self.where}: source.url",
            )


def lacking(git: Git, objects: Sequence[str]) -> list[str]:
    """Which of these objects are not in the repository."""
    lines = "".join(f"{name}\n" for name in objects).encode()
    answers = git.read("cat-file", "--batch-check", stdin=lines, limit=1 << 30).splitlines()
    return [name for name, answer in zip(objects, answers, strict=True) if answer.endswith(b" missing")]
