"""Ask apt itself which packages a base needs, in a private state: no root, nothing of the machine's own apt."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from pathlib import Path

from packageurl import PackageURL

from nanobench.ecosystems.base import Resolution
from nanobench.ecosystems.deb_control import stanzas
from nanobench.ecosystems.deb_keys import pinned_keyring
from nanobench.ecosystems.online import Online
from nanobench.ecosystems.registries import safe
from nanobench.errors import CannotTell, MachineFailure, NanobenchError, Refused
from nanobench.model.environment import DebianBase
from nanobench.model.fields import Digest
from nanobench.model.lock import Package

# What a suite calls essential or required, and what every workspace needs.
_ALWAYS = ("?essential", "?priority(required)", "ca-certificates", "git")
_ARCHITECTURE = "amd64"
_SECONDS = 900
_INST = re.compile(r"Inst (?P<name>\S+) \((?P<version>\S+) .*\[(?P<arch>\S+)\]\)")
_PASSED_ON = ("PATH", "HOME", "TMPDIR")

# Empty files and directories that apt expects to be there.
_DIRECTORIES = (
    *("etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/sources.list.d", "etc/apt/trusted.gpg.d"),
    *("var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "var/lib/dpkg"),
)


def resolve(base: DebianBase, *, online: Online, work: Path) -> Resolution:
    """Resolve ``base`` against the archive as it is now, below the empty or missing directory ``work``.

    Only the suite's own archive is asked, not its updates and not the security archive: their superseded files
    vanish from the pools within days, a suite's own stay until the next point release.

    Raises:
        Refused: ``NB_RESOLVE`` when apt finds no solution; ``NB_SIGNATURE`` when the suite is not signed by a pinned
            key; ``NB_SUITE`` for a suite that is not known, or another one than was asked for.
        CannotTell: ``NB_UNREACHABLE`` when no mirror answers.
        MachineFailure: ``NB_APT`` when this machine has no apt.
    """
    failures: list[NanobenchError] = []
    for number, mirror in enumerate(online.registries.debian(base.debian)):
        apt = _Apt(work / f"apt{number}", mirror, base.debian, online)
        try:
            apt.update()
        except (CannotTell, Refused) as error:
            failures.append(error)
            continue
        packages = apt.packages((*_ALWAYS, *base.packages))
        return Resolution(packages=packages, source_date_epoch=apt.date())
    if len(failures) == 1:
        raise failures[0]
    # One mirror that lies weighs more than one that is down.
    kind = Refused if any(isinstance(failure, Refused) for failure in failures) else CannotTell
    details = tuple(f"{failure.where}: {failure.message}" for failure in failures)
    raise kind(failures[0].code, f"no mirror serves {base.debian}", details=details, hint=failures[0].hint)


class _Apt:
    """A private apt state at ``root`` that knows one source."""

    def __init__(self, root: Path, mirror: str, suite: str, online: Online) -> None:
        self._root, self._mirror, self._suite, self._online = root, mirror, suite, online

    def update(self) -> None:
        """Fetch the suite's index; apt checks its signature against the pinned keys."""
        keyring = pinned_keyring(self._suite, self._mirror, online=self._online)
        for name in _DIRECTORIES:
            (self._root / name).mkdir(parents=True)
        (self._root / "var/lib/dpkg/status").touch()
        (self._root / "etc/apt/trusted.gpg.d/pinned.gpg").write_bytes(keyring)
        source = f"deb [arch={_ARCHITECTURE}] {self._mirror} {self._suite} main\n"
        (self._root / "etc/apt/sources.list").write_text(source, encoding="utf-8")
        (self._root / "apt.conf").write_text(self._configuration(), encoding="utf-8")
        self._online.note(self._mirror)
        done = self._run("apt-get", "update")
        if done.returncode or len(self._lists("_Packages")) != 1 or len(self._lists("_InRelease")) != 1:
            raise self._update_failure(done)
        codename = self._release().get("Codename")
        if codename != self._suite:
            raise Refused("NB_SUITE", f"serves {codename!r} as {self._suite!r}", where=safe(self._mirror))

    def packages(self, wanted: Sequence[str]) -> tuple[Package, ...]:
        """What apt would install for ``wanted`` on an empty machine, without recommendations."""
        done = self._run("apt-get", "--simulate", "--yes", "--no-install-recommends", "install", *wanted)
        lines = [line for line in done.stdout.splitlines() if line.startswith("Inst ")]
        matches = [match for line in lines if (match := _INST.match(line))]
        if done.returncode or not lines or len(matches) != len(lines):
            raise Refused(
                "NB_RESOLVE",
                f"apt finds no way to install {' '.join(wanted)}",
                where=self._suite,
                details=self._complaints(done),
                hint="mend the packages of the environment's [base]",
            )
        chosen = {(match["name"], match["version"], match["arch"]) for match in matches}
        return self._pinned(chosen)

    def date(self) -> int:
        """The Date of the suite's signed InRelease, in seconds since 1970."""
        return int(parsedate_to_datetime(self._release()["Date"]).timestamp())

    def _pinned(self, chosen: set[tuple[str, str, str]]) -> tuple[Package, ...]:
        asked = sorted(f"{name}={version}" for name, version, _ in chosen)
        done = self._run("apt-cache", "show", *asked)
        shown = {(s["Package"], s["Version"], s["Architecture"]): s for s in stanzas(done.stdout.splitlines())}
        missing = sorted(chosen - set(shown))
        if missing:
            raise Refused("NB_RESOLVE", f"the index does not describe {missing[0]}", where=self._suite)
        return tuple(sorted((self._package(shown[key]) for key in chosen), key=lambda p: p.purl))

    def _package(self, stanza: dict[str, str]) -> Package:
        purl = PackageURL(
            type="deb",
            namespace="debian",
            name=stanza["Package"],
            version=stanza["Version"],
            qualifiers={"arch": stanza["Architecture"], "distro": self._suite},
        )
        return Package(
            purl=purl.to_string(),
            role="debian",
            path=stanza["Filename"],
            digest=Digest(f"sha256:{stanza['SHA256']}"),
            size=int(stanza["Size"]),
        )

    def _configuration(self) -> str:
        # Read through APT_CONFIG, which comes before, and by its Dir replaces, the machine's configuration files.
        bundle = self._online.registries.ca_bundle()
        values = {
            "Dir": f"{self._root.absolute()}/",
            "Dir::State::status": f"{self._root.absolute()}/var/lib/dpkg/status",
            "APT::Architecture": _ARCHITECTURE,
            "APT::Architectures": _ARCHITECTURE,
            "APT::Update::Error-Mode": "any",
            # The private directories belong to whoever runs this; root must not drop to a user who cannot see them.
            "APT::Sandbox::User": "root",
            "Acquire::AllowInsecureRepositories": "false",
            "Acquire::Languages": "none",
            "Acquire::PDiffs": "false",
            "Acquire::Retries": "3",
            "Acquire::http::Timeout": "60",
            "Acquire::https::Timeout": "60",
            **({"Acquire::https::CAInfo": str(bundle)} if bundle else {}),
        }
        if '"' in "".join(values.values()):
            raise MachineFailure(
                "NB_APT", "a path with a quote cannot stand in apt's configuration", where=str(self._root)
            )
        return "".join(f'{key} "{value}";\n' for key, value in values.items())

    def _run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        env = {
            **kept,
            **self._online.registries.proxies(),
            "LC_ALL": "C",
            "APT_CONFIG": str(self._root.absolute() / "apt.conf"),
        }
        try:
            return subprocess.run(
                argv, env=env, cwd=self._root, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS,
                encoding="utf-8", errors="replace", check=False,
            )  # fmt: skip
        except FileNotFoundError:
            hint = "lock on a Debian or Ubuntu machine (package apt); running locked tasks needs no apt"
            raise MachineFailure("NB_APT", f"{argv[0]} is not here", hint=hint) from None
        except subprocess.TimeoutExpired:
            raise CannotTell("NB_UNREACHABLE", f"apt took over {_SECONDS} s", where=safe(self._mirror)) from None

    def _lists(self, suffix: str) -> list[Path]:
        return sorted((self._root / "var/lib/apt/lists").glob(f"*{suffix}"))

    def _release(self) -> dict[str, str]:
        """The signed fields of the InRelease: apt has checked it, and keeps nothing that failed the check."""
        text = self._lists("_InRelease")[0].read_text(encoding="utf-8")
        _, _, signed = text.partition("\n\n")
        return next(stanzas(signed.partition("\n-----BEGIN PGP SIGNATURE-----")[0].splitlines()), {})

    def _complaints(self, done: subprocess.CompletedProcess[str]) -> tuple[str, ...]:
        text = (done.stdout + done.stderr).replace(self._mirror, safe(self._mirror))
        marked = [line.strip() for line in text.splitlines() if line.startswith(("E:", "W:", "Err:", " "))]
        return tuple(dict.fromkeys(marked))[:30]

    def _update_failure(self, done: subprocess.CompletedProcess[str]) -> NanobenchError:
        complaints = self._complaints(done)
        where = safe(self._mirror)
        if re.search(r"NO_PUBKEY|not signed|GPG error|OpenPGP|BADSIG|NOSPLIT", done.stderr):
            hint = "use a mirror of Debian's own archive (NANOBENCH_DEBIAN_MIRROR)"
            return Refused(
                "NB_SIGNATURE", "not signed by the pinned keys", where=where, details=complaints, hint=hint
            )
        hint = "check the network, the proxy and NANOBENCH_DEBIAN_MIRROR"
        return CannotTell(
            "NB_UNREACHABLE", "apt could not read the suite", where=where, details=complaints, hint=hint
        )
