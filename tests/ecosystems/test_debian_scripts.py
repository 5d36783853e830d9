from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.archives.entries import Entry
from nanobench.ecosystems.base import Assembled
from nanobench.ecosystems.deb_scripts import Alternative, alternatives, unmet
from nanobench.ecosystems.deb_unpack import Installed
from nanobench.ecosystems.debian import assemble
from nanobench.model.lock import Package
from nanobench.store.store import Store


def installed(script: str, name: str = "p") -> Installed:
    return Installed(name=name, fields={}, control={"postinst": script.encode()}, paths=())


def test_an_alternative_with_its_slaves_is_read_over_continued_lines() -> None:
    script = """
if [ "$1" = configure ]; then
        update-alternatives --install /usr/bin/awk awk /usr/bin/mawk 5 \\
            --slave /usr/bin/nawk nawk /usr/bin/mawk \\
            --slave "/usr/share/man/man1/awk.1.gz" awk.1.gz /usr/share/man/man1/mawk.1.gz || true
fi
# update-alternatives --install /usr/bin/no no /usr/bin/$comment 5
update-alternatives --quiet --install /usr/bin/vi vi /usr/bin/vim.tiny 10; echo done
"""
    found, warnings = alternatives([installed(script)])
    links = (
        ("/usr/bin/awk", "awk", "/usr/bin/mawk"),
        ("/usr/bin/nawk", "nawk", "/usr/bin/mawk"),
        ("/usr/share/man/man1/awk.1.gz", "awk.1.gz", "/usr/share/man/man1/mawk.1.gz"),
    )
    assert found == [
        Alternative(name="awk", priority=5, links=links),
        Alternative(name="vi", priority=10, links=(("/usr/bin/vi", "vi", "/usr/bin/vim.tiny"),)),
    ]
    assert warnings == []


@pytest.mark.parametrize(
    "call",
    [
        "--install /usr/bin/$i $i $basedir/bin/$i $priority",
        "--install /usr/bin/x x `which y` 10",
        "--install /usr/bin/x x",
        "--install '/usr/bin/x x /y 1",
        "--install /usr/bin/x x /y high",
    ],
)
def test_an_alternative_that_the_script_computes_is_warned_of(call: str) -> None:
    found, warnings = alternatives([installed(f"update-alternatives {call}\n")])
    assert (found, warnings) == ([], ["p: postinst installs alternatives that its script computes"])


@pytest.mark.parametrize(
    ("script", "effect"),
    [
        ("setcap cap_net_raw+ep /bin/ping", "sets file capabilities"),
        ("adduser --system --group x", "creates users or groups"),
        ("systemd-sysusers ${DPKG_ROOT:+--root} x.conf", "creates users or groups"),
        ("ssh-keygen -q -f /etc/ssh/key", "generates keys or ids"),
        ("dbus-uuidgen --ensure", "generates keys or ids"),
        ("fc-cache -s", "builds caches or databases"),
        ("dpkg-statoverride --update --add root m 4754 /x", "changes owners or modes by dpkg-statoverride"),
    ],
)
def test_what_we_do_not_do_for_a_package_is_warned_of(script: str, effect: str) -> None:
    assert unmet([installed(script)]) == [f"p: postinst {effect}"]
    assert unmet([installed(f"# {script}\n  # {script}")]) == []


def test_a_preinst_is_read_too() -> None:
    package = Installed(name="p", fields={}, control={"preinst": b"useradd -r p"}, paths=())
    assert unmet([package]) == ["p: preinst creates users or groups"]


def test_what_we_do_for_a_package_is_not_warned_of() -> None:
    assert unmet([installed("adduser --system _apt", "apt"), installed("groupadd -g 42 shadow", "passwd")]) == []


@pytest.fixture
def put(deb_of: Callable[..., bytes], locked: Callable[..., Package], store: Store, tmp_path: Path) -> Put:
    masters = {f"./usr/share/base-passwd/{name}.master": b"" for name in ("passwd", "group")}
    base = locked("base-passwd", deb_of("base-passwd", masters))

    def assembled(*packages: tuple[str, dict[str, bytes], str]) -> Assembled:
        made = [
            locked(name, deb_of(name, files, control={"postinst": script.encode()}))
            for name, files, script in packages
        ]
        (tmp_path / "scratch").mkdir()
        return assemble([base, *made], store, tmp_path / "scratch", epoch=0)

    return assembled


Put = Callable[..., Assembled]


def links(assembled: Assembled) -> dict[str, str]:
    chosen: list[Entry] = [e for e in assembled.entries if e.kind == "symlink"]
    return {e.path: e.link for e in chosen if "alternatives" in e.link or "alternatives" in e.path}


def test_the_alternative_of_the_highest_priority_is_linked_with_its_slaves(put: Put) -> None:
    call = "update-alternatives --install /bin/ed ed /usr/bin/{0} {1} --slave /bin/red red /usr/bin/r{0}"
    done = put(
        ("a", {"./usr/bin/aed": b"", "./usr/bin/raed": b""}, call.format("aed", 5)),
        ("b", {"./usr/bin/bed": b""}, call.format("bed", 9)),
        ("c", {}, call.format("not-there", 99)),
    )
    assert links(done) == {"usr/bin/ed": "/etc/alternatives/ed", "etc/alternatives/ed": "/usr/bin/bed"}
    assert done.warnings == ()


def test_an_alternative_does_not_replace_a_shipped_file(put: Put) -> None:
    done = put(
        ("a", {"./usr/bin/x": b"", "./usr/bin/y": b""}, "update-alternatives --install /usr/bin/x x /usr/bin/y 1")
    )
    assert links(done) == {}
    assert done.warnings == ("/usr/bin/x: a package ships it, the alternative /usr/bin/y is not linked",)


def test_a_library_directory_that_needs_a_loader_cache_is_warned_of(put: Put) -> None:
    conf = b"# comment\n/usr/lib/x86_64-linux-gnu\n\n/usr/lib/special/\n"
    done = put(("a", {"./etc/ld.so.conf.d/a.conf": conf}, "ldconfig"))
    assert done.warnings == ("etc/ld.so.conf.d/a.conf: /usr/lib/special/ is not searched (ldconfig is not run)",)


def test_warnings_are_sorted_and_unique(put: Put) -> None:
    done = put(("b", {}, "useradd -x\nuseradd -y"), ("a", {}, "useradd -x"))
    assert done.warnings == ("a: postinst creates users or groups", "b: postinst creates users or groups")
