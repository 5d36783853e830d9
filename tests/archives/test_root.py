"""Layers over layers, as engines apply them, from archives that anybody may have made."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.archives.names import problem
from nanobench.archives.root import Member, Root
from nanobench.archives.tar import Header
from nanobench.errors import Refused


def member(path: str, kind: Any = "file", link: str = "", data: bytes = b"", **more: Any) -> Member:
    fields = {"mode": 0o644, "uid": 0, "gid": 0, "mtime": 5, **more}
    return Header(path=path, kind=kind, size=len(data), link=link, **fields), partial(io.BytesIO, data)


def folder(path: str) -> Member:
    return member(path, "dir", mode=0o755)


def link(path: str, target: str) -> Member:
    return member(path, "symlink", target)


def root_of(*layers: list[Member], limit: int = 1000) -> Root:
    root = Root(epoch=9, limit=limit, where="image")
    for layer in layers:
        root.apply(layer)
    return root


def seen(root: Root) -> dict[str, str]:
    """Files with their content, links with their targets, directories with a slash."""
    found = {}
    for entry in root:
        if entry.kind == "file" and entry.content is not None:
            found[entry.path] = entry.content().read().decode()
        else:
            found[entry.path] = {"dir": "/", "symlink": f"-> {entry.link}", "hardlink": f"= {entry.link}"}[entry.kind]
    return found


def test_an_upper_layer_replaces_files_and_keeps_what_is_in_directories() -> None:
    lower = [folder("a"), member("a/x", data=b"old"), member("a/y", data=b"y"), member("b", data=b"b")]
    upper = [member("a", "dir", mode=0o700), member("a/x", data=b"new"), folder("b"), member("b/z", data=b"z")]
    root = root_of(lower, upper)
    assert seen(root) == {"a": "/", "a/x": "new", "a/y": "y", "b": "/", "b/z": "z"}
    assert next(entry.mode for entry in root if entry.path == "a") == 0o700


def test_a_file_over_a_directory_takes_all_of_it_away() -> None:
    assert seen(root_of([folder("a"), member("a/x")], [member("a", data=b"f")])) == {"a": "f"}


def test_whiteouts_hide_what_lower_layers_have_and_never_their_own() -> None:
    lower = [folder("a"), member("a/x"), folder("d"), folder("d/deep"), member("d/deep/y"), member("gone")]
    upper = [member("d/new", data=b"new"), member("d/.wh..wh..opq"), member("a/.wh.x"), member(".wh.gone")]
    upper += [member("a/x", data=b"again"), member(".wh.never"), member("none/.wh.x"), member("d/.wh..wh.plnk")]
    assert seen(root_of(lower, upper)) == {"a": "/", "a/x": "again", "d": "/", "d/new": "new"}


@pytest.mark.parametrize("path", ["../.wh.x", "a/../.wh.x", "/.wh..wh..opq", "a/.wh.\n"])
def test_a_whiteout_out_of_the_root_is_refused(path: str) -> None:
    with pytest.raises(Refused, match="NB_ARCHIVE_PATH"):
        root_of([member("a/x")], [member(path)])


def test_a_whiteout_of_what_lies_above_hides_nothing() -> None:
    assert "a/x" in seen(root_of([folder("a"), member("a/x")], [member("a/.wh...")]))


@pytest.mark.parametrize("target", ["/etc", "../../../etc", "../up/../etc", "hop"])
def test_a_path_through_a_link_stays_in_the_root(target: str) -> None:
    """What would be written to the host's /etc is written to the image's, as engines do it."""
    lower = [folder("etc"), folder("up"), link("in", target), link("hop", "etc")]
    root = root_of(lower, [member("in/passwd", data=b"evil")])
    assert seen(root)["etc/passwd"] == "evil"
    assert all(problem(entry.path) is None for entry in root)


def test_a_link_to_what_is_not_there_is_made_a_directory_inside() -> None:
    assert seen(root_of([link("a", "/far/away")], [member("a/x", data=b"x")])) == {
        "a": "-> /far/away",
        "far": "/",
        "far/away": "/",
        "far/away/x": "x",
    }


@pytest.mark.parametrize(
    "lower", [[link("a", "a")], [link("a", "b"), link("b", "/a")], [link("a", "a/a")], [link("a", "x/" * 2000)]]
)
def test_links_without_end_are_refused(lower: list[Member]) -> None:
    with pytest.raises(Refused, match=r"NB_ARCHIVE_LINK: .*image: a"):
        root_of(lower, [member("a/x")])


def test_a_link_that_is_replaced_by_a_directory_leads_nowhere_any_more() -> None:
    root = root_of([folder("usr"), link("lib", "usr")], [folder("lib"), member("lib/x", data=b"x")])
    assert seen(root) == {"usr": "/", "lib": "/", "lib/x": "x"}


def test_nothing_lies_below_a_file() -> None:
    with pytest.raises(Refused, match="NB_ARCHIVE_CLASH"):
        root_of([member("a")], [member("a/x")])


def test_hard_links_keep_their_content_when_the_other_name_goes() -> None:
    lower = [member("a", data=b"one"), member("b", "hardlink", "a")]
    assert seen(root_of(lower)) == {"a": "one", "b": "= a"}
    assert seen(root_of(lower, [member(".wh.a")])) == {"b": "one"}
    assert seen(root_of(lower, [member("a", data=b"two")])) == {"a": "two", "b": "one"}


@pytest.mark.parametrize("target", ["none", "../a", "/etc/none", "d", "l"])
def test_a_hard_link_to_no_file_of_the_image_is_refused(target: str) -> None:
    with pytest.raises(Refused, match="NB_ARCHIVE_LINK"):
        root_of([folder("d"), link("l", "/etc/passwd"), member("h", "hardlink", target)])


def test_more_paths_than_the_limit_are_refused_made_ones_too() -> None:
    with pytest.raises(Refused, match="NB_ARCHIVE_BOMB"):
        root_of([member("/".join("abcdefghij"))], limit=9)


def test_what_is_found_is_found_through_links() -> None:
    root = root_of([folder("usr"), folder("usr/bin"), link("bin", "usr/bin"), link("usr/bin/sh", "dash")])
    assert root.find("bin/sh") is None
    root.apply([member("usr/bin/dash", data=b"shell")])
    found = root.find("bin/sh")
    assert found is not None
    assert found.path == "usr/bin/dash"
    assert root.find("bin/sh/x") is None
    assert root.children("bin") == ("sh", "dash")


PATHS = st.lists(st.sampled_from(["a", "b", "..", ".", "", ".wh.a", ".wh..wh..opq"]), min_size=1, max_size=4).map(
    "/".join
)
MEMBERS = st.builds(member, PATHS, st.sampled_from(["file", "dir", "symlink", "hardlink"]), PATHS)


@given(st.lists(st.lists(MEMBERS, max_size=6), max_size=4))
def test_no_layers_at_all_escape_or_break_the_program(layers: list[list[Member]]) -> None:
    try:
        root = root_of(*layers)
    except Refused:
        return
    paths = [entry.path for entry in root]
    assert len(paths) == len(set(paths))
    assert all(problem(path) is None for path in paths)
