"""Changes that a script makes in place of the solution: each made from it, by a rule, for any task that it fits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from nanobench.gateway.scripted.languages import LANGUAGES, Language, language_of
from nanobench.gateway.scripted.scene import Scene, Worth, misfit
from nanobench.sources.kinds import kind_of
from nanobench.sources.patch import affected_paths, joined
from nanobench.sources.quoting import display
from nanobench.sources.variants import left_out, spread
from nanobench.symbols.functions import openings

REHEARSALS = 24
"""How often a change is graded, at most, to find one that is worth what it should be."""

_FILES = 400
_NOTES = "NOTES-ON-THE-CHANGE.md"


def comment(scene: Scene) -> bytes:
    """A line of comment in the first required file that takes one."""
    for path in scene.required:
        content, language = scene.before(path), language_of(path)
        if content is not None and language is not None:
            end = b"" if content.endswith(b"\n") or not content else b"\n"
            return scene.rewritten(path, content + end + language.comment.encode() + b"\n").data
    raise misfit("no required file is there yet in a language whose comments the script knows")


def elsewhere(scene: Scene) -> bytes:
    """A new file that nothing asks for."""
    if scene.before(_NOTES) is not None or _NOTES in scene.required:
        raise misfit(f"the task has a {_NOTES} of its own")
    return scene.rewritten(_NOTES, b"# Notes\n\nThe change belongs here.\n").data


def with_unknown_call(scene: Scene) -> bytes:
    """The solution, whose functions first call one that is nowhere."""
    return _everywhere(scene, lambda language: language.unknown.format(name=_unused(language.function, scene)))


def with_mistyped_call(scene: Scene) -> bytes:
    """The solution, whose functions first call one with what it does not take."""
    return _everywhere(scene, lambda language: language.mistyped)


def with_exit(scene: Scene) -> bytes:
    """The solution, whose functions end the process of the tests with success."""
    return _everywhere(scene, lambda language: language.leaves)


def half(scene: Scene) -> bytes:
    """The solution without one of its hunks: at least half of the target tests pass, and not all."""
    rest = [variant.patch for variant in left_out(scene.change.golden, scene.base, scene.rules)]
    parts = [patch for patch in rest if set(affected_paths(patch)) & set(scene.required)]
    found = _rehearsed(scene, parts, lambda worth: worth.targets <= 2 * worth.passed < 2 * worth.targets)
    if found is None:
        raise misfit("without any one hunk of its solution, all of its target tests pass or fewer than half")
    return found


def one_language(scene: Scene) -> bytes:
    """What of the solution is in the language that has the fewest target tests."""
    counts = {t: sum(n for suite, n in scene.targets.items() if suite in t.grammars) for t in LANGUAGES}
    spoken = [language for language, tests in counts.items() if tests]
    if len(spoken) < 2:
        raise misfit("its target tests are not in two languages that the script knows")
    least = min(spoken, key=lambda language: counts[language])
    return joined(part for part in scene.solution if language_of(display(part.path)) is least)


def regression(scene: Scene) -> bytes:
    """The solution, and an error in a function that only tests need which passed before."""
    found = _rehearsed(
        scene,
        list(_broken_functions(scene)),
        lambda worth: worth.passed == worth.targets and worth.broken > 0,
    )
    if found is None:
        raise misfit("no function is used by tests that passed before and by no target test")
    return found


def _everywhere(scene: Scene, statement: Callable[[Language], str]) -> bytes:
    """The solution with a statement at the head of every function of the required files."""
    contents: dict[str, bytes] = {}
    for path, content, language in _readable(scene, scene.required):
        if places := openings(path, content):
            contents[path] = language.insert(content, places, statement(language))
    if not contents:
        raise misfit("no required file holds a function in a language that the script knows")
    return scene.solution_with(contents)


def _broken_functions(scene: Scene) -> Iterator[bytes]:
    """The solution with an error in one function, for every function of the required and of the other sources."""
    for path, content, language in _readable(scene, (*scene.required, *_other_sources(scene))):
        for place in openings(path, content):
            yield scene.solution_with({path: language.insert(content, (place,), language.raises)})


def _readable(scene: Scene, paths: Iterable[str]) -> Iterator[tuple[str, bytes, Language]]:
    for path in paths:
        content, language = scene.after(path), language_of(path)
        if content is not None and language is not None:
            yield path, content, language


def _other_sources(scene: Scene) -> list[str]:
    """Source files of the base that are not required, by path."""
    found: list[str] = []
    for folder, folders, files in os.walk(scene.base):
        folders[:] = sorted(name for name in folders if name not in (".git", "node_modules"))
        paths = (Path(folder, name).relative_to(scene.base).as_posix() for name in sorted(files))
        found += [p for p in paths if language_of(p) and kind_of(os.fsencode(p), scene.rules) == "source"]
        if len(found) >= _FILES:
            break
    return [path for path in found[:_FILES] if path not in scene.required]


def _rehearsed(scene: Scene, patches: list[bytes], wanted: Callable[[Worth], bool]) -> bytes | None:
    """The first of these changes, of which some are graded, that is worth what is wanted."""
    return next((patch for patch in spread(patches, REHEARSALS) if wanted(scene.worth(patch))), None)


def _unused(name: str, scene: Scene) -> str:
    """The name, or a longer one where the task uses it."""
    texts = [scene.change.golden, scene.change.test, *(scene.before(path) or b"" for path in scene.required)]
    while any(name.encode() in text for text in texts):
        name += "_"
    return name
