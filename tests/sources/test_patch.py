from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nanobench.sources
from nanobench.errors import Refused
from nanobench.sources.patch import affected_paths, joined, sections
from nanobench.sources.quoting import display

PRINT = Path(nanobench.sources.__file__).parent / "scripts" / "print.sh"
ZERO, BLOB = "0" * 40, "e" * 40

NASTY = [
    *(b"", b"\r", b"\t", b"diff --git a/evil b/evil", b"--- a/evil", b"+++ b/evil", b"@@ -1 +1 @@", b"-- a/evil"),
    *(
        b"\\ No newline at end of file",
        b"GIT binary patch",
        b"literal 3",
        b"rename to evil",
        b"x",
        b"y",
        b"\xff\xfe",
        b"\0",
    ),
]
content = st.tuples(st.lists(st.sampled_from(NASTY), max_size=12), st.booleans()).map(
    lambda made: b"\n".join(made[0]) + b"\n" * made[1]
)
name = st.sampled_from([b"a", b"b c", b"\xff", b'"', b"n\nl", b"t\t", b"\\", "ü".encode(), b" b", b"-x", b"b"])
path = st.lists(name, min_size=1, max_size=3).map(b"/".join)
file = st.tuples(st.sampled_from(["file", "exec", "link"]), content)
trees = st.dictionaries(path, file, max_size=6)


def git(repository: str, *argv: str, data: bytes = b"") -> bytes:
    environment = {"GIT_DIR": repository, "GIT_INDEX_FILE": f"{repository}/i", "PATH": "/usr/bin:/bin"}
    return subprocess.run(["git", *argv], input=data, capture_output=True, check=True, env=environment).stdout


def write(repository: str, tree: dict[bytes, tuple[str, bytes]]) -> str:
    Path(repository, "i").unlink(missing_ok=True)
    modes = {"file": b"100644", "exec": b"100755", "link": b"120000"}
    for at, (kind, data) in sorted(tree.items()):
        if not any(other != at and other.startswith(at + b"/") for other in tree):
            blob = git(repository, "hash-object", "-w", "--stdin", data=data or b"z").strip()
            git(repository, "update-index", "-z", "--index-info", data=b"%s %s\t%s\0" % (modes[kind], blob, at))
    git(repository, "update-index", "-z", "--index-info")
    return git(repository, "write-tree").decode().strip()


def difference(repository: str, one: str, two: str) -> bytes:
    environment = {"GIT_DIR": repository, "PATH": "/usr/bin:/bin"}
    argv = ["sh", "-c", '. "$1"; print_difference "$2" "$3"', "sh", str(PRINT), one, two]
    return subprocess.run(argv, capture_output=True, check=True, env=environment).stdout


@settings(max_examples=60, deadline=None)
@given(trees, trees)
def test_every_difference_that_git_writes_is_read_exactly(
    one: dict[bytes, tuple[str, bytes]], two: dict[bytes, tuple[str, bytes]]
) -> None:
    with tempfile.TemporaryDirectory() as repository:
        subprocess.run(["git", "init", "-q", "--bare", repository], check=True)
        before, after = write(repository, one), write(repository, two)
        patch = difference(repository, before, after)
        names = git(repository, "diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after).split(b"\0")[
            :-1
        ]
    assert joined(sections(patch)) == patch
    assert affected_paths(patch) == tuple(sorted({display(p) for p in names}))


ONE = f"diff --git a/x b/x\nindex {BLOB}..{BLOB} 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ def f():\n keep\n-a\n+b\n"
MODE = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n"
EMPTY = f"diff --git a/x b/x\nnew file mode 100644\nindex {ZERO}..{BLOB}\n"
BINARY = (
    f"diff --git a/x b/x\nindex {BLOB}..{BLOB} 100644\n"
    "GIT binary patch\nliteral 2\nJcmZQz00961\n\nliteral 0\nHcmV?d00001\n\n"
)


def test_one_patch_by_hand() -> None:
    for text, change in ((ONE, "modify"), (MODE, "modify"), (EMPTY, "create"), (BINARY, "modify")):
        (section,) = sections(text.encode())
        assert (section.path, section.change, section.data) == (b"x", change, text.encode())


def test_a_file_that_becomes_a_link_stands_twice() -> None:
    gone = (
        f"diff --git a/x b/x\ndeleted file mode 100644\nindex {BLOB}..{ZERO}\n--- a/x\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-a\n"
    )
    made = (
        f"diff --git a/x b/x\nnew file mode 120000\nindex {ZERO}..{BLOB}\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n"
        "\\ No newline at end of file\n"
    )
    assert affected_paths((gone + made).encode()) == ("x",)
    with pytest.raises(Refused, match="stands twice"):
        sections((made + gone).encode())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (ONE.removesuffix("\n"), "cut"),
        ("hello\n", "expected the start"),
        ("From: x\n" + ONE, "expected the start"),
        (ONE + ONE, "stands twice"),
        (ONE + ONE.replace("/x", "/a"), "out of order"),
        (ONE.replace("+++ b/x", "+++ b/y"), r"expected b'\+\+\+ b/x'"),
        (ONE.replace("b/x\nindex", "b/y\nindex"), "expected b'diff --git a/x b/x'"),
        (ONE.replace("/x", "/../x"), "would not write"),
        (ONE.replace("/x", "/.GIT/config"), "would not write"),
        (ONE.replace("a/x", "/etc/passwd").replace("b/x", "/etc/passwd"), "expected b'diff"),
        (ONE.replace("-1,2 +1,2", "-1,3 +1,2"), "not as long"),
        (ONE.replace("-1,2 +1,2", "-1,1 +1,1"), "expected the start"),
        (ONE.replace("@@ -1,2 +1,2 @@ def f():\n keep\n-a\n+b\n", ""), "expected a hunk"),
        (ONE.replace("100644", "160000"), "what changes"),
        (MODE.replace("new mode", "new file mode"), "expected the new mode"),
        ("diff --git a/x b/x\n", "what changes"),
        (f"diff --git a/x b/x\nindex {BLOB}..{BLOB} 100644\n", "what changes"),
        ("diff --git a/x b/x\nnew file mode 100644\n", "what changes"),
        (f"diff --git a/x b/x\nrename from x\nrename to y\nindex {BLOB}..{BLOB} 100644\n", "what changes"),
        (BINARY.replace("\n\nliteral 0", "\nliteral 0"), "expected b''"),
        (f"diff --git a/x b/x\nindex {BLOB}..{BLOB} 100644\nBinary files a/x and b/x differ\n", "what changes"),
        (ONE.replace("\n", "\r\n"), "expected b'diff"),
    ],
)
def test_what_git_would_not_write_is_refused_with_the_line(text: str, reason: str) -> None:
    with pytest.raises(Refused, match=rf"NB_PATCH: bundle(: line \d+)?: .*({reason})"):
        sections(text.encode(), where="bundle")


@given(st.data())
def test_no_bytes_crash_the_reader(data: st.DataObject) -> None:
    patch = bytearray((EMPTY.replace("/x", "/a") + BINARY.replace("/x", "/b") + ONE).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(patch) - 1))
        patch[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=4))
    try:
        parts = sections(bytes(patch))
    except Refused:
        return
    assert joined(parts) == patch
