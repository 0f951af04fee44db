"""Filters: the worked examples of the thesis, slow definitions, scikit-learn, and the command."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from exaequo import BadParameter, InputError
from exaequo.cli import run
from exaequo.filtering import GRID, Sweep, Tables, from_arrays, from_table, read_filter

DECISIONS = st.lists(
    st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.3, 0.35, 0.5, 0.9, 1.0])), min_size=1, max_size=12
).filter(lambda pairs: any(relevant for relevant, _ in pairs))


def tables(*rows: tuple[float, float, float, float]) -> Tables:
    return Tables(*(np.array(column, dtype=float) for column in zip(*rows, strict=True)))


def test_macro_is_not_micro_and_not_f_of_the_means() -> None:
    two = tables((10, 10, 0, 80), (1, 0, 9, 90))
    assert (two.precision.mean(), two.recall.mean()) == pytest.approx((0.75, 0.55))
    assert two.f().mean() == pytest.approx(0.42424242424242425)
    means = 2 * 0.75 * 0.55 / (0.75 + 0.55)
    assert means == pytest.approx(0.6346153846153846)
    total = two.total()
    assert (total.precision[0], total.recall[0], total.f()[0]) == pytest.approx(
        (0.5238095238095238, 0.55, 0.5365853658536586)
    )


def test_edges_of_selection() -> None:
    nothing, everything = tables((0, 0, 5, 95)), tables((5, 95, 0, 0))
    assert (nothing.precision[0], nothing.recall[0], nothing.utility()[0]) == (1, 0, 0)
    assert (everything.recall[0], everything.precision[0]) == (1, everything.density[0])
    same = tables((1, 9, 9, 81), (5, 5, 5, 85), (9, 1, 1, 89))
    assert same.f() == pytest.approx([0.1, 0.5, 0.9])
    assert same.noise + same.precision == pytest.approx(1)
    assert same.silence + same.recall == pytest.approx(1)


def test_utility() -> None:
    useless = tables((0, 100, 10, 0), (0, 1, 10, 0))
    assert useless.utility(3, -2).tolist() == [-200, -2]
    assert useless.utility(3, -1).tolist() == [-100, -1]
    paradox = tables((2, 16, 8, 0), (1, 9, 9, 0))  # better precision and recall, worse utility
    assert paradox.precision[0] > paradox.precision[1]
    assert paradox.recall[0] > paradox.recall[1]
    assert paradox.utility(3, -2).tolist() == [-26, -15]
    assert paradox.utility(3, -1).tolist() == [-10, -6]
    perfect = tables((10, 0, 0, 90))
    assert perfect.normalised_utility()[0] == perfect.scaled_utility()[0] == 1
    assert tables((0, 0, 10, 90)).scaled_utility()[0] == pytest.approx(1 / 3)  # selecting nothing
    assert tables((0, 100, 10, 0)).scaled_utility()[0] == 0
    for bad in ({"relevant": 0.0}, {"floor": 0.0}):
        with pytest.raises(BadParameter):
            perfect.scaled_utility(**bad)


def test_break_even_between_two_thresholds() -> None:
    """Recall 0.4 with precision 0.7, then recall 0.6 with precision 0.5: the lines meet at 0.55."""
    two = Tables(np.array([28.0, 42.0]), np.array([12.0, 42.0]), np.array([42.0, 28.0]), np.zeros(2))
    assert two.recall.tolist() == pytest.approx([0.4, 0.6])
    assert two.precision.tolist() == pytest.approx([0.7, 0.5])
    assert Sweep(np.zeros(2, dtype=np.int64), np.array([0.9, 0.5]), two, np.array([70])).break_even[0] == pytest.approx(
        0.55
    )


def test_f_optimal_of_the_thesis_is_no_upper_bound() -> None:
    one = from_arrays({"t": ([1, 1, 0], [0.95, 0.93, 0.92])})
    best, at = one.f_optimal()
    assert (best[0], at[0]) == (pytest.approx(0.8), 0.0)
    assert tuple(value[0] for value in one.sweep.best_f()) == (1.0, 0.93)
    with pytest.raises(InputError, match=r"a score of 1.5; expected scores from 0 to 1"):
        from_arrays({"t": ([1], [1.5])}).f_optimal()


def test_utilities_by_hand_and_where_they_end() -> None:
    # Selected: one relevant, two others; not selected: two relevant, five others.
    tables = from_arrays({"t": ([1, 0, 0, 1, 1], [0.9, 0.8, 0.7, 0.2, 0.1])}, docs=10).at(0.5)
    assert tables.utility(3, -2, -1, 0.5)[0] == 3 - 4 - 2 + 2.5
    assert tables.normalised_utility(0.5, -2)[0] == (0.5 - 4) / 1.5
    assert tables.hull_utility(0.5, 3, -2)[0] == 0  # worth −1, which is the floor
    assert tables.t9p(0.5)[0] == 1 / 3
    for s, nonrelevant in ((0.0, -2.0), (1.0, 0.0)):
        with pytest.raises(BadParameter, match="must be above 0, what another is worth below 0"):
            tables.hull_utility(s, 3, nonrelevant)
    with pytest.raises(BadParameter, match="worth more than 0"):
        tables.normalised_utility(0)
    with pytest.raises(BadParameter, match="must be above 0"):
        tables.t9p(0)


THEMES = st.lists(DECISIONS, min_size=1, max_size=4)
THRESHOLDS = st.sampled_from([0.0, 0.3, 0.5, 1.0, 2.0])


@settings(max_examples=150)
@given(THEMES, THRESHOLDS)
def test_definitions(themes: list[list[tuple[bool, float]]], threshold: float) -> None:
    check_definitions(themes, threshold)


@pytest.mark.soak
@settings(max_examples=3000)
@given(THEMES, THRESHOLDS)
def test_definitions_at_length(themes: list[list[tuple[bool, float]]], threshold: float) -> None:
    check_definitions(themes, threshold)


def check_definitions(themes: list[list[tuple[bool, float]]], threshold: float) -> None:
    named = {f"t{i}": tuple(zip(*pairs, strict=True)) for i, pairs in enumerate(themes)}
    one = from_arrays(named, docs=20)  # type: ignore[arg-type]
    found = one.at(threshold)
    for at, pairs in enumerate(themes):
        n = sum(relevant for relevant, _ in pairs)
        a = sum(relevant for relevant, score in pairs if score >= threshold)
        selected = sum(score >= threshold for _, score in pairs)
        row = [column[at] for column in (found.a, found.b, found.c, found.d)]
        assert row == [a, selected - a, n - a, 20 - n - selected + a]
        points = []
        for cut in sorted({score for _, score in pairs}, reverse=True):
            inside = [relevant for relevant, score in pairs if score >= cut]
            points.append((Fraction(sum(inside), n), Fraction(sum(inside), len(inside))))
        levels = [max((p for r, p in points if r >= Fraction(tenth, 10)), default=Fraction(0)) for tenth in range(11)]
        assert one.sweep.interpolated()[at].tolist() == pytest.approx([float(level) for level in levels])
        assert one.sweep.eleven_points[at] == pytest.approx(float(sum(levels)) / 11)
        assert one.sweep.break_even[at] == pytest.approx(_break_even(points), nan_ok=True)
        best = max(float(2 * p * r / (p + r)) if p + r else 0.0 for r, p in points)
        assert one.sweep.best_f()[0][at] == pytest.approx(best)
        on_grid = []
        for cut in GRID:
            hits, size = sum(rel for rel, s in pairs if s >= cut), sum(s >= cut for _, s in pairs)
            on_grid.append(2 * hits / (size + n) if size else 0.0)
        assert one.f_optimal()[0][at] == pytest.approx(max(on_grid))
        assert one.f_optimal()[1][at] == GRID[int(np.argmax(on_grid))]


def _break_even(points: list[tuple[Fraction, Fraction]]) -> float:
    fallback = float("nan")
    for at, (r, p) in enumerate(points):
        if r == p and p > 0:
            return float(p)
        if r == p:
            fallback = 0.0
        if at + 1 < len(points):
            r2, p2 = points[at + 1]
            if (p - r) * (p2 - r2) < 0:
                share = (p - r) / ((p - r) - (p2 - r2))
                return float(p + share * (p2 - p))
    return fallback


@pytest.mark.parametrize("seed", range(8))
def test_scikit_learn(seed: int) -> None:
    random = np.random.default_rng(seed)
    truth, scores = random.random((30, 4)) < 0.3, random.random((30, 4))
    truth[0] = True
    one = from_arrays({str(theme): (truth[:, theme], scores[:, theme]) for theme in range(4)})
    found, chosen = one.at(0.6), scores >= 0.6
    assert found.f(2.0).mean() == pytest.approx(metrics.fbeta_score(truth, chosen, beta=2, average="macro"))
    total = found.total()
    for name, score in (("precision", metrics.precision_score), ("recall", metrics.recall_score)):
        assert getattr(found, name).mean() == pytest.approx(score(truth, chosen, average="macro", zero_division=1))
        assert getattr(total, name)[0] == pytest.approx(score(truth, chosen, average="micro"))
    assert total.f()[0] == pytest.approx(metrics.f1_score(truth, chosen, average="micro"))
    assert total.accuracy[0] == pytest.approx(np.mean(truth == chosen))


def test_from_judgments_and_a_run() -> None:
    qrels = {"t": {"a": 1, "b": 0, "c": 1}, "nothing": {"a": 0}}
    one = read_filter(qrels, {"t": {"a": 0.9, "b": 0.2, "new": 0.8}})
    assert one.themes == ["nothing", "t"]
    found = one.at(0.5)
    assert [column.tolist() for column in (found.a, found.b, found.c, found.d)] == [[0, 1], [0, 1], [0, 1], [1, 1]]
    assert read_filter(qrels, {"t": {"a": 0.9}}, docs=100).at(0.5).d[1] == 98
    with pytest.raises(InputError, match=r"theme '[^']+' has 4 documents; expected at most the 3"):
        read_filter(qrels, {"t": {"a": 0.9, "new": 0.1}}, docs=3)
    with pytest.raises(InputError, match="shapes"):
        from_arrays({"t": ([1, 0], [0.5])})


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q").write_text("t 0 a 1\nt 0 b 0\nt 0 c 1\nu 0 a 1\n", encoding="utf-8")
    Path("r").write_text("t x a 1 0.9 sys\nt x b 2 0.8 sys\nu x b 1 0.9 sys\n", encoding="utf-8")
    assert run(["filter", "q", "r", "-q", "--utility", "3,-1"]) == 0
    text = capfd.readouterr().out
    assert text.splitlines()[0].split() == (
        "run theme a b c d relevant N precision recall noise silence fallout density accuracy F E utility best utility "
        "normalised beats nothing T11SU T9P".split()
    )
    assert [line.split()[1] for line in text.splitlines()[1:5]] == ["t", "u", "macro", "micro"]
    assert text.splitlines()[5:] == ["", "N: the documents judged or scored for the theme"]
    assert run(["filter", "q", "r", "--sweep", "--json"]) == 0
    captured = capfd.readouterr()
    document = json.loads(captured.out)
    assert (document["format"], document["rows"][0]["theme"]) == (1, "macro")
    assert run(["filter", "q", "r", "--format", "csv", "--average", "micro"]) == 0
    assert capfd.readouterr().out.count("\n") == 2
    assert run(["filter", "q", "r", "--sweep", "--average", "micro"]) == 2
    assert "no micro-average" in capfd.readouterr().err
    assert run(["filter", "q", "r", "--utility", "much"]) == 2
    Path("r").write_text("t x a 1 0.9 sys\nz x a 1 0.9 sys\n", encoding="utf-8")
    capfd.readouterr()
    assert run(["filter", "q", "r"]) == 0
    err = capfd.readouterr().err
    assert "1 topic nobody judged, ignored: z" in err
    assert "1 of 2 evaluated topics missing: u" in err
    Path("r").write_text("t x a 1 nan sys\n", encoding="utf-8")
    assert run(["filter", "q", "r"]) == 1
    assert "r:1: score is 'nan'" in capfd.readouterr().err


def test_from_a_table(tmp_path: Path) -> None:
    table = tmp_path / "decisions.csv"
    table.write_text(
        "theme,y_true,y_score\nfish,1,0.9\nfish,0,0.8\nfish,yes,0.2\ncat,False,0.4\ncat,true,0.6\nnone,0,1\n"
    )
    arrays = {"fish": ([1, 0, 1], [0.9, 0.8, 0.2]), "cat": ([0, 1], [0.4, 0.6]), "none": ([0], [1.0])}
    expected = from_arrays(arrays)
    frame = pl.DataFrame(
        {
            "category": ["fish", "fish", "fish", "cat", "cat", "none"],
            "label": [1, 0, 1, 0, 1, 0],
            "probability": [0.9, 0.8, 0.2, 0.4, 0.6, 1.0],
        }
    )
    for data in (table, frame, frame.to_pandas()):
        found = from_table(data)
        assert found.themes == expected.themes
        assert np.array_equal(found.score, expected.score)
        assert np.array_equal(found.relevant, expected.relevant)
    decided = from_table(pl.DataFrame({"theme": ["a", "a"], "truth": [True, False], "decision": [True, True]}))
    assert decided.at(0.5).precision.tolist() == [0.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("theme,y_true,y_score\nfish,maybe,0.5\n", r":2: the truth is 'maybe'"),
        ("theme,y_true,y_score\nfish,1,\n", r":2: the score is missing"),
        ("theme,y_true,y_score\nfish,1,nan\n", r":2: the score is 'nan'"),
        ("theme,y_score\nfish,1\n", r":1: no column for the truth among theme, y_score"),
        ("theme,y_true,y_score\n", "there are no rows"),
        (
            "theme,docno,y_true,y_score\nf,a,0,1\nf,b,0,1\nf,a,1,1\n",
            r":4: document 'a' of theme 'f' is here and in line 2",
        ),
        ("theme,time,y_true,y_score\nf,1,0,1\nf,,0,1\n", r":3: the time is missing"),
    ],
)
def test_tables_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    table = tmp_path / "decisions.csv"
    table.write_text(text)
    with pytest.raises(InputError, match=message):
        from_table(table)


def test_curves(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "t.csv"
    table.write_text("theme,y_true,y_score\nfish,1,0.9\nfish,0,0.8\nfish,1,0.2\ncat,0,0.4\ncat,1,0.6\n")
    assert run(["filter", str(table), "--curve", "raw", "--format", "csv"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "run,theme,threshold,recall,precision,F,utility"
    assert lines[1] == "t,fish,0.9,0.5,1.0,0.6666666666666666,3.0"
    assert len(lines) == 6
    assert run(["filter", str(table), "--curve", "interpolated", "-q", "--json"]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    assert len(rows) == 33
    assert [row["precision"] for row in rows[:11]] == [1.0] * 6 + [2 / 3] * 5


def test_uninterpolated_average_precision() -> None:
    """The worked example of the thesis, s004-UAP: relevant at ranks 2, 4 and 7; and realistic where tied."""
    one = from_arrays({"t": ([0, 1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3])})
    assert one.average_precision[0] == pytest.approx(10 / 21, abs=1e-15)
    assert one.sweep.tables.precision[[1, 3, 6]] == pytest.approx([1 / 2, 2 / 4, 3 / 7])
    assert from_arrays({"t": ([1, 0, 0], [0.5, 0.5, 0.5])}).average_precision[0] == pytest.approx(1 / 3)


def test_best_utility_over_thresholds() -> None:
    one = from_arrays({"good": ([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]), "bad": ([0, 0, 1], [0.9, 0.8, 0.7])})
    best, at = one.sweep.best_utility(3, -2)
    assert best.tolist() == [4.0, 0.0]  # 2 relevant and 1 other; nothing
    assert at.tolist() == [0.7, np.inf]
    assert one.at(0.5).best_utility(3).tolist() == [6.0, 3.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sweep", "--threshold", "0.3"], "leave --threshold out"),
        (["--sweep", "--curve", "raw"], "ask for one"),
        (["--curve", "interpolated", "--average", "micro"], "no micro-average"),
        (["--threshold", "nan"], "must be a number"),
        (["--beta", "nan"], "must be a number"),
        (["--beta", "1e200"], "up to 1,000,000"),
        (["--utility", "inf,-1"], "finite numbers"),
        (["--columns", "bogus=x"], "Got 'bogus'"),
        (["--docs", "99999999999999999999"], "up to|from 1 to"),
        (["--window", "3"], "--window is of --stream; give --stream"),
        (["--by", "f"], "give --train too"),
        (["--train", "t.csv", "--threshold", "0.3"], "leave --threshold out"),
        (["--train", "t.csv", "--train", "t.csv"], "given 2 times for 1 filter"),
        (["--sweep", "--train", "t.csv"], "--sweep takes no --train"),
        (["-m", "SelF"], "give --compare"),
        (["--compare"], "at least two runs"),
        (["--compare", "--utility", "1,2,3,4"], "two numbers"),
        (["--compare", "-m", "AP"], "AP is not a measure of a selection"),
        (["--hull", "5", "--utility", "3,1"], "below 0"),
    ],
)
def test_requests_that_are_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("theme,truth,score\nfish,1,0.9\n")
    assert run(["filter", str(table), *options]) == 2
    assert re.search(message, capfd.readouterr().err)
