"""What the papers on ties count, against direct calculations on a small archive, and the page that shows it."""

from __future__ import annotations

import base64
import hashlib
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, sync_playwright
from scipy import stats

import exaequo
from exaequo.cli import run as command
from exaequo.stats.tests import Setting, bootstrap, randomization
from exaequo.study import Study, pages, study, tables, work
from exaequo.study.results import FORMAT
from exaequo.study.sentences import summary
from helpers import evaluate

INTERVAL = ("realistic", "conventional", "optimistic")
TOPICS = [str(topic) for topic in range(1, 11)]
EDITIONS = [("adhoc", "1999"), ("adhoc", "2000"), ("web", "1999")]
HOSTILE = "</script><img src=x onerror=PWN=1>"

Lists = dict[str, list[tuple[str, float]]]


def lists_of(run: int, source: random.Random, names: list[str]) -> Lists:
    """Lists of one run: few scores, pairs of equal scores, one score, one document, stuffing, or no ties."""
    found: Lists = {}
    for at, topic in enumerate(TOPICS):
        chosen = source.sample(names, 20)
        sims = {
            0: [float(source.randint(1, 5)) for _ in chosen],
            1: [float(10 - place // 2) for place in range(20)],
            2: [1.0] * 20 if at % 2 else [float(source.randint(1, 3)) for _ in chosen],
            3: [max(0.0, 4.0 - place // 2) for place in range(20)],
            4: [source.random() + 0.1 for _ in chosen],
        }[run]
        found[topic] = list(zip(chosen, sims, strict=True))[: 1 if run == 4 and at == 0 else 20]
    return found


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, source = tmp_path_factory.mktemp("archive"), random.Random(11)
    for track, edition in EDITIONS:
        place = folder / track / edition
        (place / "runs").mkdir(parents=True)
        names = [f"{source.choice('ABYZ')}{number:02}" for number in range(40)]
        judged = "".join(f"{t} 0 {name} {source.choice((0, 0, 1))}\n" for t in TOPICS for name in names)
        (place / "qrels.txt").write_text(judged)
        for run in range(5):
            lists = lists_of(run, source, names)
            name = HOSTILE.replace(" ", "_") if run == 0 else f"sys{run}"
            lines = [f"{t} Q0 {docno} 0 {sim} {name}\n" for t, own in lists.items() for docno, sim in own]
            (place / "runs" / f"run{run}").write_text("".join(lines))
    return folder


@pytest.fixture(scope="module")
def result(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    return study(archive, tmp_path_factory.mktemp("out"), measures="RR AP", top=3)


def sims_of(archive: Path, track: str, edition: str) -> dict[tuple[str, str], list[float]]:
    """The scores of each list, by file and topic."""
    found: dict[tuple[str, str], list[float]] = {}
    for path in sorted((archive / track / edition / "runs").iterdir()):
        for line in path.read_text().splitlines():
            found.setdefault((path.name, line.split()[0]), []).append(float(line.split()[4]))
    return found


def row_of(table: pl.DataFrame, **labels: str) -> dict[str, object]:
    return table.filter(pl.col(name) == label for name, label in labels.items()).row(0, named=True)


def test_kinds_of_lists(archive: Path, result: Study) -> None:
    """Tied documents only is not the same as one single tie; a list of one document is neither."""
    totals = dict.fromkeys(("all_tied", "one_tie", "no_tie"), 0)
    for track, edition in EDITIONS:
        lists = sims_of(archive, track, edition).values()
        counted = {
            "all_tied": sum(all(sims.count(sim) > 1 for sim in sims) for sims in lists),
            "one_tie": sum(len(sims) > 1 and len(set(sims)) == 1 for sims in lists),
            "no_tie": sum(len(set(sims)) == len(sims) for sims in lists),
        }
        assert counted["all_tied"] > counted["one_tie"] == 5
        row = row_of(result.tables["ties"], track=track, edition=edition)
        assert {name: row[name] for name in counted} == counted
        totals = {name: total + counted[name] for name, total in totals.items()}
    row = row_of(result.tables["ties"], track="(all)", edition="(average)")
    assert {name: row[name] for name in totals} == totals
    for name in ("all_tied", "one_tie"):
        table = result.tables[name]
        assert table.height == totals[name]
        assert (table["scores"] == 1).all() == (name == "one_tie")
    said = summary(result)[0]
    assert f"{totals['all_tied']} consist of tied documents only ({totals['one_tie']} of one single tie)" in said


def test_averages_plain_and_by_runs() -> None:
    editions = pl.DataFrame({"track": ["a", "a", "b"], "edition": ["1", "2", "1"], "runs": [1, 3, 4], "x": [8.0, 4, 2]})
    averages = tables.averaged(editions).filter(pl.col("edition").str.starts_with("("))
    weighted = "(average by runs)"
    assert averages.rows() == [
        ("a", "(average)", 4, 6.0),
        ("a", weighted, 4, 5.0),
        ("b", "(average)", 4, 2.0),
        ("b", weighted, 4, 2.0),
        ("(all)", "(average)", 8, pytest.approx(14 / 3)),
        ("(all)", weighted, 8, 3.5),
    ]


def test_documents_per_score_at_three_levels(archive: Path, result: Study) -> None:
    lists = {key: len(sims) / len(set(sims)) for key, sims in sims_of(archive, "adhoc", "2000").items()}
    runs, topics = ({key[at] for key in lists} for at in (0, 1))
    levels = {
        "list": list(lists.values()),
        "run": [mean(value for key, value in lists.items() if key[0] == run) for run in runs],
        "topic": [mean(value for key, value in lists.items() if key[1] == topic) for topic in topics],
    }
    for by, figures in levels.items():
        row = row_of(result.tables["per_score"], track="adhoc", edition="2000", by=by)
        assert (row["runs"], row["of"]) == (5, len(figures))
        found = [row[name] for name in ("min", "mean", "max", "sd")]
        assert found == pytest.approx([min(figures), mean(figures), max(figures), stdev(figures)])
        both = [row_of(result.tables["per_score"], track="adhoc", edition=e, by=by)["max"] for e in ("1999", "2000")]
        average = row_of(result.tables["per_score"], track="adhoc", edition="(average)", by=by)
        assert average["max"] == pytest.approx(mean(both))  # type: ignore[type-var]
    table = result.tables["per_score"].filter(by="list").select("min", "mean", "max", "sd")
    same = result.tables["ties"].select(pl.col("^per_score_.*$").name.replace("per_score_", ""))
    assert table.equals(same)


def test_ranks_of_the_first_relevant_document(result: Study) -> None:
    table = result.tables["lucky_lists"].filter(measure="RR")
    assert table.height >= 3
    for row in table.to_dicts():
        for ties in INTERVAL:
            assert isinstance(row[f"first_{ties}"], int)
            assert row[f"first_{ties}"] == pytest.approx(1 / row[ties])
        assert row["ranks_gained"] == row["first_realistic"] - row["first_conventional"]
    assert result.tables["lucky_lists"].filter(measure="AP")["first_realistic"].null_count() > 0


def matrix(archive: Path, track: str, edition: str, measure: str) -> dict[str, np.ndarray]:
    """Runs × topics under each strategy."""
    place = archive / track / edition
    scores = evaluate(place / "qrels.txt", sorted((place / "runs").iterdir()), measure, ties="all")
    return {ties: scores.matrix(measure, ties).values for ties in INTERVAL}


def test_wrong_conclusions_by_direction(archive: Path, tmp_path: Path) -> None:
    alpha, seen = 0.3, np.zeros(3, dtype=int)
    table = study(archive, tmp_path, measures="RR AP", alpha=alpha).tables["conclusions"]
    for track, edition in EDITIONS:
        for measure in ("RR", "AP"):
            by_ties = matrix(archive, track, edition, measure)
            ways = np.zeros(3, dtype=int)
            for one in range(5):
                for two in range(one + 1, 5):
                    said = []
                    for ties in INTERVAL[:2]:
                        test = stats.ttest_rel(by_ties[ties][one], by_ties[ties][two])
                        said.append(np.sign(test.statistic) if test.pvalue < alpha else 0)
                    fair, names = said
                    ways += [fair == 0 != names, names == 0 != fair, fair * names < 0]
            row = row_of(table, track=track, edition=edition, measure=measure)
            assert [row[name] for name in ("only_conventional", "only_realistic", "opposite")] == ways.tolist()
            assert row["wrong"] == ways.sum()
            seen += ways
    whole = table.filter(track="(all)", edition="(all)").select("only_conventional", "only_realistic", "opposite")
    assert whole.sum().row(0) == tuple(seen.tolist())
    assert (seen[:2] > 0).all()


def test_what_stuffing_earns(archive: Path, result: Study) -> None:
    """Against runs from which the documents of score 0 were taken by hand."""
    full, earned, every = (np.zeros((len(EDITIONS), 3)) for _ in range(3))
    for at, (track, edition) in enumerate(EDITIONS):
        place = archive / track / edition
        stuffed = place / "runs" / "run3"
        lines = [line.split() for line in stuffed.read_text().splitlines()]
        cut = {t: {line[2]: float(line[4]) for line in lines if line[0] == t and float(line[4]) > 0} for t in TOPICS}
        for column, ties in enumerate(INTERVAL):
            full[at, column] = evaluate(place / "qrels.txt", stuffed, "AP", ties=ties).mean("AP")
            earned[at, column] = full[at, column] - evaluate(place / "qrels.txt", cut, "AP", ties=ties).mean("AP")
            every[at, column] = matrix(archive, track, edition, "AP")[ties].mean(axis=1).sum()
        row = row_of(result.tables["stuffed_runs"], track=track, edition=edition, measure="AP")
        assert (row["run"], row["lists"], row["documents"]) == ("sys3", 10, 120)
        assert [row[f"earned_{ties}"] for ties in INTERVAL] == pytest.approx(earned[at], abs=1e-11)
        assert [row[f"share_{ties}_percent"] for ties in INTERVAL] == pytest.approx(100 * earned[at] / full[at])
    assert result.tables["stuffed_runs"].height == 6
    row = row_of(result.tables["stuffing_scores"], track="(all)", edition="(all)", measure="AP")
    assert (row["systems"], row["stuffing"]) == (15, 3)
    assert [row[f"earned_{ties}"] for ties in INTERVAL] == pytest.approx(earned.mean(axis=0), abs=1e-11)
    shares, of_all = 100 * earned.sum(axis=0) / full.sum(axis=0), 100 * earned.sum(axis=0) / every.sum(axis=0)
    assert [row[f"share_{ties}_percent"] for ties in INTERVAL] == pytest.approx(shares)
    assert [row[f"of_all_{ties}_percent"] for ties in INTERVAL] == pytest.approx(of_all)
    assert (earned > 0).any()


def test_tests_without_a_distribution(archive: Path, result: Study) -> None:
    for measure in ("RR", "AP"):
        low, middle = (matrix(archive, "web", "1999", measure)[ties] for ties in INTERVAL[:2])
        for of in ("lists", "runs"):
            gaps = (middle - low).ravel() if of == "lists" else (middle - low).mean(axis=1)
            gaps = np.where(np.abs(gaps) < 1e-12, 0.0, gaps)
            row: dict[str, Any] = row_of(result.tables["differences"], track="web", measure=measure, of=of)
            setting = Setting(20_000, seed=5, alternative="greater")
            moved = np.count_nonzero(gaps)
            assert row["p_randomization"] == pytest.approx(0.5**moved)  # names never hurt these measures
            if moved <= 20:
                assert row["p_randomization"] == pytest.approx(float(randomization(gaps[None, :], setting)[0]))
            assert row["p_bootstrap"] == pytest.approx(float(bootstrap(gaps[None, :], setting)[0]), abs=0.01)


def test_tests_of_any_differences() -> None:
    """Where names may hurt, too, signs are drawn; tests are one-tailed."""
    setting = Setting(20_000, seed=5, alternative="greater")
    source = np.random.Generator(np.random.PCG64(3))
    for shift in (0.1, -0.1):
        gaps = np.where(source.random(200) < 0.5, source.normal(shift, 0.5, 200), 0.0)
        found = tables.one_tailed(gaps)
        for name, test in (("p_bootstrap", bootstrap), ("p_randomization", randomization)):
            assert found[name] == pytest.approx(float(test(gaps[None, :], setting)[0]), abs=0.02)
        assert found["p"] == pytest.approx(stats.ttest_1samp(gaps, 0, alternative="greater").pvalue)
        assert (found["p_bootstrap"] < 0.5) == (shift > 0)
        assert 0.001 < found["p_bootstrap"] < 0.9999
    assert set(tables.one_tailed(np.zeros(9)).values()) == {1.0}
    assert set(tables.one_tailed(np.ones(1)).values()) == {1.0}


def test_what_is_no_proportion_has_no_percent(archive: Path, tmp_path: Path) -> None:
    found = study(archive, tmp_path, measures=["LastRel(docs=200000)", "DCG@5", "NumRelRet", "AP"])
    for measure in ("LastRel(docs=200000)", "DCG@5", "NumRelRet"):
        row = row_of(found.tables["differences"], track="(all)", measure=measure, of="lists")
        assert row["difference_percent"] is None
    row = row_of(found.tables["differences"], track="(all)", measure="AP", of="lists")
    assert row["difference_percent"] == pytest.approx(100 * row["difference"])  # type: ignore[operator]
    assert "The order of names does not change NumRelRet on average." in summary(found)


def test_gains_by_edition(archive: Path, result: Study) -> None:
    means = [matrix(archive, "web", "1999", "AP")[ties].mean() for ties in INTERVAL]
    row = row_of(result.tables["gains"], track="web", edition="1999", measure="AP")
    assert [row[ties] for ties in INTERVAL] == pytest.approx(means)
    assert row["c_over_r_percent"] == pytest.approx(100 * (means[1] / means[0] - 1))
    assert row["o_over_c_percent"] == pytest.approx(100 * (means[2] / means[1] - 1))
    whole = row_of(result.tables["gains"], track="adhoc", edition="(all)", measure="AP")
    both = [matrix(archive, "adhoc", edition, "AP")["realistic"].mean() for edition in ("1999", "2000")]
    assert (whole["runs"], whole["realistic"]) == (10, pytest.approx(np.mean(both)))


def test_results_of_another_format_are_not_used(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "FORMAT", FORMAT - 1)
    study(archive, tmp_path, tracks=["web"])
    before = {path.name for path in (tmp_path / "work").iterdir()}
    monkeypatch.undo()
    study(archive, tmp_path, tracks=["web"])
    assert len({path.name for path in (tmp_path / "work").iterdir()} - before) == len(before) == 5


# ------------------------------------------------------------------------------------------------------------- page


def test_the_page_keeps_to_itself(result: Study) -> None:
    text = pages.page(result)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rest = "style-src 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'none'"
    policy = f"default-src 'none'; script-src 'sha256-{allowed}'; {rest}"
    assert f'content="{policy}"' in text
    assert "://" not in text
    assert "<img" not in text
    assert text.count("<svg") == text.count("</svg>") == 3


def test_names_of_measures_are_text(archive: Path, tmp_path: Path) -> None:
    text = pages.page(study(archive, tmp_path, tracks=["web"], measures=["PDoc(doc='<img src=x>')", "AP"]))
    assert "<img" not in text
    assert "PDoc(doc=&#x27;&lt;img src=x&gt;&#x27;)" in text


def test_the_page_shows_every_ranking(result: Study) -> None:
    text = pages.page(result)
    (section,) = re.findall(r'<section id="systems">(.*?)</section>', text, re.DOTALL)
    assert re.findall(r"<summary>(.*?)</summary>", section) == [f"{t} {e}: 5 systems" for t, e in EDITIONS] * 2
    assert section.count("<tr>") == 2 * 3 * (5 + 1)
    assert re.findall("<h3>(.*?)</h3>", section) == ["MRR", "MAP"]


def test_the_page_has_the_figures_of_the_papers(result: Study) -> None:
    text = pages.page(result)
    (section,) = re.findall(r'<section id="differences">(.*?)</section>', text, re.DOTALL)
    row = row_of(result.tables["differences"], track="adhoc", measure="AP", of="lists")
    assert row["star"] == "*"
    figure = f'<td class="n">{row["difference_percent"]:.2f}<sup>*</sup></td>'
    assert f'<td>adhoc</td><td>AP</td><td class="n">100</td>{figure}' in section
    assert "<td>MAP</td>" in section
    assert "p &lt; 0.05" in section
    (section,) = re.findall(r'<section id="lucky_lists">(.*?)</section>', text, re.DOTALL)
    assert '<th class="n">1/RR_R</th>' in section
    best = result.tables["lucky_lists"].filter(measure="AP").row(0, named=True)
    assert f'<td class="n">{best["c_over_r_percent"]:,.0f}</td>' in section


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.6, 2, "0.60"),
        (0.0098, 1, "< 0.1"),
        (-0.001, 2, "> −0.01"),
        (0.0, 2, "0.00"),
        (49867.2, 0, "49,867"),
        (0.125, 2, "0.13"),
        (None, 1, ""),
        (float("nan"), 1, "undefined"),
    ],
)
def test_figures(value: float | None, digits: int, text: str) -> None:
    assert pages._figure(value, digits) == text


def test_nothing_is_said_twice(archive: Path, tmp_path: Path) -> None:
    """With one track, or one edition, sums and averages are not repeated."""
    one = pages.page(study(archive, tmp_path / "one", tracks=["web"]))
    two = pages.page(study(archive, tmp_path / "two", tracks=["adhoc"]))
    both = pages.page(study(archive, tmp_path / "both"))

    def labels(text: str, name: str) -> list[tuple[str, str]]:
        (section,) = re.findall(rf'<section id="{name}">(.*?)</section>', text, re.DOTALL)
        return re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td>", section)

    assert labels(one, "ties") == [("web", "1999")]
    assert labels(two, "ties")[:3] == [("adhoc", "1999"), ("adhoc", "2000"), ("adhoc", "(average)")]
    assert ("(all)", "(average)") not in labels(two, "ties")
    assert ("(all)", "(average)") in labels(both, "ties")
    assert ("(all)", "RR") not in labels(two, "differences")
    assert ("(all)", "RR") in labels(both, "differences")
    nearly = pl.DataFrame(
        {"track": ["t"] * 3, "edition": ["1", "(average)", "(average by runs)"], "mean": [0.3, 0.3, 0.1 + 0.2]}
    )
    assert pages._once(nearly)["edition"].to_list() == ["1"]


def test_one_of_anything_is_singular(tmp_path: Path) -> None:
    place = tmp_path / "a" / "t" / "1"
    (place / "runs").mkdir(parents=True)
    (place / "qrels").write_text("1 0 b 1\n2 0 a 1\n", encoding="utf-8")
    lines = "1 Q0 a 1 1 r\n1 Q0 b 2 1 r\n2 Q0 a 1 2 r\n2 Q0 b 2 1 r\n"
    (place / "runs" / "r").write_text(lines, encoding="utf-8")
    done = study(tmp_path / "a", tmp_path / "out")
    said = "Of 2 lists, 1 consists of tied documents only (1 of one single tie), 1 has no tie."
    ties, mrr, *_ = summary(done)
    assert ties.endswith(said)
    assert mrr == "The order of names changes MRR by +0.25000 (+33.33 %) in the only run."
    page = pages.page(done)
    assert "t 1: 1 system<" in page
    assert "Options: measures RR AP, depth 1000, top 5, alpha 0.05, max_grade 127." in page


def test_without_a_drawing_library(result: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    text = pages.page(result)
    assert "<svg" not in text
    assert "pip install" in text


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


def test_rankings_are_searched(result: Study, tmp_path: Path, browser: Browser) -> None:
    (tmp_path / "index.html").write_text(pages.page(result), encoding="utf-8")
    page, problems = browser.new_page(), []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto((tmp_path / "index.html").as_uri())
    rows = page.locator("#systems tbody tr:visible")
    assert rows.count() == 0  # folded
    page.fill("#filter", "web SYS3")
    assert rows.count() == 2
    assert page.inner_text("#found") == "2 found"
    page.fill("#filter", "nowhere")
    assert page.locator("#systems details:visible").count() == 0
    page.fill("#filter", "")
    assert page.locator("#systems details:visible").count() == 6
    assert page.evaluate("window.PWN") is None
    assert not problems
    page.close()


@pytest.mark.parametrize("paper", ["light", "dark"])
def test_everybody_can_read_the_page(
    paper: Literal["light", "dark"], result: Study, tmp_path: Path, browser: Browser
) -> None:
    (tmp_path / "index.html").write_text(pages.page(result), encoding="utf-8")
    page = browser.new_page(color_scheme=paper)
    page.goto((tmp_path / "index.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found] == []
    page.close()


def test_the_page_is_read_without_scripts(result: Study, tmp_path: Path, browser: Browser) -> None:
    (tmp_path / "index.html").write_text(pages.page(result), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "index.html").as_uri())
    assert page.locator("#filter").count() == 1
    assert not page.locator("#filter").is_visible()
    page.locator("#systems summary").first.click()
    assert page.locator("#systems tbody tr:visible").count() == 5
    context.close()


def test_the_sentences_have_the_level_of_the_papers(
    archive: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command(["study", str(archive), "-o", str(tmp_path), "--jobs", "1"]) == 0
    text = " ".join(capfd.readouterr().out.split())
    assert re.search(r"changes MAP by \+0\.\d{5} \(\+\d+\.\d\d %\) on average, significant at 0\.05 \(p", text)
    assert re.search(r"\d+\.\d % of the systems fill up lists with documents of score 0, which earns them", text)
    assert exaequo.__version__ in (tmp_path / "index.html").read_text(encoding="utf-8")
