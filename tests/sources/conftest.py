"""A real sandbox with this machine's git in it: one layer of empty directories, and ``/usr`` mounted read-only; and
real repositories, served over real HTTP."""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from attrs import evolve

from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.interface import Finished, Mount, Request
from nanobench.sources.gitbox import Gitbox

FOLDERS = ("usr", "proc", "dev", "tmp", "etc", "workspace", "home/agent", "nanobench", "opt/venv")
Grow = Callable[[str, dict[str, str | bytes]], Path]


class WithUsr:
    """The engine, with this machine's ``/usr`` in every request."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self.inner = Bubblewrap()
        self.requests: list[Request] = []

    def run(self, request: Request) -> Finished:
        self.requests.append(request)
        return self.inner.run(evolve(request, mounts=(*request.mounts, Mount(source=Path("/usr"), target="/usr"))))

    def own(self, path: Path) -> None:
        self.inner.own(path)

    def stop(self) -> None:
        self.inner.stop()

    def check(self) -> tuple[str, ...]:
        return self.inner.check()


@pytest.fixture
def engine() -> WithUsr:
    return WithUsr()


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    root = tmp_path / "layer"
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True)
    for link in ("bin", "sbin", "lib", "lib64"):
        (root / link).symlink_to(f"usr/{link}")
    return root


@pytest.fixture
def gitbox(engine: WithUsr, layer: Path, tmp_path: Path) -> Gitbox:
    (tmp_path / "scratch").mkdir()
    return Gitbox(engine=engine, layers=(layer,), scratch=tmp_path / "scratch")


@pytest.fixture
def grow(tmp_path: Path) -> Grow:
    """Make a tree: a name and its files."""

    def make(name: str, files: dict[str, str | bytes]) -> Path:
        root = tmp_path / name
        root.mkdir()
        for path, content in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    return make


class Forge:
    """A bare repository whose objects are written byte by byte, so that they can be as hostile as any server's."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("objects", "refs"):
            (root / folder).mkdir(parents=True)
        (root / "HEAD").write_text("ref: refs/heads/main\n")
        (root / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")

    @property
    def url(self) -> str:
        return f"file://{self.root}"

    def put(self, kind: str, data: bytes) -> str:
        whole = f"{kind} {len(data)}\0".encode() + data
        name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        place = self.object(name)
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(zlib.compress(whole))
        return name

    def object(self, name: str) -> Path:
        return self.root / "objects" / name[:2] / name[2:]

    def blob(self, data: str | bytes) -> str:
        return self.put("blob", data if isinstance(data, bytes) else data.encode())

    def tree(self, *entries: tuple[str, str | bytes, str]) -> str:
        """A tree of (mode, name, object), in the order given."""
        raw = [(mode, name if isinstance(name, bytes) else name.encode(), oid) for mode, name, oid in entries]
        return self.put("tree", b"".join(b"%b %b\0" % (m.encode(), n) + bytes.fromhex(o) for m, n, o in raw))

    def files(self, files: Mapping[str, str | bytes]) -> str:
        """The tree of these files (``path@`` is a link, ``path*`` executable, ``path^`` a submodule's commit), sorted
        as git sorts."""
        entries: dict[str, tuple[str, str]] = {}
        folders: dict[str, dict[str, str | bytes]] = {}
        for path, content in files.items():
            top, _, rest = path.partition("/")
            if rest:
                folders.setdefault(top, {})[rest] = content
            else:
                mode = {"@": "120000", "*": "100755", "^": "160000"}.get(path[-1], "100644")
                entries[path.rstrip("@*^")] = (mode, str(content) if path[-1] == "^" else self.blob(content))
        entries |= {name: ("40000", self.files(below)) for name, below in folders.items()}
        order = sorted(entries, key=lambda name: name + ("/" if entries[name][0] == "40000" else ""))
        return self.tree(*((entries[name][0], name, entries[name][1]) for name in order))

    def commit(
        self, tree: str | Mapping[str, str | bytes], *parents: str, message: str = "m", author: str = "A", at: int = 0
    ) -> str:
        root = tree if isinstance(tree, str) else self.files(tree)
        lines = [f"tree {root}", *(f"parent {parent}" for parent in parents)]
        lines += [f"author {author} <a@b> 1780000000 +0000", f"committer C <c@d> {1_781_000_000 + at} +0300"]
        return self.put("commit", ("\n".join(lines) + f"\n\n{message}\n").encode())

    def ref(self, name: str, value: str) -> None:
        place = self.root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{value}\n")


class _Backend(BaseHTTPRequestHandler):
    """A web server in front of a repository: git's own CGI program, or plain files (``dumb``). One that gives nothing
    ``by_name`` speaks the first protocol, in which only what a ref names can be asked for."""

    root: Path
    dumb: bool
    by_name: bool

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if not self.dumb:
            self._cgi("GET", path, query, b"")
            return
        file = self.root.joinpath(path.lstrip("/"))
        self.send_response(200 if file.is_file() else 404)
        self.end_headers()
        self.wfile.write(file.read_bytes() if file.is_file() else b"")

    def do_POST(self) -> None:
        path, _, query = self.path.partition("?")
        self._cgi("POST", path, query, self.rfile.read(int(self.headers["Content-Length"])))

    def _cgi(self, method: str, path: str, query: str, body: bytes) -> None:
        env = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", "") if self.by_name else "",
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "REMOTE_ADDR": "127.0.0.1",
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
        }
        said = subprocess.run(["git", "http-backend"], env=env, input=body, capture_output=True, check=False).stdout
        head, _, content = said.partition(b"\r\n\r\n")
        headers = dict(line.decode().split(": ", 1) for line in head.split(b"\r\n") if b": " in line)
        self.send_response(int(headers.pop("Status", "200 OK").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


Serve = Callable[..., str]


@pytest.fixture
def git_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's git configuration of its own; the file can be written to."""
    config = tmp_path / "gitconfig"
    config.touch()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return config


@pytest.fixture
def forge(tmp_path: Path, git_home: Path) -> Forge:
    return Forge(tmp_path / "forge.git")


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serve the folder of a repository over HTTP; gives the repository's URL."""
    servers: list[ThreadingHTTPServer] = []

    def start(repository: Path, *, dumb: bool = False, by_name: bool = True) -> str:
        if dumb:
            subprocess.run(["git", "--git-dir", str(repository), "update-server-info"], check=True)
        handler = type("Handler", (_Backend,), {"root": repository.parent, "dumb": dumb, "by_name": by_name})
        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=servers[-1].serve_forever, args=(0.05,), daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_address[1]}/{repository.name}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
