"""The judging page in a real browser: two assessors, a killed server, undo, hostile documents, keys, accessibility."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from serving import LONG, TEXTS, Served

PAIRS = 7
expect.set_options(timeout=20_000)
#: A grade for each document, by topic.
GRADES = {"1 d1": 3, "1 d2": 0, "1 d3": 1, "1 d4": 2, "1 d5": 0, "2 d6": 1, "2 d2": 0}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    one = Served(tmp_path_factory.mktemp("judging"))
    yield one
    assert one.end() == 0


class Assessor:
    """Someone at the page, with what it complained of and asked for."""

    def __init__(self, browser: Browser, served: Served, name: str, width: int = 1280, scheme: str = "light") -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,  # type: ignore[arg-type]
        )
        self.page, self.name, self.served = self.context.new_page(), name, served
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on(
            "console", lambda line: self.complaints.append(line.text) if line.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(served.link)
        self.page.fill("#name", name)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#docno")).not_to_be_empty()

    @property
    def at(self) -> str:
        """The topic and the document that are shown."""
        return f"{self.page.text_content('#qid')} {self.page.text_content('#docno')}"

    def press(self, key: str, shows: str) -> None:
        """Press a key and wait until this is the state of the page."""
        self.page.keyboard.press(key)
        expect(self.page.locator("#said")).to_have_text(re.compile(shows))

    def move(self, key: str) -> None:
        before = self.page.text_content("#place")
        self.page.keyboard.press(key)
        expect(self.page.locator("#place")).not_to_have_text(str(before))

    def find(self, pair: str) -> None:
        """Go to a document with the arrows."""
        place = re.compile(r"\((\d) / 7\)")
        while place.fullmatch(str(self.page.text_content("#place")))[1] != "1":  # type: ignore[index]
            self.move("ArrowLeft")
        while self.at != pair:
            self.move("ArrowRight")

    def leave(self) -> None:
        assert self.complaints == []
        assert all(url.startswith((self.served.origin, "data:,")) for url in self.requests), self.requests
        self.context.close()


def standing(served: Served, name: str) -> dict[str, int]:
    """Return the grades of an assessor, as they are in the file."""
    db = sqlite3.connect(served.db)
    rows = db.execute("SELECT qid || ' ' || docno, grade FROM standing WHERE assessor = ?", (name,)).fetchall()
    db.close()
    return {pair: grade for pair, grade in rows if grade is not None}


def test_two_assessors_with_keys_alone(browser: Browser, served: Served) -> None:
    ann, ben = Assessor(browser, served, "Ann"), Assessor(browser, served, "Ben", 390)
    seen: dict[str, list[str]] = {"Ann": [], "Ben": []}
    for turn in range(PAIRS):
        for one in (ann, ben):
            seen[one.name].append(one.at)
            grade = GRADES[one.at] if one is ann or one.at != "1 d3" else 3
            last = turn == PAIRS - 1
            one.press(str(grade), "All documents are judged" if last else f"Kept: {grade} for {one.at.split()[1]}$")
    assert sorted(seen["Ann"]) == sorted(seen["Ben"]) == sorted(GRADES)
    assert seen["Ann"] != seen["Ben"]  # each has an order of their own, topic after topic
    assert [each[0] for each in seen["Ann"]] == list("1111122")
    assert standing(served, "Ann") == GRADES
    assert standing(served, "Ben") == {**GRADES, "1 d3": 3}
    _settle(ann.page, served)
    ann.leave()
    ben.leave()


def _settle(page: Page, served: Served) -> None:
    page.click("text=Agreement")
    expect(page.locator("#pairs tbody tr")).to_have_count(1)
    cells = page.locator("#pairs tbody td").all_text_contents()
    assert cells[:4] == ["Ann", "Ben", "7", "85.7"]
    # 6 of 7 agree; by chance (3·3 + 2·1 + 1·1 + 1·2) / 49 = 14/49 would.
    assert float(cells[4]) == pytest.approx((6 / 7 - 14 / 49) / (1 - 14 / 49), abs=5e-4)
    expect(page.locator("#open li")).to_have_count(1)
    assert "d3" in str(page.text_content("#open li"))
    page.click('#open [data-settle="2"]')
    expect(page.locator("#open .settle")).to_contain_text("settled by Ann")
    db = sqlite3.connect(served.db)
    rows = db.execute("SELECT assessor, docno, grade, changed_from FROM decision WHERE action = 'settle'").fetchall()
    db.close()
    assert rows == [("Ann", "d3", 2, None)]
    assert standing(served, "Ann")["1 d3"] == 1  # what Ann said stays what she said


def test_undo_skip_and_notes(browser: Browser, served: Served) -> None:
    one = Assessor(browser, served, "Cid")
    first = one.at
    one.press("2", "Kept: 2")
    second = one.at
    one.press("s", "Skipped")
    third = one.at
    assert len({first, second, third}) == 3
    one.press("u", f"Undone: {second.split()[1]}$")
    assert one.at == second
    one.press("u", f"Undone: {first.split()[1]}$")
    assert (one.at, standing(served, "Cid")) == (first, {})
    assert one.page.text_content("#count") == "0 / 7"
    one.page.keyboard.press("u")
    expect(one.page.locator("#problem")).to_contain_text("nothing to undo")
    one.page.keyboard.press("n")
    one.page.keyboard.type("why? 1 2 3 u <b>")  # keys are letters here
    one.page.keyboard.press("Escape")
    expect(one.page.locator("#said")).to_have_text("Note kept")
    assert one.at == first
    one.press("1", "Kept: 1")
    one.find(first)
    assert one.page.input_value("#note") == "why? 1 2 3 u <b>"
    assert one.page.get_attribute('[data-grade="1"]', "aria-pressed") == "true"
    one.page.click('[data-grade="0"]')
    expect(one.page.locator("#said")).to_contain_text("Kept: 0")
    assert standing(served, "Cid") == {first: 0}
    one.page.keyboard.press("?")
    expect(one.page.locator("#keys")).to_be_visible()
    one.page.keyboard.press("3")  # decides nothing while help is shown
    one.page.click("#single")
    one.page.keyboard.press("Escape")
    one.page.keyboard.press("3")
    one.page.click("#next")
    assert standing(served, "Cid") == {first: 0}
    one.complaints = [each for each in one.complaints if "409" not in each]
    one.leave()


def test_hostile_documents_are_text(browser: Browser, served: Served) -> None:
    one = Assessor(browser, served, "</script><img src=x onerror=PWN=1>"[:40])
    one.find("1 d3")
    title, text = TEXTS["d3"]
    assert one.page.text_content("#title") == title
    assert str(one.page.text_content("#text")) == text.removesuffix("\n")
    assert one.page.evaluate("window.PWN") is None
    assert one.page.locator("article script, article img, article svg").count() == 0
    assert one.page.locator("#text mark").all_text_contents() == ["solar"]
    outside = one.page.evaluate("getComputedStyle(document.querySelector('#text > div')).unicodeBidi")
    assert outside == "isolate"  # what turns the direction of letters ends with the document
    one.find("1 d1")
    assert one.page.locator("mark").all_text_contents() == "Panels solar panel winters panel panels".split()
    one.find("1 d5")
    assert len(str(one.page.text_content("#text"))) == pytest.approx(LONG, rel=1e-3)
    assert one.page.locator("#text mark").count() == 2000
    one.press("3", "Kept: 3 for d5")
    one.find("2 d6")
    assert one.page.text_content("#topic") == "<b>école</b> & l'été"
    assert one.page.locator("#text mark").all_text_contents() == ["écoles", "été"]
    one.page.click("text=Agreement")
    expect(one.page.locator("#work tbody")).to_contain_text("onerror=PWN")
    assert one.page.evaluate("window.PWN") is None
    one.leave()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_accessibility(browser: Browser, served: Served, width: int, scheme: str) -> None:
    one = Assessor(browser, served, "Dee", width, scheme)
    one.find("1 d1")
    at = int(str(one.page.text_content("#place"))[1]) - 1
    views = [f"{one.page.url}&at={at}", one.page.url.replace("/judge", "/agreement"), served.origin + "/"]
    for url in views:
        one.page.goto(url)
        expect(one.page.locator("#count:not(:empty), #name").first).to_be_visible()
        assert _violations(one.page) == []
        wide = one.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0, url
    one.page.goto(views[0])
    expect(one.page.locator("#docno")).not_to_be_empty()
    one.page.keyboard.press("?")
    assert _violations(one.page) == []
    one.leave()


def _violations(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {node['html'][:80]}" for each in found for node in each["nodes"]]


def test_a_killed_server_loses_nothing(browser: Browser, tmp_path: Path) -> None:
    first = Served(tmp_path, "--port", "0", "--lang", "fr")
    ann, ben = Assessor(browser, first, "Ann"), Assessor(browser, first, "Ben")
    kept: dict[str, dict[str, int]] = {"Ann": {}, "Ben": {}}
    for turn in range(3):
        for one in (ann, ben):
            pair, grade = one.at, turn
            one.press(str(grade), f"Enregistré : {grade} pour {pair.split()[1]}$")
            kept[one.name][pair] = grade
    first.end(signal.SIGKILL)
    left = ann.at
    ann.page.keyboard.press("3")
    expect(ann.page.locator("#problem")).to_contain_text("Le serveur ne répond pas")
    assert ann.at == left  # what was not kept is not gone from the page
    assert ann.page.get_attribute('[data-grade="3"]', "aria-pressed") == "false"
    ann.context.close()
    ben.context.close()
    again = Served(tmp_path)
    assert {name: standing(again, name) for name in kept} == kept
    back = Assessor(browser, again, "Ann")
    assert (back.at, back.page.text_content("#count")) == (left, "3 / 7")
    back.press("3", "Kept: 3")
    assert standing(again, "Ann") == {**kept["Ann"], left: 3}
    back.leave()
    assert again.end() == 0


def test_the_page_is_not_served_twice_at_one_port(served: Served, tmp_path: Path) -> None:
    second = Served(tmp_path, "--port", str(served.port))
    assert (second.link, second.end()) == ("", 1)


def test_the_way_in(browser: Browser, served: Served) -> None:
    one = Assessor(browser, served, "  Eve ")
    assert one.page.title().startswith("solar panels")
    assert json.loads(str(one.page.text_content("#words")))["grades"] == [0, 1, 2, 3]
    one.press("1", "Kept: 1")
    assert len(standing(served, "Eve")) == 1
    one.page.goto(f"{served.origin}/judge?as=a%0Ab")
    expect(one.page.locator("[role=alert]")).to_contain_text("expected a name")
    one.page.click("a:has-text('Eve')")
    expect(one.page.locator("#count")).to_have_text("1 / 7")
    one.complaints = [each for each in one.complaints if "400" not in each]
    one.leave()
