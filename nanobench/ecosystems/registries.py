"""Where does this client get packages from? Its own configuration decides, never a lock.

Order for each ecosystem: our own variable, the ecosystem's variables, its configuration files, and last the
default that the package-url libraries know for that type.
"""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from attrs import field, frozen
from packageurl.contrib.purl2url import get_download_url

from nanobench.ecosystems.apt_sources import archive_uris
from nanobench.errors import Misuse

_PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_CA_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT")


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a uid that nobody named, and no $HOME: then nothing is configured there
        return Path("/nonexistent")


@frozen(kw_only=True)
class Registries:
    """The client's configuration. The defaults are this process's; tests give their own."""

    env: Mapping[str, str] = field(factory=lambda: os.environ)
    home: Path = field(factory=_home)
    etc: Path = Path("/etc")
    project: Path = field(factory=Path.cwd)

    def debian(self, suite: str) -> tuple[str, ...]:
        """Base URLs of Debian's main archive that serve ``suite``, best first; below them lie dists and pool."""
        own = tuple(self.env.get("NANOBENCH_DEBIAN_MIRROR", "").split())
        if own:
            return tuple(_base(url, "NANOBENCH_DEBIAN_MIRROR") for url in own)
        found = archive_uris(self.etc / "apt", suite)
        return tuple(dict.fromkeys(_base(url, "apt sources") for url in found)) or (_default("deb/debian", "/pool/"),)

    def pypi(self) -> str:
        """The base URL of the simple index, without a final slash."""
        for name in ("NANOBENCH_PYPI_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
            if self.env.get(name):
                # uv allows `name=url`.
                return _base(re.sub(r"^[\w.-]+=(?=https?:)", "", self.env[name]), name)
        for path in self._pip_files():
            url = _pip_index(path)
            if url:
                return _base(url, str(path))
        from pypi_simple import PYPI_SIMPLE_ENDPOINT  # a third of every command's start

        return PYPI_SIMPLE_ENDPOINT.rstrip("/")

    def npm(self) -> str:
        """The base URL of the npm registry, without a final slash."""
        for name in ("NANOBENCH_NPM_REGISTRY", "NPM_CONFIG_REGISTRY", "npm_config_registry"):
            if self.env.get(name):
                return _base(self.env[name], name)
        for path in (self.project / ".npmrc", self.home / ".npmrc", self.etc / "npmrc"):
            for line in _lines(path):
                key, _, value = line.partition("=")
                if key.strip() == "registry" and value.strip():
                    return _base(value.strip().strip("\"'"), str(path))
        return _default("npm", "/a/-/")

    def images(self, host: str) -> str:
        """The base URL of the registry of images on ``host``; only loopback is asked without TLS."""
        own = self.env.get("NANOBENCH_IMAGE_REGISTRY")
        if own:
            return _base(own, "NANOBENCH_IMAGE_REGISTRY")
        from docker.auth import INDEX_NAME, INDEX_URL  # few need it

        place = urlsplit(INDEX_URL).netloc if host == INDEX_NAME else host
        loopback = re.fullmatch(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?", host)
        return _base(f"{'http' if loopback else 'https'}://{place}", "base.image")

    def ca_bundle(self) -> Path | None:
        """The certificate bundle to trust: named by the environment, else the system's, else ``None``."""
        named = [Path(self.env[name]) for name in _CA_VARIABLES if self.env.get(name)]
        system = self.etc / "ssl/certs/ca-certificates.crt"
        return next((path for path in [*named, system] if path.is_file()), None)

    def proxies(self) -> dict[str, str]:
        """The proxy variables that are set, in both spellings: what the ecosystems' own tools are given."""
        names = (spelling for name in _PROXY_VARIABLES for spelling in (name, name.lower()))
        return {name: self.env[name] for name in names if self.env.get(name)}

    def _pip_files(self) -> Iterator[Path]:
        # pip reads global, then user, then PIP_CONFIG_FILE, the later ones winning; so look from the last.
        if self.env.get("PIP_CONFIG_FILE"):
            yield Path(self.env["PIP_CONFIG_FILE"])
        config = Path(self.env.get("XDG_CONFIG_HOME") or self.home / ".config")
        yield from (config / "pip/pip.conf", self.home / ".pip/pip.conf")
        yield from (self.etc / "pip.conf", self.etc / "xdg/pip/pip.conf")


def safe(url: str) -> str:
    """``url`` for messages and logs: without credentials, query or fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _base(url: str, where: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Misuse("NB_REGISTRY", f"not an http or https URL: {safe(url)!r:.120}", where=where)
    return url.rstrip("/")


def _default(kind: str, cut: str) -> str:
    # The library knows the whole URL of an example package; its registry is what stands before the package.
    url = get_download_url(f"pkg:{kind}/a@1?arch=amd64")  # type: ignore[no-untyped-call]
    return str(url).partition(cut)[0]


def _pip_index(path: Path) -> str | None:
    parser = configparser.RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        return None
    return parser.get("global", "index-url", fallback=None)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
