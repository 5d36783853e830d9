"""A machine that allows no sandbox is told so, with what helps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nanobench.sandbox.diagnose import Machine, remedy, this_machine

CHECK = "from nanobench.sandbox.bubblewrap import Bubblewrap; print(Bubblewrap().check())"
PROGRAM = Path("/somewhere/bwrap")


@pytest.mark.every_user
def test_a_working_engine_has_nothing_to_say(bench: Any) -> None:
    assert bench.engine.check() == ()


def test_check_leaves_no_file(bench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    bench.engine.check()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.bubblewrap
def test_user_namespaces_that_are_switched_off_are_named(start: Any) -> None:
    """For real: a user namespace of our own in which no further one may be made."""
    off = (
        "unshare",
        "--user",
        "--map-root-user",
        "sh",
        "-c",
        'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"',
        "sh",
    )
    said = start(CHECK, wrapper=off).communicate()[0]
    assert "the sandbox did not start: bwrap: " in said
    assert "sysctl -w user.max_user_namespaces" in said


@pytest.mark.bubblewrap
def test_a_plain_chroot_is_named_before_the_words_of_bubblewrap(start: Any) -> None:
    """For real: a folder with all of this machine below it, which is no mount, as root."""
    copy = 'if [ -h "$each" ]; then cp -P "$each" /mnt/root; elif [ -d "$each" ] && [ "$each" != /mnt ]; then '
    copy += 'mkdir "/mnt/root$each" && mount --rbind "$each" "/mnt/root$each"; fi'
    make = f"mount -t tmpfs none /mnt && mkdir /mnt/root && for each in /*; do {copy}; done; "
    make += 'exec /usr/sbin/chroot /mnt/root "$@"'
    wrapper = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", make, "sh")
    said = start(CHECK, wrapper=wrapper).communicate()[0]
    assert "the sandbox did not start in a plain chroot, where none can: bwrap: " in said
    assert "enter the root file system with pivot_root" in said


@pytest.mark.bubblewrap
def test_root_of_a_user_namespace_runs_as_the_ordinary_user_that_it_is(start: Any) -> None:
    assert start(CHECK, wrapper=("unshare", "--user", "--map-root-user")).communicate()[0] == "()\n"


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"max_user_namespaces": "0"}, "user.max_user_namespaces=10000"),
        ({"unprivileged_userns_clone": "0"}, "kernel.unprivileged_userns_clone=1"),
        ({"apparmor_restrict_unprivileged_userns": "1"}, "/somewhere/bwrap flags=(unconfined) { userns, }"),
        ({"container": True}, "--security-opt seccomp=unconfined"),
        ({"chroot": True}, "pivot_root"),
        ({}, "nanobench doctor"),
    ],
)
def test_every_known_cause_has_its_remedy(facts: dict[str, Any], words: str) -> None:
    assert words in remedy(Machine(**facts), PROGRAM)


def test_this_machine_is_no_chroot() -> None:
    assert not this_machine().chroot
