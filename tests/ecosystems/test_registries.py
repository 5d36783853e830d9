from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.ecosystems.apt_sources import archive_uris
from nanobench.ecosystems.deb_control import stanzas
from nanobench.ecosystems.registries import Registries, safe
from nanobench.errors import Misuse


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    for name in ("home", "etc/apt/sources.list.d", "project"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def of(machine: Path, **env: str) -> Registries:
    return Registries(env=env, home=machine / "home", etc=machine / "etc", project=machine / "project")


def test_our_own_variable_wins_over_the_machines_apt_sources(machine: Path) -> None:
    (machine / "etc/apt/sources.list").write_text("deb http://other.example/debian bookworm main\n")
    env = {"NANOBENCH_DEBIAN_MIRROR": "http://one.example/debian/  https://two.example/d"}
    assert of(machine, **env).debian("bookworm") == ("http://one.example/debian", "https://two.example/d")


def test_one_line_sources_are_taken_only_for_the_suite_itself_and_main(machine: Path) -> None:
    (machine / "etc/apt/sources.list").write_text(
        "# deb http://comment.example/debian bookworm main\n"
        "deb http://a.example/debian bookworm main contrib # ours\n"
        "deb-src http://src.example/debian bookworm main\n"
        "deb http://upd.example/debian bookworm-updates main\n"
        "deb http://sec.example/debian-security bookworm-security main\n"
        "deb http://old.example/debian bullseye main\n"
        "deb http://free.example/debian bookworm contrib\n"
        "deb cdrom:[Debian]/ bookworm main\n"
        "deb http://vendor.example/apt bookworm main\n"
        "deb [arch=i386] http://i386.example/debian bookworm main\n"
        "deb [signed-by=/k/vendor.gpg] http://vendor.example/linux/debian bookworm main\n"
        "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://b.example/x bookworm main\n"
    )
    assert of(machine).debian("bookworm") == ("http://a.example/debian", "http://b.example/x")


def test_deb822_sources_are_read_and_disabled_ones_are_not(machine: Path) -> None:
    (machine / "etc/apt/sources.list.d/debian.sources").write_text(
        "Types: deb deb-src\n"
        "# a comment\n"
        "URIs: https://a.example/debian/ https://b.example/debian\n"
        "Suites: bookworm bookworm-updates\n"
        "Components: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
        "\n"
        "Types: deb\nEnabled: no\nURIs: https://off.example/debian\nSuites: bookworm\nComponents: main\n"
    )
    (machine / "etc/apt/sources.list.d/ignored.save").write_text("deb http://save.example/debian bookworm main\n")
    assert of(machine).debian("bookworm") == ("https://a.example/debian", "https://b.example/debian")


def test_without_configuration_the_default_is_the_package_url_librarys(machine: Path) -> None:
    registries = of(machine)
    assert [urls for urls in registries.debian("trixie") if not urls.endswith("/debian")] == []
    for url in (*registries.debian("trixie"), registries.pypi(), registries.npm()):
        assert url.startswith("https://") and not url.endswith("/")


@pytest.mark.parametrize("name", ["NANOBENCH_PYPI_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"])
def test_the_index_comes_from_the_environment(machine: Path, name: str) -> None:
    (machine / "etc/pip.conf").write_text("[global]\nindex-url = https://file.example/simple\n")
    assert of(machine, **{name: "https://env.example/simple/"}).pypi() == "https://env.example/simple"


def test_uvs_named_index_is_understood(machine: Path) -> None:
    assert of(machine, UV_DEFAULT_INDEX="corp=https://a.example/simple").pypi() == "https://a.example/simple"


def test_pips_user_file_wins_over_the_global_one(machine: Path) -> None:
    (machine / "etc/pip.conf").write_text("[global]\nindex-url = https://global.example/simple\n")
    assert of(machine).pypi() == "https://global.example/simple"
    (machine / "home/.config/pip").mkdir(parents=True)
    (machine / "home/.config/pip/pip.conf").write_text("[global]\nindex-url: https://user.example/simple/\n")
    assert of(machine).pypi() == "https://user.example/simple"
    (machine / "other.conf").write_text("[global]\nindex-url = https://named.example/simple\n")
    assert of(machine, PIP_CONFIG_FILE=str(machine / "other.conf")).pypi() == "https://named.example/simple"


def test_a_broken_pip_file_is_passed_over(machine: Path) -> None:
    (machine / "etc/pip.conf").write_bytes(b"\xff\xfe[global")
    assert of(machine).pypi().startswith("https://")


def test_npms_files_and_variables_are_read_in_npms_order(machine: Path) -> None:
    (machine / "etc/npmrc").write_text("registry=https://etc.example/\n")
    assert of(machine).npm() == "https://etc.example"
    (machine / "home/.npmrc").write_text(
        "; registry=https://no.example\nfund=false\nregistry = 'https://home.example/x/'\n"
    )
    assert of(machine).npm() == "https://home.example/x"
    (machine / "project/.npmrc").write_text(
        "@scope:registry=https://scope.example/\nregistry=https://project.example/\n"
    )
    assert of(machine).npm() == "https://project.example"
    assert of(machine, npm_config_registry="https://env.example/").npm() == "https://env.example"
    ours = of(machine, npm_config_registry="https://env.example/", NANOBENCH_NPM_REGISTRY="https://ours.example")
    assert ours.npm() == "https://ours.example"


@pytest.mark.parametrize("url", ["ftp://u:secret@a.example/debian", "file:///etc", "https://", "a.example"])
def test_a_registry_that_is_no_http_url_is_refused_without_its_credentials(machine: Path, url: str) -> None:
    with pytest.raises(Misuse, match="NB_REGISTRY") as refusal:
        of(machine, NANOBENCH_NPM_REGISTRY=url).npm()
    assert "secret" not in str(refusal.value)
    assert refusal.value.where == "NANOBENCH_NPM_REGISTRY"


def test_a_url_for_messages_has_no_credentials_and_no_query() -> None:
    assert safe("https://user:p%40ss@a.example:8443/x/y?token=t#f") == "https://a.example:8443/x/y"


def test_the_certificate_bundle_named_by_the_environment_wins_over_the_systems(machine: Path) -> None:
    assert of(machine).ca_bundle() is None
    system = machine / "etc/ssl/certs/ca-certificates.crt"
    system.parent.mkdir(parents=True)
    system.touch()
    assert of(machine, SSL_CERT_FILE=str(machine / "not-there")).ca_bundle() == system
    (machine / "own.pem").touch()
    assert of(machine, PIP_CERT=str(machine / "own.pem")).ca_bundle() == machine / "own.pem"


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_can_stand_in_a_sources_file(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    place = tmp_path_factory.getbasetemp() / "any-text"
    (place / "sources.list.d").mkdir(parents=True, exist_ok=True)
    for name in ("sources.list", "sources.list.d/a.sources"):
        (place / name).write_text(text, encoding="utf-8")
    assert all(uri.startswith("http") for uri in archive_uris(place, "bookworm"))


_NAME = st.from_regex(r"[A-Z][A-Za-z-]{0,10}", fullmatch=True)
_VALUE = st.from_regex(r"[!-~]([ -~]{0,20}[!-~])?", fullmatch=True)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.dictionaries(_NAME, _VALUE, min_size=1), max_size=4))
def test_stanzas_are_read_as_they_were_written(written: list[dict[str, str]]) -> None:
    text = "\n".join("".join(f"{key}: {value}\n" for key, value in stanza.items()) for stanza in written)
    assert list(stanzas(text.split("\n"))) == written


def test_a_continuation_line_belongs_to_its_field() -> None:
    lines = ["Conffiles:", " /etc/a 1", " /etc/b 2", "Next: x", "", "", "Package: y"]
    assert list(stanzas(lines)) == [{"Conffiles": "\n /etc/a 1\n /etc/b 2", "Next": "x"}, {"Package": "y"}]
