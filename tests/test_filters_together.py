"""Filters judged together: a slow direct implementation, learnt thresholds, streams, comparisons, the command."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exaequo
from exaequo import BadParameter, InputError
from exaequo.cli import run as command
from exaequo.comparison import compare_scores
from exaequo.comparison.plan import AGREE, Plan
from exaequo.filtering import Filter, figures_of, filters_of, from_arrays, from_tables, learn, scores_of, stream_of
from exaequo.filtering.learning import best_thresholds
from helpers import evaluate

SCORES = st.sampled_from([0.0, 0.1, 0.3, 0.35, 0.5, 0.9, 1.0])
#: Decisions of some themes: relevant or not, and the score. Themes may have no relevant document, and no document.
THEMES = st.lists(st.lists(st.tuples(st.booleans(), SCORES), max_size=9), min_size=1, max_size=4)
Themes = list[list[tuple[bool, float]]]


def made(themes: Themes, **options: Any) -> Filter:
    arrays: dict[str, Any] = {f"t{at}": tuple(zip(*pairs, strict=True)) or ((), ()) for at, pairs in enumerate(themes)}
    return from_arrays(arrays, **options)


def share(above: float, below: float) -> float:
    return above / below if below else nan


def slow(pairs: list[tuple[bool, float]], t: float, docs: int) -> dict[str, float]:
    """All figures of one theme, each by its definition."""
    a = sum(rel for rel, score in pairs if score >= t)
    b = sum(not rel for rel, score in pairs if score >= t)
    c = sum(rel for rel, score in pairs if score < t)
    d = docs - a - b - c
    return of_cells(a, b, c, d)


def of_cells(a: int, b: int, c: int, d: int) -> dict[str, float]:
    p, r = a / (a + b) if a + b else 1.0, share(a, a + c)
    f = nan if isnan(r) else 5 * p * r / (4 * p + r) if p + r else 0.0
    u, n = 3 * a - 2 * b, a + b + c + d
    t11 = share(2 * a - b, 2 * (a + c))
    return {
        "a": a,
        "b": b,
        "c": c,
        "d": d,
        "relevant": a + c,
        "N": n,
        "precision": p,
        "recall": r,
        "noise": 1 - p,
        "silence": 1 - r,
        "fallout": share(b, b + d),
        "density": share(a + c, n),
        "accuracy": share(a + d, n),
        "F": f,
        "E": 1 - f,
        "utility": u,
        "best_utility": 3 * (a + c),
        "normalised": share(u, 3 * (a + c)),
        "beats_nothing": float(u > 0),
        "T11SU": nan if isnan(t11) else (max(t11, -0.5) + 0.5) / 1.5,
        "hull": (max(u, -8) + 8) / (3 * (a + c) + 8),
        "T9P": a / max(7, a + b),
    }


@settings(max_examples=300)
@given(THEMES, st.sampled_from([0.0, 0.3, 0.5, 1.0, 2.0]))
def test_every_figure_of_every_theme(themes: Themes, t: float) -> None:
    one = made(themes, docs=20)
    tables = one.at(t)
    found = figures_of(tables, 2.0, target=7, hull=4)
    expected = [slow(pairs, t, 20) for pairs in themes]
    for name, values in found.items():
        assert values.tolist() == pytest.approx([each[name] for each in expected], nan_ok=True), name
    cells = [int(sum(each[name] for each in expected)) for name in "abcd"]
    total = figures_of(tables.total(), 2.0, target=7, hull=4)
    for name, value in of_cells(*cells).items():
        assert total[name][0] == pytest.approx(value, nan_ok=True), name


def test_themes_with_nothing_relevant_count(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Ten wrong selections in one theme, one right one in another: 1 / 11, and 3 − 20."""
    table = tmp_path / "t.csv"
    rows = [f"X,x{at},0,0.9" for at in range(10)]
    table.write_text("\n".join(["theme,docno,y_true,y_score", *rows, "Y,y,1,0.9", ""]))
    qrels, listed = tmp_path / "q", tmp_path / "r"
    qrels.write_text("".join(f"X 0 x{at} 0\n" for at in range(10)) + "Y 0 y 1\n")
    listed.write_text("".join(f"X 0 x{at} 1 0.9 r\n" for at in range(10)) + "Y 0 y 1 0.9 r\n")
    for files in ([str(table)], [str(qrels), str(listed)]):
        assert command(["filter", *files, "-q", "--json"]) == 0
        captured = capfd.readouterr()
        document = json.loads(captured.out)
        rows_of = {row["theme"]: row for row in document["rows"]}
        assert rows_of["micro"]["precision"] == pytest.approx(1 / 11)
        assert rows_of["micro"]["utility"] == -17
        assert rows_of["macro"]["precision"] == 0.5
        assert (rows_of["X"]["recall"], rows_of["X"]["F"], rows_of["X"]["T11SU"]) == (None, None, None)
        assert rows_of["macro"]["recall"] == 1
        means = {row["figure"]: (row["themes"], row["of"]) for row in document["means"]}
        assert means["recall"] == means["normalised"] == (1, 2)
        assert "precision" not in means and "utility" not in means
        assert "recall, silence, fallout" in captured.err and "means over 1 of 2 themes" in captured.err
        assert "not to be averaged" in captured.err
        assert any("not to be averaged" in said for said in document["warnings"])
        assert command(["filter", *files, "--average", "micro"]) == 0
        assert "not to be averaged" not in capfd.readouterr().err
        assert command(["filter", *files, "--sweep", "-q", "--json"]) == 0
        swept = {row["theme"]: row for row in json.loads(capfd.readouterr().out)["rows"]}
        assert (swept["X"]["UAP"], swept["X"]["best_f"], swept["X"]["best_utility"]) == (None, None, 0)
        assert command(["filter", *files, "--curve", "interpolated", "-q", "--json"]) == 0
        curve = json.loads(capfd.readouterr().out)
        assert [row["precision"] for row in curve["rows"] if row["theme"] == "macro"] == [1.0] * 11
        assert curve["means"][0]["themes"] == 1
    table.write_text("theme,y_true,y_score\nX,0,0.9\n")
    assert command(["filter", str(table), "--average", "micro"]) == 0
    assert " -2\n" in capfd.readouterr().out


