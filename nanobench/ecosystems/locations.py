"""At which URLs does this client find a locked file, best first?"""

from __future__ import annotations

import threading

from packageurl import PackageURL

from nanobench.ecosystems import oci_reference
from nanobench.ecosystems.oci_documents import MANIFEST_TYPES, MANIFESTS
from nanobench.ecosystems.oci_token import authorization
from nanobench.ecosystems.online import Gone, Online, Unreachable
from nanobench.ecosystems.registries import safe
from nanobench.errors import Refused
from nanobench.model.lock import Package

_MAX_PAGE = 64 << 20


class Locations:
    """Finds URLs of packages; reads a project's page of the simple index once."""

    def __init__(self, online: Online) -> None:
        self._online = online
        self._pages: dict[str, dict[str, tuple[str, ...]]] = {}
        self._locks: dict[str, threading.Lock] = {}

    def of(self, package: Package) -> tuple[str, ...]:
        """The URLs to try in turn.

        Raises:
            Gone, Unreachable: when an index has to be asked and does not know the file, or does not answer.
            Refused: ``NB_PURL`` for a type of package that has no registry here.
        """
        purl = PackageURL.from_string(package.purl)
        registries = self._online.registries
        if purl.type == "deb":
            bases = registries.debian(dict(purl.qualifiers).get("distro", ""))
        elif purl.type == "npm":
            bases = (registries.npm(),)
        elif purl.type == "generic" and "download_url" in purl.qualifiers:
            return (dict(purl.qualifiers)["download_url"],)
        elif purl.type == "pypi":
            return self._pypi(package)
        elif purl.type == "oci":
            bases = (oci_reference.base(purl, registries),)
        else:
            raise Refused("NB_PURL", f"no registry is known for packages of type {purl.type!r}", where=package.purl)
        return tuple(f"{base}/{package.path}" for base in bases)

    def headers(self, package: Package) -> dict[str, str]:
        """What its registry wants to be shown for it.

        Raises:
            Gone, Unreachable: when the registry does not answer, or wants what we do not have.
        """
        purl = PackageURL.from_string(package.purl)
        if purl.type != "oci":
            return {}
        repository, kind, _ = package.path.rsplit("/", 2)
        base = oci_reference.base(purl, self._online.registries)
        accept = {"Accept": ", ".join(MANIFEST_TYPES)} if kind == MANIFESTS else {}
        return accept | authorization(base, repository, online=self._online)

    def _pypi(self, package: Package) -> tuple[str, ...]:
        project, _, name = package.path.rpartition("/")
        with self._locks.setdefault(project, threading.Lock()):
            if project not in self._pages:
                self._pages[project] = self._read_page(project)
        urls = self._pages[project].get(name, ())
        if not urls:
            raise Gone(f"{safe(self._online.registries.pypi())}/{project}/ does not list {name}")
        return urls

    def _read_page(self, project: str) -> dict[str, tuple[str, ...]]:
        from pypi_simple import ACCEPT_JSON_PREFERRED, ProjectPage  # a third of every command's start

        url = f"{self._online.registries.pypi()}/{project}/"
        response = self._online.get(url, limit=_MAX_PAGE, accept=ACCEPT_JSON_PREFERRED)
        base = str(response.url)
        try:
            if "json" in response.headers.get("Content-Type", ""):
                page = ProjectPage.from_json_data(response.json(), base)
            else:
                page = ProjectPage.from_html(project, response.content, base)
        except Exception as error:  # The page is foreign data and three libraries read it.
            raise Unreachable(f"{safe(url)}: not a page of a simple index ({type(error).__name__})") from error
        found: dict[str, tuple[str, ...]] = {}
        for file in page.packages:
            if file.url.startswith(("http://", "https://")):
                found[file.filename] = (*found.get(file.filename, ()), file.url)
        return found
