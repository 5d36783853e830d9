"""What the TypeScript compiler says, by its code; where a runner leaves the code out, by the words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from attrs import frozen

from nanobench.scoring.errors.error import OTHER, Error, ErrorKind
from nanobench.symbols.names import module_name

_QUOTED = r"['\"](?P<symbol>[^'\"]+)['\"]"


@frozen(kw_only=True)
class Diagnostic:
    """What the compiler says under these codes, and in which words."""

    kind: ErrorKind
    codes: frozenset[int]
    words: re.Pattern[str]
    module: bool = False

    def error(self, message: str) -> Error:
        """The error, with the name where the message has it."""
        match = self.words.match(message)
        symbol = match.groupdict().get("symbol") if match else None
        return Error(kind=self.kind, symbol=module_name(symbol) if symbol and self.module else symbol)


def _says(kind: ErrorKind, words: str, *codes: int, module: bool = False) -> Diagnostic:
    return Diagnostic(kind=kind, codes=frozenset(codes), words=re.compile(words), module=module)


DIAGNOSTICS = (
    _says("missing_symbol", rf"Property {_QUOTED} does not exist on type", 2339, 2550, 2551, 2576),
    _says(
        "missing_symbol",
        rf"Cannot find (?:name|namespace) {_QUOTED}",
        *(2304, 2503, 2552, 2580, 2581, 2582, 2583, 2584, 2591, 2592, 2593, 2663, 2693),
    ),
    _says("missing_symbol", rf".*? has no exported member(?: named)? {_QUOTED}", 2305, 2614, 2694, 2724),
    _says("missing_symbol", rf"Module .*? declares {_QUOTED} locally, but it is not exported", 2459, 2460),
    _says("missing_symbol", r"Module .*? has no (?P<symbol>default) export", 1192, 2613),
    _says("missing_symbol", rf"Cannot find module {_QUOTED}", 2307, 2792, 2834, 2835, module=True),
    _says("missing_symbol", rf".*?(?:known properties, (?:and|but)) {_QUOTED} does not exist", 2353, 2561),
    _says("missing_symbol", rf"No value exists in scope for the shorthand property {_QUOTED}", 18004),
    _says("interface", rf"Property {_QUOTED} is missing in type", 2741),
    _says(
        "interface",
        r"Non-abstract class .*? does not implement (?:inherited )?abstract member '?(?P<symbol>\w+)",
        2515,
    ),
    _says("interface", r"Non-abstract class ", 2653, 2654, 2655, 2656),
    _says("interface", r"Type .*? is not assignable to type ", 2322, 2719, 2820, 2375),
    _says("interface", r"Type .*? is missing the following properties ", 2739, 2740),
    _says("interface", r"Argument of type ", 2345, 2379),
    _says("interface", r"Expected \S+ (?:type )?arguments?, but got ", 2554, 2555, 2558, 2575),
    _says("interface", r"No overload matches this call", 2769),
    _says("interface", r"Class .*? incorrectly (?:implements|extends) ", 2415, 2417, 2420, 2720),
    _says("interface", r"Interface .*? incorrectly extends ", 2430),
    _says("interface", r"Property .*? in type .*? is not assignable to the same property", 2416),
    _says("interface", r"This expression is not (?:callable|constructable)", 2349, 2351),
    _says("interface", r"Cannot create an instance of an abstract class", 2511),
    _says("interface", r"Conversion of type .*? may be a mistake", 2352),
    _says("interface", r"Operator .*? cannot be applied to types? ", 2365),
    _says("interface", r"The (?:left|right)-hand side of an arithmetic operation must be ", 2362, 2363),
    _says("interface", r"This comparison appears to be unintentional ", 2367),
    _says("interface", r"Generic type .*? requires ", 2314, 2707),
    _says("interface", r"Type .*? does not satisfy the constraint ", 2344),
    _says("interface", r"Property .*? is (?:private|protected) and only accessible ", 2341, 2445),
    _says("interface", r"Type .*? has no properties in common with type ", 2559),
    _says("interface", r"Type .*? must have a .*? method that returns an iterator", 2488),
)
_BY_CODE = {code: each for each in DIAGNOSTICS for code in each.codes}
_CODE = re.compile(r"(\d{1,6}): (.*)")


def diagnostics(lines: Iterable[str]) -> Iterator[Error]:
    """Everything that the compiler reported under a code, as ``tsc`` prints it with and without ``--pretty``."""
    for line in lines:
        found = _CODE.match(line.partition("error TS")[2])
        if found:
            known = _BY_CODE.get(int(found[1]))
            yield known.error(found[2]) if known else OTHER


def by_words(message: str) -> Error | None:
    """What a diagnostic without its code says; None when it is none that is known."""
    return next((each.error(message) for each in DIAGNOSTICS if each.words.match(message)), None)
