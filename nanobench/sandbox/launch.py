"""The launcher: a small process between the engine and bubblewrap, run by path as ``python -I -S launch.py FD``.

It exists because three things cannot be done safely inside the runner: shedding root (a whole process changes its
user, and a threaded one must not run Python between fork and exec), adopting what a dying sandbox leaves (a child
subreaper gets everything of the process that set it), and ending the sandbox when the runner is killed. So it

1. stages, as root only, every source in a private mount namespace, where the unprivileged user can reach them
   even below a directory closed to him (bubblewrap resolves paths as that user);
2. starts bubblewrap as that user, with limits;
3. sets the process limit once the user namespace exists (a limit set before would count all of the host user's
   processes) and only then lets the command go;
4. kills everything when its channel closes, and reaps everything before it says how it ended.

One line of JSON comes in on FD; lines of JSON go out: ``{"pid": N}``, then ``{"exit": …}`` or ``{"error": …}``.
It imports the standard library only and nothing of NanoBench, and little of that: it starts with every sandbox, and
``pathlib`` and ``typing`` would be a quarter of the time until the command runs.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STAGE = "/tmp"  # noqa: S108 (hidden by our own file system in our own mount namespace; bubblewrap needs it to exist)
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWNS = 0x20000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18

SIGNALS = 64
RT_SIGACTION = {"x86_64": 13, "aarch64": 134}  # the system call's number
SIGACTION_DEFAULT = bytes(32)  # the kernel's struct: SIG_DFL is zero, and so are flags, restorer and mask

STACK = 8 << 20  # bytes; the usual limit, whatever the runner's own is

_libc = ctypes.CDLL(None, use_errno=True)


def main(channel: int) -> None:
    """Run the request that comes over ``channel`` and say there how it ended."""
    try:
        _call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        os.set_inheritable(channel, False)
        request = json.loads(_line(channel))
        end = _Supervisor(channel, request).run()
    except (OSError, ValueError, RuntimeError) as error:
        end = {"error": f"{type(error).__name__}: {error}"}
    _say(channel, end)


class _Supervisor:
    """One bubblewrap and all that descends from it."""

    def __init__(self, channel: int, request: dict[str, Any]) -> None:
        self.channel, self.request = channel, request
        self.status, self._status_end = os.pipe()
        self._block_end, self.gate = os.pipe()
        self.sandbox: int | None = None  # pidfd of the sandbox's process 1
        self.stopping = self.killed = self.ended = False

    def run(self) -> dict[str, Any]:
        """Run to the end, whatever happens on the way: no child is left."""
        places = self.request["sources"] if self.request["uid"] is None else _stage(self.request["sources"])
        parent = os.getpid()
        monitor = os.fork()
        if monitor == 0:
            _become_bubblewrap(self.request, places, self._status_end, self._block_end, parent)
        try:
            os.close(self._status_end)
            os.close(self._block_end)
            self._follow()
        except BaseException:
            os.kill(monitor, signal.SIGKILL)
            raise
        finally:
            exit_code = _reap(monitor)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_ms = round((used.ru_utime + used.ru_stime) * 1000)
        facts = {"exit": exit_code, "started": self.ended, "killed": self.killed}
        return facts | {"cpu_ms": cpu_ms, "peak_kib": used.ru_maxrss}

    def _follow(self) -> None:
        """Read bubblewrap's reports until it is gone; kill when the channel closes."""
        poll = select.poll()
        poll.register(self.channel, select.POLLIN)
        poll.register(self.status, select.POLLIN)
        rest = b""
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if self.channel in ready:
                poll.unregister(self.channel)
                self.stopping = True
                self._kill()
            if self.status in ready:
                chunk = os.read(self.status, 65536)
                if not chunk:
                    return
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._report(json.loads(line))

    def _report(self, report: dict[str, Any]) -> None:
        if "child-pid" in report:
            self._release(report["child-pid"])
        if "exit-code" in report:  # only said of a command that was started
            self.ended = True

    def _release(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError, BrokenPipeError):  # it failed at once: its status tells
            self.sandbox = os.pidfd_open(pid)
            if self.stopping:
                return self._kill()
            _limit_processes(pid, self.request)
            _say(self.channel, {"pid": pid})
            os.write(self.gate, b"1")

    def _kill(self) -> None:
        """End process 1 and so the whole sandbox. As long as it is unknown, wait: bubblewrap names it at once."""
        if self.sandbox is not None and not self.ended:
            self.killed = True
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.sandbox, signal.SIGKILL)


