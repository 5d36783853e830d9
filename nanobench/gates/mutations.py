"""Small wrong turns of a line of code, in any language: pure rules, the first that fits."""

from __future__ import annotations

import re

_RULES: tuple[tuple[re.Pattern[bytes], bytes], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (rb"===", b"!=="),
        (rb"!==", b"==="),
        (rb"(?<![=!<>])==(?!=)", b"!="),
        (rb"!=(?!=)", b"=="),
        (rb"\bTrue\b", b"False"),
        (rb"\bFalse\b", b"True"),
        (rb"\btrue\b", b"false"),
        (rb"\bfalse\b", b"true"),
        (rb"\bis not\b", b"is"),
        (rb"\bnot in\b", b"in"),
        (rb"\b(if|elif|while|return|and|or) not\b", rb"\1"),
        (rb"&&", b"||"),
        (rb"\|\|", b"&&"),
        (rb" and ", b" or "),
        (rb" or ", b" and "),
        (rb" <= ", b" > "),
        (rb" >= ", b" < "),
        (rb" < (?=[\w(])", b" >= "),
        (rb" > (?=[\w(])", b" <= "),
        (rb" \+ ", b" - "),
        (rb" - (?=[\w(])", b" + "),
        (rb"(?<![\w.\"'])(\d+)(?![\w.\"'])", b"9\\g<1>"),
        (rb"(?<=return )[^;\s][^;{(\[]*(?=;?$)", b"0"),
    )
)
_NO_CODE = re.compile(rb"\s*(#|//|/?\*|\"\"\"|'''|<!--|import\b|from\b|$)")


def mutated(line: bytes) -> bytes | None:
    """The line with one thing turned around; None when it holds nothing that could be, or no code."""
    if _NO_CODE.match(line):
        return None
    for pattern, replacement in _RULES:
        changed = pattern.sub(replacement, line, count=1)
        if changed != line:
            return changed
    return None
