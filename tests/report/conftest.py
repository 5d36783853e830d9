"""Bundles that nobody ran, and a real browser to look at their pages."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from benchmarks.synthetic import Plan, synthetic
from nanobench.bundle.read import Bundle, open_bundle

SILENT = (
    *("headless=new", "no-first-run", "no-default-browser-check", "disable-gpu", "disable-dev-shm-usage"),
    *("disable-background-networking", "disable-component-update", "disable-sync", "disable-default-apps"),
    *("disable-domain-reliability", "disable-client-side-phishing-detection", "metrics-recording-only", "no-pings"),
)
"""Switches that keep Chromium from talking of itself."""

NARROW, MIDDLE, WIDE = 360, 768, 1280


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Bundle]:
    """``made(tasks=3, …)`` writes a bundle and opens it; ``missing`` planned cells have no result."""

    def make(*, missing: tuple[int, ...] = (), **plan: Any) -> Bundle:
        place = tmp_path / f"bundle-{len(list(tmp_path.glob('bundle-*')))}"
        return open_bundle(synthetic(place, Plan(**plan), missing=missing))

    return make


@frozen
class Browser:
    """Chromium without a window, and what it complained of and asked for."""

    driver: webdriver.Chrome
    schemes: tuple[str, str] = field(default=("light", "dark"))

    def open(self, page: Path, *, width: int = WIDE, scheme: str = "light", fragment: str = "") -> webdriver.Chrome:
        """Load a page from disk, in a window so wide."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < MIDDLE}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        self.driver.get("about:blank")
        self.complaints(), self.requests()  # what was before
        self.driver.get(page.as_uri() + fragment)
        return self.driver

    def complaints(self) -> list[str]:
        """What the console has said since it was last asked."""
        return [entry["message"] for entry in self._log("browser")]

    def requests(self) -> list[str]:
        """Every address that a page has asked for since it was last asked."""
        events = (json.loads(entry["message"])["message"] for entry in self._log("performance"))
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def _log(self, kind: str) -> list[dict[str, Any]]:
        return list(self.driver.get_log(kind))  # type: ignore[no-untyped-call]

    def picture(self, to: Path, *, most: int = 5000) -> None:
        """The page as it looks, from its top."""
        width, whole = self.driver.execute_script("return [innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": min(whole, most), "scale": 1}
        taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        to.write_bytes(base64.b64decode(taken["data"]))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The one browser of all tests here; Debian's Chromium and its driver."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        assert not os.environ.get("CI"), "continuous integration must install chromium and chromium-driver"
        pytest.skip("no chromium and chromedriver here: apt-get install chromium chromium-driver")
    options = Options()
    options.binary_location = binary
    switches = (*SILENT, f"user-data-dir={tmp_path_factory.mktemp('profile')}")
    for switch in (*switches, *(["no-sandbox"] if os.geteuid() == 0 else [])):
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    yield Browser(opened)
    opened.quit()