def _reap(monitor: int) -> int:
    """Wait for bubblewrap, then end and reap what it left to us: its process 1 may outlive it. Its exit code."""
    code = os.waitstatus_to_exitcode(os.waitpid(monitor, 0)[1])
    with contextlib.suppress(ChildProcessError):
        while True:
            with open(f"/proc/self/task/{os.getpid()}/children") as children:
                for pid in children.read().split():
                    os.kill(int(pid), signal.SIGKILL)
            os.wait()
    return 128 - code if code < 0 else code


def _stage(sources: list[str]) -> list[str]:
    """Bind every source to a short path that any user can reach, seen by this process and its children only.

    The sources are opened in the new namespace (a mount of another one cannot be bound) and before the stage hides
    what lies below it.
    """
    _call("unshare", CLONE_NEWNS)
    _call("mount", None, b"/", None, MS_REC | MS_PRIVATE, None)
    opened = [os.open(source, os.O_PATH) for source in sources]
    _call("mount", b"tmpfs", STAGE.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, b"mode=0755,size=1m")
    places: list[str] = []
    for fd in opened:
        place = f"{STAGE}/{len(places)}"
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            os.mkdir(place)
        else:
            os.close(os.open(place, os.O_CREAT, 0o644))
        _call("mount", f"/proc/self/fd/{fd}".encode(), place.encode(), None, MS_BIND, None)
        places.append(place)
        os.close(fd)
    return places


def _become_bubblewrap(request: dict[str, Any], places: list[str], status: int, block: int, parent: int) -> None:
    """In the forked child: limits, unprivileged user, exec. Never returns."""
    try:
        default_signals()
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_STACK, STACK)
        _limit(resource.RLIMIT_NOFILE, request["open_files"])
        os.sched_setaffinity(0, request["cpus"])
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")  # when memory runs out, the kernel takes a sandbox first
        _shed_root(request["uid"])
        _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # after the change of user, which clears it
        if os.getppid() != parent:
            os._exit(1)
        os.umask(0o022)
        os.chdir("/")
        own = {"--json-status-fd": status, "--block-fd": block} | _filter(request["seccomp"])
        for fd in own.values():
            os.set_inheritable(fd, True)
        options = [part for option, fd in own.items() for part in (option, str(fd))]
        rest = [places[part] if isinstance(part, int) else part for part in request["arguments"]]
        os.execve(f"{places[0]}/{request['program']}", ["bwrap", *options, *rest], {})  # noqa: S606
    except BaseException as error:  # whatever it is, this copy of the launcher must not go on
        os.write(2, f"launcher: {error}\n".encode())
        os._exit(1)


def default_signals() -> None:
    """Ignore and block no signal: Python ignores SIGPIPE, a runner under nohup SIGHUP, and make 32 and 33, which
    the C library keeps for itself: only the kernel can be asked to set those."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    if os.uname().machine in RT_SIGACTION:
        for kept in set(range(1, SIGNALS + 1)) - signal.valid_signals():
            _call("syscall", RT_SIGACTION[os.uname().machine], kept, SIGACTION_DEFAULT, None, SIGNALS // 8)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _filter(program: str) -> dict[str, int]:
    """The system call filter as a file that bubblewrap reads; none where none is known."""
    if not program:
        return {}
    fd = os.memfd_create("seccomp")
    os.write(fd, bytes.fromhex(program))
    os.lseek(fd, 0, os.SEEK_SET)
    return {"--add-seccomp-fd": fd}


def _limit_processes(pid: int, request: dict[str, Any]) -> None:
    """Limit the sandbox's process 1 as its own user: root may lack the right to (``CAP_SYS_RESOURCE``)."""
    helper = os.fork()
    if helper == 0:
        try:
            _shed_root(request["uid"])
            _limit(resource.RLIMIT_NPROC, request["pids"], pid)
        finally:
            os._exit(0 if sys.exc_info()[0] in (None, ProcessLookupError) else 1)
    if os.waitpid(helper, 0)[1] != 0:
        raise RuntimeError("the number of processes could not be limited")


def _shed_root(uid: int | None) -> None:
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def _limit(kind: int, value: int, pid: int = 0) -> None:
    """Set soft and hard limit, never above the hard limit that is."""
    hard = resource.prlimit(pid, kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.prlimit(pid, kind, (value, value))


def _call(name: str, *arguments: int | bytes | None) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _line(channel: int) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        chunk = os.read(channel, 65536)
        if not chunk:
            raise RuntimeError("no request came")
        data += chunk
    return data


def _say(channel: int, message: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):  # the runner is gone; there is nobody to tell
        os.write(channel, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