def test_whole_numbers_are_written_whole(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "t.csv"
    table.write_text("theme,y_true,y_score\nf,1,0.9\nf,0,0.8\nc,1,0.9\n")
    assert command(["filter", str(table), "-q"]) == 0
    heads, theme, _, macro, micro, *_ = capfd.readouterr().out.splitlines()
    assert theme.split()[2:8] == ["1", "1", "0", "0", "1", "2"]
    assert macro.split()[2:8] == ["1", "0.5000", "0", "0", "1", "1.5000"]
    assert micro.split()[2:8] == ["2", "1", "0", "0", "2", "3"]
    assert micro[heads.index("utility") - 2 : heads.index("utility") + 7].split() == ["4"]


# ------------------------------------------------------------------------------------------------------ one collection


def frame(rows: list[tuple[str, str, int, float]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["theme", "docno", "truth", "score"], orient="row")


DOCUMENTS = [f"d{at}" for at in range(6)]


@settings(max_examples=150)
@given(st.data())
def test_all_filters_have_one_collection(data: st.DataObject) -> None:
    """What any table knows is what all are judged by; the order of tables and of rows, and names, change nothing."""
    truth = {(theme, docno): data.draw(st.booleans()) for theme in "tu" for docno in DOCUMENTS}
    tables = []
    for _ in range(data.draw(st.integers(1, 3))):
        own = data.draw(st.lists(st.sampled_from(sorted(truth)), unique=True, min_size=1))
        tables.append(frame([(*pair, int(truth[pair]), data.draw(SCORES)) for pair in own]))
    known = {pair for table in tables for pair in table.select("theme", "docno").rows()}
    filters = from_tables(tables)
    for one, table in zip(filters, tables, strict=True):
        found = one.at(0.4)
        for at, theme in enumerate(one.themes):
            n_rel = sum(truth[pair] for pair in known if pair[0] == theme)
            mine = [(rel, score) for own, _, rel, score in table.rows() if own == theme and score >= 0.4]
            a = sum(rel for rel, _ in mine)
            size = sum(pair[0] == theme for pair in known)
            cells = [int(cell[at]) for cell in (found.a, found.b, found.c, found.d)]
            assert cells == [a, len(mine) - a, n_rel - a, size - n_rel - len(mine) + a]
    renamed = [table.with_columns(docno=pl.lit("x") + pl.col("docno")).reverse() for table in reversed(tables)]
    again = from_tables(renamed)[::-1]
    for one, other in zip(filters, again, strict=True):
        places = [other.themes.index(theme) for theme in one.themes]
        for cell in "abcd":
            assert getattr(one.at(0.4), cell).tolist() == getattr(other.at(0.4), cell)[places].tolist()


def test_runs_have_one_collection() -> None:
    qrels = {"t": {"a": 1, "b": 0}, "n": {"a": 0}}
    from exaequo.evaluation import judged_runs, prepared
    from exaequo.options import Options

    judgments = prepared(exaequo.read_qrels(qrels), Options(), every=True)
    runs = [{"t": {"a": 0.9, "x": 0.8}}, {"t": {"x": 0.1, "y": 0.9}, "n": {"z": 0.9}}]
    orderings = [each for each, _ in judged_runs(judgments, map(exaequo.read_run, runs), Options())]
    one, two = filters_of(orderings)
    assert one.themes == ["n", "t"]
    assert one.n_docs.tolist() == two.n_docs.tolist() == [2, 4]
    assert one.at(0.5).fallout.tolist() == pytest.approx([0, 1 / 3])
    assert two.at(0.5).density.tolist() == [0, 0.25]


def test_tables_that_do_not_fit_together() -> None:
    good = frame([("t", "a", 1, 0.5), ("t", "b", 0, 0.5)])
    with pytest.raises(InputError, match="document 'b' of theme 't' is relevant here or in another table"):
        from_tables([good, good.with_columns(truth=1)])
    with pytest.raises(InputError, match=r"theme 't' has 1 documents, 1 of them relevant; expected 2 and 1"):
        from_tables([good.drop("docno"), good.drop("docno").head(1)])
    both = from_tables({"one": good.drop("docno"), "two": good.drop("docno")})
    assert [each.name for each in both] == ["one", "two"]
    assert both[1].n_docs.tolist() == [2]


# ------------------------------------------------------------------------------------------------------------ learning


def score_of(pairs: list[tuple[bool, float]], t: float, by: str) -> Fraction | None:
    """What a threshold is chosen by, exactly; None where it cannot be chosen."""
    a = sum(rel for rel, score in pairs if score >= t)
    b = sum(not rel for rel, score in pairs if score >= t)
    n = sum(rel for rel, _ in pairs)
    if by == "utility":
        return Fraction(3 * a - 2 * b)
    if not a:
        return None
    return Fraction(2 * a, a + b + n) if by == "f" else -abs(Fraction(a, a + b) - Fraction(a, n))


def brute_force(pairs: list[tuple[bool, float]], by: str) -> float:
    """The lowest of the best thresholds, infinity for selecting nothing, NaN if there is nothing to learn."""
    tried = [(score_of(pairs, t, by), -t) for t in {score for _, score in pairs}]
    known = [(value, minus) for value, minus in tried if value is not None]
    if by == "utility" and pairs:
        known.append((Fraction(0), inf))
        best = max(value for value, _ in known)
        return inf if best == 0 else -max(minus for value, minus in known if value == best)
    return -max(known)[1] if known else nan


@settings(max_examples=300)
@given(THEMES, THEMES, st.sampled_from(["f", "utility", "break-even"]))
def test_learnt_thresholds(train: Themes, test: Themes, by: str) -> None:
    learner, tested = made(train), made(test)
    expected = [brute_force(pairs, by) for pairs in train]
    assert best_thresholds(learner, by).tolist() == pytest.approx(expected, nan_ok=True)
    common = brute_force([pair for pairs in train for pair in pairs], by)
    if isnan(common):
        with pytest.raises(InputError, match="no relevant document has a score"):
            learn(learner, tested, by)
        return
    found = learn(learner, tested, by)
    own = [expected[at] if at < len(train) else nan for at in range(len(test))]
    assert found.thresholds.tolist() == [common if isnan(each) else each for each in own]
    assert found.fallback == tuple(f"t{at}" for at, each in enumerate(own) if isnan(each))
    assert set(learn(learner, tested, by, "all").thresholds) == {common}
    if by != "break-even":  # nothing is better than the best on the test itself

        def figure(thresholds: Any) -> Any:
            tables = tested.at(thresholds)
            return tables.f() if by == "f" else tables.utility()

        gap = figure(found.chosen) - figure(found.thresholds)
        assert np.all((gap >= 0) | np.isnan(gap))


def test_learning_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.csv").write_text("theme,y_true,y_score\na,1,0.9\na,1,0.6\na,0,0.5\nb,0,0.9\n")
    Path("test.csv").write_text("theme,y_true,y_score\na,1,0.7\na,1,0.4\na,0,0.1\nb,1,0.8\nb,0,0.2\n")
    assert command(["filter", "test.csv", "--train", "train.csv", "-q", "--json"]) == 0
    captured = capfd.readouterr()
    document = json.loads(captured.out)
    rows = {row["theme"]: row for row in document["rows"]}
    assert (rows["a"]["threshold"], rows["a"]["chosen_threshold"]) == (0.6, 0.4)
    assert (rows["a"]["F"], rows["a"]["chosen_F"]) == pytest.approx((2 / 3, 1))
    assert rows["a"]["optimism"] == pytest.approx(1 / 3)
    assert rows["b"]["threshold"] == 0.6  # of all themes: nothing is relevant for b in training
    assert "1 theme with nothing to learn from, judged at the threshold learnt from all themes, 0.6: b" in captured.err
    assert rows["macro"]["optimism"] == pytest.approx(1 / 6)
    assert command(["filter", "test.csv", "--train", "train.csv", "--learn", "all", "--by", "utility", "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert (document["options"]["learn"], document["options"]["by"]) == ("all", "utility")
    assert document["rows"][1]["optimism"] == 3  # 9 at 0.4, 6 at 0.6
    Path("q").write_text("a 0 x 1\na 0 y 1\na 0 z 0\n")
    Path("r").write_text("a 0 x 1 0.9 r\na 0 y 2 0.6 r\na 0 z 3 0.5 r\n")
    assert command(["filter", "q", "r", "--train-qrels", "q", "--train", "r", "-q", "--json"]) == 0
    rows = {row["theme"]: row for row in json.loads(capfd.readouterr().out)["rows"]}
    assert (rows["a"]["threshold"], rows["a"]["optimism"]) == (0.6, 0)


# ------------------------------------------------------------------------------------------------------------- streams


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from("tu"), st.integers(0, 4), st.booleans(), SCORES), min_size=1, max_size=14),
    st.integers(1, 4),
)
def test_streams(rows: list[tuple[str, int, bool, float]], window: int) -> None:
    table = pl.DataFrame(rows, schema=["theme", "time", "truth", "score"], orient="row")
    (one,) = from_tables([table])
    for theme in (None, rows[0][0]):
        own = [row for row in rows if theme in (None, row[0])]
        times = sorted({row[1] for row in own})
        found = stream_of(one, 0.4, theme=theme, window=window).frame(2.0, target=7)
        assert found["time"].to_list() == times
        for at, row in enumerate(found.to_dicts()):
            recent = times[max(0, at - window + 1) : at + 1]
            for before, kept in (("", times[: at + 1]), ("window_", recent)):
                pairs = [(rel, score) for _, time, rel, score in own if time in kept]
                expected = slow(pairs, 0.4, len(pairs))
                assert row[f"{before}documents"] == len(pairs)
                for name in ("precision", "recall", "F", "utility", "T9P"):
                    value = row[before + name]
                    assert (nan if value is None else value) == pytest.approx(expected[name], nan_ok=True), name


def test_streams_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("theme,order,truth,score\na,10,1,0.9\na,9,0,0.9\nb,9,1,0.1\n")
    assert command(["filter", "t.csv", "--stream", "--window", "1", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capfd.readouterr().out)))
    assert [row["time"] for row in rows] == ["9.0", "10.0"]  # numbers, not text
    assert [row["recall"] for row in rows] == ["0.0", "0.5"]
    assert [row["window_recall"] for row in rows] == ["0.0", "1.0"]
    Path("q").write_text("t 0 a 1\nt 0 never 1\n")
    Path("r").write_text("t 0 b 1 0.2 r\nt 0 a 2 0.9 r\n")
    assert command(["filter", "q", "r", "--stream", "-q", "--json"]) == 0
    captured = capfd.readouterr()
    document = json.loads(captured.out)
    assert [row["recall"] for row in document["rows"] if row["theme"] == "t"] == [None, 1.0]  # b came first
    assert document["options"]["known_to_the_filter"] == ["precision", "utility", "T9P"]
    assert "1 relevant document that never came" in captured.err
    assert command(["filter", "q", "r", "--stream"]) == 0
    assert "knows precision, utility, T9P itself; recall and F it cannot know" in capfd.readouterr().out
    with pytest.raises(BadParameter, match="There is no theme 'z'"):
        stream_of(from_arrays({"t": ([1], [1])}), theme="z")


