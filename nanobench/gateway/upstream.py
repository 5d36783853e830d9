"""Where the gateway forwards to, with which key, and what it pins and bounds on the way."""

from __future__ import annotations

from urllib.parse import urlsplit

from attrs import Attribute, field, frozen

from nanobench.errors import Misuse
from nanobench.model.fields import Document
from nanobench.model.provider import Arm, Wire
from nanobench.model.result import Cell


class Secret:
    """A key that no ``repr``, traceback or document shows; only :meth:`reveal` gives it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        if not value or not value.isascii() or not value.isprintable():
            raise Misuse("NB_KEY", "a key must be printable ASCII without line breaks, and not empty")
        self._value = value

    def reveal(self) -> str:
        """The key itself."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"


def _bare(url: str) -> str:
    return url.rstrip("/")


def _clean_url(_: object, __: Attribute[str], value: str) -> None:
    try:
        parts = urlsplit(value)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not close, or a port out of range
        sound = False
    if not sound:
        raise Misuse("NB_BASE_URL", f"{value!r:.200} is not an http(s) address", hint="e.g. http://127.0.0.1:8080/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise Misuse(
            "NB_BASE_URL",
            "a base URL may not carry credentials, a query or a fragment",
            hint="give the key apart from the address",
        )


@frozen(kw_only=True)
class Upstream:
    """A provider: requests go to the endpoint of its ``kind`` below ``base_url``."""

    name: str
    kind: Wire = "openai-compatible"
    base_url: str = field(validator=_clean_url, converter=_bare)
    key: Secret | None = field(default=None, repr=False)


@frozen(kw_only=True)
class Pins:
    """What the gateway sets in every request; None leaves the client's value alone.

    ``model``, when given, is the only one that is asked: what works in the sandbox could ask for others with the
    same key. Usage is always asked for in streams: a strict provider reports none otherwise.
    """

    temperature: int | None = 0
    seed: int | None = None
    model: str | None = None

    @classmethod
    def of(cls, arm: Arm, cell: Cell) -> Pins:
        """The pins of one cell."""
        return cls(temperature=arm.temperature, seed=arm.seed_of(cell.repeat), model=cell.model)

    @property
    def sampling(self) -> Document:
        """The keys of the wire that make the answer to a request the same again."""
        keys = {"temperature": self.temperature, "seed": self.seed}
        return {key: value for key, value in keys.items() if value is not None}


@frozen(kw_only=True)
class Bounds:
    """What one run may take of this host: bytes a message, bytes of transcript, exchanges, times in seconds.

    ``idle_seconds`` is the longest silence of a provider. It stays under the 600 s after which a patient client gives
    up on a loopback address, so that the record says who was silent.
    """

    request_bytes: int = 16 << 20
    answer_bytes: int = 32 << 20
    transcript_bytes: int = 256 << 20
    exchanges: int = 20_000
    parallel: int = 8
    connect_seconds: float = 30
    idle_seconds: float = 540
    total_seconds: float = 3600
