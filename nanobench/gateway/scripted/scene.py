"""What a script knows of the task that it acts in: its solution, its tree at base, and what any change is worth."""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import field, frozen

from nanobench.errors import Refused
from nanobench.model.task import PathRules
from nanobench.sources.change import Change
from nanobench.sources.hunks import applied, hunks_of
from nanobench.sources.patch import Section, joined, sections
from nanobench.sources.quoting import display
from nanobench.sources.variants import rewritten
from nanobench.store.plain_file import read_below

_MAX_FILE = 1 << 20


@frozen(kw_only=True)
class Worth:
    """What a change comes to when it is graded: target tests that pass of so many, and tests that it broke."""

    passed: int
    targets: int
    broken: int


@frozen(kw_only=True)
class Scene:
    """One task. ``base`` is its pristine workspace; ``required`` the files that a correct change must touch;
    ``targets`` how many target tests each suite's language has. ``worth`` grades a patch, as a rehearsal.
    """

    change: Change
    base: Path
    rules: PathRules
    required: tuple[str, ...]
    targets: Mapping[str, int]
    worth: Callable[[bytes], Worth] = field(repr=False)

    @property
    def solution(self) -> tuple[Section, ...]:
        """The golden patch, file by file."""
        return sections(self.change.golden, where="golden patch")

    def before(self, path: str) -> bytes | None:
        """A file's content at base; None where there is no such file that is plain and not too large."""
        try:
            return read_below(self.base, path, limit=_MAX_FILE)
        except OSError:
            return None

    def after(self, path: str) -> bytes | None:
        """The same in the solution's tree; None also for what is no text."""
        parts = [part for part in self.solution if display(part.path) == path]
        if not parts:
            return self.before(path)
        before = b"" if parts[0].change == "create" else self.before(path)
        hunks = hunks_of(parts[0])
        if len(parts) > 1 or parts[0].change == "delete" or before is None or not hunks:
            return None
        return applied(hunks, before)

    def rewritten(self, path: str, content: bytes) -> Section:
        """The change of one file to this content."""
        mode = b"100644"
        if (before := self.before(path)) is not None and (self.base / path).lstat().st_mode & stat.S_IXUSR:
            mode = b"100755"
        return rewritten(path.encode(), before, content, mode=mode)

    def solution_with(self, contents: Mapping[str, bytes]) -> bytes:
        """The golden patch, but for the files that get this content."""
        parts = {part.path: part for part in self.solution if display(part.path) not in contents}
        parts |= {path.encode(): self.rewritten(path, content) for path, content in contents.items()}
        return joined(parts[path] for path in sorted(parts))


def misfit(why: str) -> Refused:
    """The refusal of a script whose part cannot be played in a task."""
    return Refused("NB_PART", why, hint="leave this part out, or choose another task")