# ----------------------------------------------------------------------------------------------------------- comparing

MEASURES = "SelP SelR SelF(beta=2) SelE Utility NUtility(u_nonrel=-1) HullU(s=4) T11SU T9P(target=3)".split()


@given(THEMES.filter(lambda themes: any(rel for pairs in themes for rel, _ in pairs)), st.sampled_from([0.3, 0.5, 2.0]))
def test_measures_of_selections(themes: Themes, t: float) -> None:
    """A measure of the catalogue is what the filter of the same run says; no strategy changes it."""
    qrels = {
        f"t{at}": {f"d{i}": int(rel) for i, (rel, _) in enumerate(pairs)} for at, pairs in enumerate(themes) if pairs
    }
    run = {f"t{at}": {f"d{i}": score for i, (_, score) in enumerate(pairs)} for at, pairs in enumerate(themes) if pairs}
    measures = [exaequo.parse_measure(name)(t=t) for name in MEASURES]
    scores = evaluate(qrels, {"r": run}, measures, ties=["realistic", "optimistic", "expected"])
    expected = scores_of([made(themes)], measures)
    for measure in measures:
        of_tables = expected["filter", "realistic", measure].to_dict()
        for ties in scores.ties:
            for theme, value in scores["r", ties, measure].to_dict().items():
                assert value == pytest.approx(of_tables[theme], nan_ok=True), measure


