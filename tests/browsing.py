"""Pages in a real browser: what is asked for, and what is complained of."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Dialog, Page

import exaequo
from exaequo.reporting import report

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    pytest.fail("The tests of the page need Chromium: apt-get install chromium")


def write(path: Path, qrels: Any, runs: Any, measures: str = "AP nDCG@10 P@10", **options: Any) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        return report(qrels, runs, path, measures, **options)


class Opened:
    """A page with what it asked for and complained of."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on(
            "console", lambda line: self.complaints.append(line.text) if line.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._asked)

    def _asked(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, path: Path, fragment: str = "") -> Page:
        self.page.goto(path.as_uri() + fragment)
        return self.page


def accessibility(page: Page) -> list[tuple[str, str]]:
    """What axe-core finds that is serious."""
    found = Axe().run(page).response["violations"]
    return [(each["id"], each["nodes"][0]["html"][:200]) for each in found if each["impact"] in ("serious", "critical")]


def order(page: Page) -> list[str]:
    shown: list[str] = page.eval_on_selector_all(
        "#scores tbody tr:not([hidden])", "rows => rows.map(row => row.dataset.run)"
    )
    return shown
