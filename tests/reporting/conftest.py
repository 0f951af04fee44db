"""A browser, and the page of the sample data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

import exaequo
from browsing import ARGUMENTS, Opened, chromium, write


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = exaequo.sample()
    return write(tmp_path_factory.mktemp("report") / "report.html", data.qrels, data.runs)


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opened]:
    context = browser.new_context(accept_downloads=True)
    one = Opened(context.new_page())
    yield one
    assert one.complaints == []
    assert all(url.startswith(("file:", "blob:", "data:")) for url in one.requests), one.requests
    assert len([url for url in one.requests if url.startswith("file:")]) >= 1
    context.close()