def test_comparing_tables_and_runs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The same decisions as tables and as runs give the same comparison, and the theme with nothing relevant counts."""
    random = np.random.default_rng(5)
    names = [str(tmp_path / name) for name in ("q", "one", "two")]
    with Path(names[0]).open("w") as qrels:
        truth = random.random((8, 30)) < 0.3
        truth[7] = False
        qrels.writelines(f"t{at} 0 d{i} {int(rel)}\n" for at, row in enumerate(truth) for i, rel in enumerate(row))
    for name in names[1:]:
        scores = random.random(truth.shape).round(2)
        lines = [(f"t{at}", f"d{i}", scores[at, i], int(truth[at, i])) for at in range(8) for i in range(30)]
        own = Path(name).name
        Path(name).write_text("".join(f"{theme} 0 {doc} 1 {score} {own}\n" for theme, doc, score, _ in lines))
        rows = [f"{theme},{doc},{rel},{score}\n" for theme, doc, score, rel in lines]
        Path(f"{name}.csv").write_text("theme,docno,y_true,y_score\n" + "".join(rows))
    options = ["--compare", "--baseline", "one", "-m", "SelF", "-m", "Utility", "--table", "pairs", "--json"]
    assert command(["filter", *names, *options]) == 0
    runs = capfd.readouterr()
    assert command(["filter", f"{names[1]}.csv", f"{names[2]}.csv", *options]) == 0
    tables = capfd.readouterr()
    one, two = json.loads(runs.out), json.loads(tables.out)
    assert one["pairs"] == two["pairs"]
    assert "Utility: averaged over topics, but its best value depends on" in runs.err
    assert "SelF: 1 topic left out, where a run has no value (nothing is relevant)" in runs.err
    assert {row["measure"]: row["wins"] + row["ties"] + row["losses"] for row in one["pairs"]} == {
        "SelF": 7,
        "Utility": 8,
    }
    # Without that theme, which `compare` leaves out, the figures are those of `compare`.
    assert command(["compare", *names, "--baseline", "one", "-m", "SelF", "--table", "pairs", "--json"]) == 0
    usual = json.loads(capfd.readouterr().out)["pairs"][0]
    (pair,) = (row for row in one["pairs"] if row["measure"] == "SelF")
    for name in ("difference", "p", "low", "high", "d"):
        assert pair[name] == pytest.approx(usual[name]), name
    assert command(["gate", *names[:2], names[2], "-m", "SelF", "--max-drop", "0.9"]) in (0, 1)
    assert command(["eval", *names, "-m", "Utility"]) == 0
    assert "averaged over topics" in capfd.readouterr().err


def test_what_is_said_about_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A theme one table lacks, options that would be ignored, a qrels table, and Hull's utility."""
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text("theme,docno,y_true,y_score\na,x,1,0.9\nb,x,1,0.9\n")
    Path("two.csv").write_text("theme,docno,y_true,y_score\na,x,1,0.9\na,y,0,0.9\n")
    assert command(["filter", "one.csv", "two.csv", "--hull", "2", "-q", "--json"]) == 0
    captured = capfd.readouterr()
    assert "two: 1 of 2 themes missing: b; nothing is selected for them" in captured.err
    rows = {(row["run"], row["theme"]): row for row in json.loads(captured.out)["rows"]}
    assert (rows["two", "b"]["c"], rows["two", "b"]["recall"], rows["two", "b"]["precision"]) == (1, 0, 1)
    assert rows["two", "a"]["hull"] == pytest.approx((1 + 4) / (3 + 4))
    assert rows["one", "a"]["N"] == 2
    assert command(["filter", "one.csv", "--rel-level", "2"]) == 2
    assert "leave --rel-level and --max-grade out" in capfd.readouterr().err
    Path("qrels.csv").write_text("qid,docno,rel\na,x,1\nb,x,1\n")
    Path("run.csv").write_text("qid,docno,score\na,x,0.9\nb,x,0.9\n")
    assert command(["filter", "qrels.csv", "run.csv", "-q", "--json"]) == 0  # no decisions: judgments and a run
    assert json.loads(capfd.readouterr().out)["rows"][0]["recall"] == 1


def test_the_better_filter_is_found() -> None:
    good = [[(True, 0.9), (True, 0.8), (False, 0.1)]] * 9
    bad = [[(True, 0.9), (True, 0.1), (False, 0.8 if at % 2 else 0.2)] for at in range(9)]
    filters = [
        Filter(name, *(getattr(made(themes), part) for part in list(vars(made(themes)))[1:]))
        for name, themes in (("good", good), ("bad", bad))
    ]
    result = compare_scores(scores_of(filters, ["SelF", "SelE", "T9P"]), Plan(baseline="bad", ties=AGREE))
    assert result.pairs.select("measure", "outcome").rows() == [(name, "better") for name in ("SelF", "SelE", "T9P")]
    with pytest.raises(BadParameter, match="other themes"):
        scores_of([made(good), made(good[:3])], ["SelF"])
