"""What a command finds inside: one table, the same for every engine and every user who runs it."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from nanobench.sandbox import launch
from nanobench.sandbox.seccomp import _TABLES

PROBE = r"""
import ctypes, json, os, resource, shutil, socket, subprocess, sys, time

CALLS, FAMILIES = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
MEMORY = ("/tmp", "/home/agent", "/dev/shm")

def status(name):
    return next(line.split()[1:] for line in open("/proc/self/status") if line.startswith(name + ":"))

def can(what):
    try:
        what()
    except OSError as error:
        return error.strerror.partition(" (")[0]
    return "yes"

def can_read(path):
    return open(path).readlines() if os.path.exists(path) else []

def write(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT))

def connect(host, family, port=0):
    with socket.create_server((host, port), family=family) as server:
        socket.create_connection(server.getsockname()[:2]).close()

def answer(call):
    ctypes.set_errno(0)
    libc.syscall(call, 0, 0, 0, 0, 0)
    return os.strerror(ctypes.get_errno())

def mounts():
    shut = {"nosuid": os.ST_NOSUID, "nodev": os.ST_NODEV, "noexec": os.ST_NOEXEC}
    for line in open("/proc/self/mountinfo"):
        target = line.split()[4]  # one that a later one hides is not there
        flags = os.statvfs(target).f_flag if os.path.isdir(target) else os.ST_RDONLY
        if not flags & os.ST_RDONLY:
            yield target, sorted(name for name, flag in shut.items() if flags & flag)

def run_from(folder):
    shutil.copy("/usr/bin/true", folder + "/true")
    subprocess.run([folder + "/true"], check=True)

