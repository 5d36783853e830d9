"""Which files of a tree does a source file import directly? By the words of a few languages: a proxy, no parser."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

LANGUAGES = {
    "python": (".py", ".pyi", ".pyx"),
    "typescript": (".ts", ".tsx", ".mts", ".cts"),
    "javascript": (".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"),
    "go": (".go",),
    "rust": (".rs",),
    "java": (".java", ".kt", ".kts", ".scala"),
    "c": (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp"),
    "sql": (".sql",),
    "shell": (".sh",),
}
"""Endings by language; what has none of these counts for no language."""

_PYTHON = re.compile(r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+([\w, \t*]+|\()|import[ \t]+([\w.]+))", re.M)
_SCRIPT = re.compile(r"""(?:\bfrom|\bimport|\brequire\(|\bimport\()[ \t]*['"](\.{1,2}/[^'"\n]+)['"]""")
_ENDINGS = ("", *(end for name in ("typescript", "javascript") for end in LANGUAGES[name]))
_SWAPPED = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",)}


def language_of(path: str) -> str | None:
    """By the file's ending."""
    end = PurePosixPath(path).suffix
    return next((language for language, ends in LANGUAGES.items() if end in ends), None)


def imported(path: str, text: str, tree: Collection[str]) -> frozenset[str]:
    """The files of the tree that the file at ``path`` imports, as far as its language is known here."""
    language = language_of(path)
    if language == "python":
        return frozenset(_python(path, text, tree)) - {path}
    if language in ("typescript", "javascript"):
        return frozenset(_script(path, text, frozenset(tree))) - {path}
    return frozenset()


def _python(path: str, text: str, tree: Collection[str]) -> Iterator[str]:
    wanted = {module for match in _PYTHON.finditer(text) for module in _modules(path, match)}
    for file in tree:
        module = file.removesuffix(".py").removesuffix("/__init__")
        # A package may lie below any folder: src/, lib/, or none.
        if file.endswith(".py") and any(module == name or module.endswith(f"/{name}") for name in wanted):
            yield file


def _modules(path: str, match: re.Match[str]) -> Iterator[str]:
    """The modules that an import may mean, as paths."""
    start, names, plain = match.groups()
    if plain:
        yield plain.replace(".", "/")
        return
    dots = len(start) - len(start.lstrip("."))
    above = PurePosixPath(path).parents[min(dots, len(PurePosixPath(path).parents)) - 1] if dots else None
    module = start.lstrip(".").replace(".", "/")
    base = "/".join(part for part in (str(above) if above and str(above) != "." else "", module) if part)
    if module:
        yield base
    for name in re.findall(r"\w+", names):
        yield f"{base}/{name}" if base else name


def _script(path: str, text: str, tree: frozenset[str]) -> Iterator[str]:
    for match in _SCRIPT.finditer(text):
        target = _joined(PurePosixPath(path).parent, match[1])
        stem, end = target.removesuffix(PurePosixPath(target).suffix), PurePosixPath(target).suffix
        guesses = [
            *(target + ending for ending in _ENDINGS),
            *(stem + other for other in _SWAPPED.get(end, ())),
            *(f"{target}/index{ending}" for ending in _ENDINGS),
        ]
        yield from (guess for guess in guesses if guess in tree)


def _joined(folder: PurePosixPath, relative: str) -> str:
    parts = list(folder.parts)
    for part in relative.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