umask = os.umask(0); os.umask(umask)
environ = dict(os.environ); environ.pop("LC_CTYPE", None)
print(json.dumps({
    "ids": [os.getresuid(), os.getresgid()],
    "capabilities": sorted({status(name)[0] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}),
    "no new privileges": status("NoNewPrivs"),
    "filter": status("Seccomp"),
    "ignored signals": status("SigIgn"),
    "blocked signals": status("SigBlk"),
    "refused calls": sorted({answer(call) for call in CALLS}),
    "refused families": sorted({can(lambda: socket.socket(family, socket.SOCK_DGRAM)) for family in FAMILIES}),
    "own session": os.getsid(0) == os.getpid() or os.getsid(0) < os.getpid(),
    "umask": oct(umask),
    "environment": environ,
    "host name": socket.gethostname(),
    "time zone": time.tzname[0],
    "directory": os.getcwd(),
    "interfaces": [name for _, name in socket.if_nameindex()],
    "loopback": can(lambda: connect("127.0.0.1", socket.AF_INET)),
    "loopback of IPv6": can(lambda: connect("::1", socket.AF_INET6)),
    "port 80": can(lambda: connect("127.0.0.1", socket.AF_INET, 80)),
    "programs run from": {path: can(lambda: run_from(path)) for path in (*MEMORY, "/workspace")},
    "sys": os.listdir("/sys") if os.path.exists("/sys") else [],
    "name servers": [l for l in can_read("/etc/resolv.conf") if l.startswith("nameserver")],
    "control group": sorted({line.strip().split(":")[2] for line in open("/proc/self/cgroup")}),
    "parent": os.getppid() == 0,
    "core": resource.getrlimit(resource.RLIMIT_CORE),
    "files": resource.getrlimit(resource.RLIMIT_NOFILE),
    "stack": resource.getrlimit(resource.RLIMIT_STACK),
    "processes": resource.getrlimit(resource.RLIMIT_NPROC),
    "cpus": len(os.sched_getaffinity(0)),
    "descriptors": sorted(map(int, os.listdir("/proc/self/fd")))[:3],
    "extra descriptors": len(os.listdir("/proc/self/fd")) - 4,
    "input": os.read(0, 10).decode(),
    "processes seen": sorted(name for name in os.listdir("/proc") if name.isdigit() and int(name) > 50),
    "few processes": sum(name.isdigit() for name in os.listdir("/proc")) <= 3,
    "writable": {
        path: can(lambda: write(path + "/probe"))
        for path in ("/", "/usr", "/etc", "/dev", "/nanobench", "/proc/sys/kernel", *MEMORY, "/workspace")
    },
    "writable mounts": dict(mounts()),
    "core pattern": can(lambda: open("/proc/sys/kernel/core_pattern", "w")),
    "memory file systems": {
        path: os.statvfs(path).f_blocks * os.statvfs(path).f_frsize >> 20 for path in MEMORY
    },
    "modes": {path: oct(os.stat(path).st_mode & 0o7777) for path in (*MEMORY, "/nanobench")},
    "owners": {path: os.stat(path).st_uid for path in ("/", "/workspace", "/tmp", "/home/agent")},
    "devices": sorted(os.listdir("/dev")),
}))
"""

TRIED = list(_TABLES[os.uname().machine][2].values()), [17, 38, 40]  # packets, the kernel's ciphers, the hypervisor
READ_ONLY = "Read-only file system"
EXPECTED: dict[str, Any] = {
    "ids": [[1000] * 3, [1000] * 3],
    "capabilities": ["0000000000000000"],
    "no new privileges": ["1"],
    "filter": ["2"],
    "ignored signals": ["0000000001001000"],  # SIGPIPE and SIGXFSZ: Python's own doing
    "blocked signals": ["0000000000000000"],
    "refused calls": ["Operation not permitted"],
    "refused families": ["Address family not supported by protocol"],
    "own session": True,
    "umask": "0o22",
    "environment": {
        "PATH": "/opt/venv/bin:/usr/local/bin:/usr/bin:/bin",
        "PWD": "/workspace",
        "HOME": "/home/agent",
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/sh",
        "TERM": "dumb",
        "TMPDIR": "/tmp",
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "ADDED": "by the request",
    },
    "host name": "nanobench",
    "time zone": "UTC",
    "directory": "/workspace",
    "interfaces": ["lo"],
    "loopback": "yes",
    "loopback of IPv6": "yes",
    "port 80": "Permission denied",
    "programs run from": dict.fromkeys(("/tmp", "/home/agent", "/dev/shm", "/workspace"), "yes"),
    "sys": [],
    "name servers": [],
    "control group": ["/"],
    "parent": False,
    "core": [0, 0],
    "files": [4096, 4096],
    "stack": [8 << 20, 8 << 20],
    "processes": [64, 64],
    "cpus": 1,
    "descriptors": [0, 1, 2],
    "extra descriptors": 0,
    "input": "",
    "processes seen": [],
    "few processes": True,
    "writable": {
        "/": READ_ONLY,
        "/usr": READ_ONLY,
        "/etc": READ_ONLY,
        "/dev": READ_ONLY,
        "/nanobench": READ_ONLY,
        "/proc/sys/kernel": "No such file or directory",
        "/workspace": "yes",
        "/tmp": "yes",
        "/home/agent": "yes",
        "/dev/shm": "yes",
    },
    "writable mounts": {
        "/proc": ["nodev", "noexec", "nosuid"],
        "/dev/pts": ["noexec", "nosuid"],
        **{path: ["nodev", "nosuid"] for path in ("/tmp", "/home/agent", "/dev/shm", "/workspace")},
    },
    "core pattern": "Permission denied",
    "memory file systems": {"/tmp": 64, "/home/agent": 64, "/dev/shm": 64},
    "modes": {"/tmp": "0o1777", "/home/agent": "0o755", "/dev/shm": "0o1777", "/nanobench": "0o755"},
    "owners": {"/": 1000, "/workspace": 1000, "/tmp": 1000, "/home/agent": 1000},
    "devices": [
        *("core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout"),
        *("tty", "urandom", "zero"),
    ],
}


WRITABLE: dict[str, str] = EXPECTED["writable"]
MOUNTED: dict[str, list[str]] = EXPECTED["writable mounts"]
DOCKER_DIFFERS: dict[str, Any] = {
    # Files of the image belong to root, as its layers say; bubblewrap has a user namespace in which they are ours.
    "owners": {"/": 0, "/workspace": 1000, "/tmp": 1000, "/home/agent": 1000},
    # Docker closes /dev by its owner and /proc/sys by being read-only, bubblewrap the other way round.
    "writable": WRITABLE | {"/dev": "Permission denied"},
    "core pattern": READ_ONLY,
    # Docker binds the workspace as the host has it: set-id programs gain nothing for all that (no new privileges),
    # devices cannot be made without a capability. Its /dev and message queues are memory that is accounted.
    "writable mounts": MOUNTED | {"/workspace": [], "/dev": ["nosuid"], "/dev/mqueue": MOUNTED["/proc"]},
    # Docker shows no link to the kernel's memory, which nobody may read, but the file system of message queues.
    "devices": sorted({*EXPECTED["devices"], "mqueue"} - {"core"}),
    # Processes are limited by the control group, threads counted as well: a limit of the user would count all that
    # user 1000 of the host runs. ``ulimit -u`` says what the daemon has.
    "processes": None,
    # The container's own shell and its cat, and the shell that started the command.
    "few processes": False,
}


@pytest.mark.every_user
def test_inside_all_is_as_promised_whoever_runs_the_engine(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "a key of the host")
    ran = bench.run("python3", "-c", PROBE, json.dumps(TRIED), env={"ADDED": "by the request"})
    assert ran.err == ""
    found, differs = json.loads(ran.out), DOCKER_DIFFERS if bench.engine.name == "docker" else {}
    if "processes" in differs:
        del found["processes"]
    assert found == {name: value for name, value in (EXPECTED | differs).items() if value is not None}


@pytest.fixture
def ignored() -> Iterator[None]:
    """The signals that the C library keeps for itself are ignored here, as in every process that make starts."""
    libc = ctypes.CDLL(None)
    call = launch.RT_SIGACTION[os.uname().machine]
    before = {number: ctypes.create_string_buffer(32) for number in (32, 33)}
    ignore = (1).to_bytes(8, "little") + bytes(24)
    for number, saved in before.items():
        assert libc.syscall(call, number, ignore, saved, 8) == 0
    yield
    for number, saved in before.items():
        assert libc.syscall(call, number, saved, None, 8) == 0


@pytest.mark.usefixtures("ignored")
def test_signals_that_only_the_kernel_can_reset_are_not_ignored_inside(bench: Any) -> None:
    ran = bench.run("grep", "SigIgn", "/proc/self/status")
    assert ran.out.split() == ["SigIgn:", "0" * 16]
