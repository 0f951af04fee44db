"""The study of an archive: tables against direct calculations, and work that goes on wherever it was stopped."""

from __future__ import annotations

import gzip
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from archive import write_archive
from scipy import stats

from exaequo import BadParameter, ExaequoError, InputError, UsageError
from exaequo.cli import run as command
from exaequo.stats.agreement import competition_ranks
from exaequo.study import Study, study
from exaequo.study.archive import find
from exaequo.study.pages import write
from exaequo.study.work import Done
from helpers import evaluate

INTERVAL = ("realistic", "conventional", "optimistic")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tracks of two editions with six runs each, 12 topics, many ties."""
    folder = tmp_path_factory.mktemp("archive")
    source = random.Random(4)
    for track in ("adhoc", "web"):
        for edition in ("1999", "2000"):
            place = folder / track / edition
            (place / "runs").mkdir(parents=True)
            documents = [f"{source.choice('ABZ')}{number:03}" for number in range(60)]
            topics = range(1, 13)
            with (place / "qrels.txt").open("w") as file:
                for topic in topics:
                    file.writelines(f"{topic} 0 {docno} {source.choice((0, 0, 0, 1))}\n" for docno in set(documents))
                    file.write(f"{topic} 0 sure 1\n")
            for run in range(6):
                lines = []
                for topic in topics:
                    for docno in source.sample(sorted(set(documents)), 30):
                        sim = round(source.random() * 4) if run < 4 else source.random()
                        lines.append(f"{topic} Q0 {docno} 0 {sim} sys{run}\n")
                    lines.append(f"{topic} Q0 sure 0 {run} sys{run}\n")
                path = place / "runs" / f"sys{run}"
                if run == 2:
                    with gzip.open(f"{path}.gz", "wt") as packed:
                        packed.writelines(lines)
                else:
                    path.write_text("".join(lines))
    return folder


@pytest.fixture(scope="module")
def result(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    return study(archive, tmp_path_factory.mktemp("out"), measures="RR AP", top=3)


def values(archive: Path, track: str, edition: str, measure: str) -> dict[str, dict[str, dict[str, float]]]:
    """{run: {ties: {topic: value}}} by `evaluate`."""
    place = archive / track / edition
    scores = evaluate(place / "qrels.txt", sorted((place / "runs").iterdir()), measure, ties="all")
    return {
        run: {ties: {topic: figures[measure] for topic, figures in topics.items()} for ties, topics in by_ties.items()}
        for run, by_ties in scores.to_dict().items()
    }


def test_finds_everything(archive: Path, result: Study) -> None:
    assert result.about["archive"] == {"editions": 4, "runs": 24, "broken": 0, "lines": 24 * 12 * 31}
    assert [edition.label for edition in find(archive)] == ["adhoc 1999", "adhoc 2000", "web 1999", "web 2000"]
    assert [edition.label for edition in find(archive, ["web"], ["2000"])] == ["web 2000"]
    with pytest.raises(UsageError, match=r"no track 'wab' .* did you mean 'web'"):
        find(archive, ["wab"])


def test_tie_statistics(archive: Path, result: Study) -> None:
    place = archive / "web" / "2000" / "runs"
    shares = []
    for path in sorted(place.iterdir()):
        text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
        lists: dict[str, list[float]] = {}
        for line in text.splitlines():
            lists.setdefault(line.split()[0], []).append(float(line.split()[4]))
        shares += [100 * sum(sims.count(sim) > 1 for sim in sims) / len(sims) for sims in lists.values()]
    row = result.tables["ties"].filter((pl.col("track") == "web") & (pl.col("edition") == "2000")).row(0, named=True)
    assert (row["runs"], row["lists"]) == (6, 72)
    assert row["tied_min_percent"] == pytest.approx(min(shares))
    assert row["tied_mean_percent"] == pytest.approx(np.mean(shares))
    assert row["tied_max_percent"] == pytest.approx(max(shares))
    assert row["tied_sd_percent"] == pytest.approx(np.std(shares, ddof=1))


def test_differences(archive: Path, result: Study) -> None:
    low, middle, low_means, middle_means = [], [], [], []
    for edition in ("1999", "2000"):
        for by_ties in values(archive, "adhoc", edition, "AP").values():
            low += list(by_ties["realistic"].values())
            middle += list(by_ties["conventional"].values())
            low_means.append(np.mean(list(by_ties["realistic"].values())))
            middle_means.append(np.mean(list(by_ties["conventional"].values())))
    for of, one, two in (("lists", low, middle), ("runs", low_means, middle_means)):
        chosen = (pl.col("track") == "adhoc") & (pl.col("measure") == "AP") & (pl.col("of") == of)
        row = result.tables["differences"].filter(chosen).row(0, named=True)
        assert row["pairs"] == len(one)
        assert row["difference_percent"] == pytest.approx(100 * (np.mean(two) - np.mean(one)))
        assert row["relative_percent"] == pytest.approx(100 * (np.mean(two) / np.mean(one) - 1))
        assert row["r"] == pytest.approx(stats.pearsonr(one, two).statistic)
        assert row["p"] == pytest.approx(stats.ttest_rel(two, one, alternative="greater").pvalue)
        assert row["star"] == ("*" if row["p"] < 0.001 else "")


def test_wrong_conclusions(archive: Path, result: Study) -> None:
    for measure in ("RR", "AP"):
        table = values(archive, "web", "1999", measure)
        wrong = 0
        for one, two in combinations(table, 2):
            said = []
            for ties in ("realistic", "conventional"):
                a, b = (np.array([table[run][ties][topic] for topic in table[run][ties]]) for run in (one, two))
                test = stats.ttest_rel(a, b)
                said.append(np.sign(test.statistic) if test.pvalue < 0.05 else 0)
            wrong += said[0] != said[1]
        chosen = (pl.col("edition") == "1999") & (pl.col("track") == "web") & (pl.col("measure") == measure)
        row = result.tables["conclusions"].filter(chosen).row(0, named=True)
        assert (row["pairs"], row["wrong"]) == (15, wrong)
        own = result.tables["conclusions"].filter(pl.col("measure") == measure)
        single, pooled = own.filter(pl.col("track") != "(all)"), own.filter(pl.col("track") == "(all)")
        assert pooled["wrong_percent"].to_list() == pytest.approx(
            [100 * single["wrong"].sum() / 60, single["wrong_percent"].max()]
        )


def test_rankings(archive: Path, result: Study) -> None:
    table = values(archive, "web", "2000", "AP")
    means = {ties: [np.mean(list(table[run][ties].values())) for run in table] for ties in INTERVAL}
    chosen = (pl.col("edition") == "2000") & (pl.col("track") == "web") & (pl.col("measure") == "AP")
    row = result.tables["rankings"].filter(chosen).row(0, named=True)
    expected = stats.kendalltau(means["realistic"], means["conventional"])
    assert (row["tau_rc"], row["p_rc"]) == pytest.approx((expected.statistic, expected.pvalue))
    ranks = [[1 + sum(other > own for other in means[ties]) for own in means[ties]] for ties in INTERVAL[:2]]
    assert row["moved"] == sum(a != b for a, b in zip(*ranks, strict=True))
    assert row["kept"] == 5  # without a quarter of six, rounded down
    pooled = result.tables["rankings"].filter((pl.col("track") == "(all)") & (pl.col("measure") == "AP"))
    editions = result.tables["rankings"].filter((pl.col("track") != "(all)") & (pl.col("measure") == "AP"))
    assert pooled["moved"].item() == editions["moved"].sum()
    assert pooled["moved_percent"].item() == pytest.approx(100 * editions["moved"].sum() / 24)
    systems = result.tables["systems"].filter(chosen)
    assert systems.sort("run")["rank_realistic"].to_list() == ranks[0]


def test_competition_ranks() -> None:
    assert competition_ranks(np.array([0.5, 0.9, 0.5, 0.1])).tolist() == [2, 1, 2, 4]


def test_lucky_lists(archive: Path, result: Study) -> None:
    best = []
    for edition in ("1999", "2000"):
        for run, by_ties in values(archive, "web", edition, "RR").items():
            for topic, low in by_ties["realistic"].items():
                best.append((1 / low - 1 / by_ties["conventional"][topic], edition, run, topic))
    table = result.tables["lucky_lists"].filter((pl.col("track") == "web") & (pl.col("measure") == "RR"))
    assert table["ranks_gained"].to_list() == pytest.approx(sorted((each[0] for each in best), reverse=True)[:3])
    assert table.height == 3


def read(folder: Path) -> dict[str, bytes]:
    """All files of a study but the results of single runs."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "work" not in path.parts
    }


def test_same_bytes_with_more_processes(archive: Path, tmp_path: Path) -> None:
    for jobs in (1, 2):
        write(study(archive, tmp_path / str(jobs), jobs=jobs), tmp_path / str(jobs))
    assert read(tmp_path / "1") == read(tmp_path / "2")


def test_only_what_changed_is_done_again(archive: Path, tmp_path: Path) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy)
    out = tmp_path / "out"
    study(copy, out)
    work = out / "work"
    before = {path.name: path.stat().st_mtime_ns for path in work.iterdir()}
    assert len(before) == 24
    changed = copy / "web" / "1999" / "runs" / "sys1"
    changed.write_text(changed.read_text().replace("sure 0 1", "sure 0 9"))
    (copy / "web" / "1999" / "runs" / "more").write_text(changed.read_text().replace("sys1", "more"))
    again = study(copy, out)
    assert again.about["archive"]["runs"] == 25
    after = {path.name: path.stat().st_mtime_ns for path in work.iterdir()}
    assert len(after) == 26
    assert before.items() <= after.items()


def test_broken_runs_are_left_out(archive: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy)
    (copy / "web" / "1999" / "runs" / "bad").write_text("1 Q0 A001 0 1 bad\n1 Q0 A002 0 nan bad\n")
    (copy / "web" / "1999" / "runs" / "other").write_text("999 Q0 A001 0 1 other\n")
    found = study(copy, tmp_path / "out")
    assert found.about["archive"]["broken"] == 2
    assert found.tables["broken"]["problem"][0].startswith(f"{copy}/web/1999/runs/bad:2: score is 'nan'")
    with pytest.raises(ExaequoError, match="bad:2"):
        study(copy, tmp_path / "strict", strict=True)
    assert command(["study", str(copy), "-o", str(tmp_path / "out"), "--jobs", "1"]) == 1
    said = capfd.readouterr()
    assert "left out:" in said.err
    assert "bad:2: score is 'nan'" in said.err
    assert "2 files could not be evaluated" in said.out


def test_a_broken_edition_is_left_out(archive: Path, tmp_path: Path) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy)
    (copy / "web" / "1999" / "qrels.txt").write_text("1 0 A001\n")
    found = study(copy, tmp_path / "out")
    assert found.about["archive"]["broken"] == 6
    assert found.tables["conclusions"].filter(pl.col("track") == "web")["edition"].unique().to_list() == ["2000"]


def test_judgments_in_parts(archive: Path, tmp_path: Path) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy)
    whole = copy / "web" / "1999" / "qrels.txt"
    lines = whole.read_text().splitlines(keepends=True)
    whole.with_name("qrels.part1").write_text("".join(lines[:200]))
    whole.with_name("qrels.part2").write_text("".join(lines[200:]))
    whole.unlink()
    one, two = study(archive, tmp_path / "one"), study(copy, tmp_path / "two")
    assert one.tables["systems"].equals(two.tables["systems"])
    whole.write_text("".join(lines[:1]))
    found = study(copy, tmp_path / "three")
    assert "is judged in more than one file" in found.tables["broken"]["problem"][0]


def test_manifest(archive: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "study.toml"
    manifest.write_text(
        f"""
[[edition]]
track = "adhoc"
edition = 1999
qrels = "{archive}/adhoc/1999/qrels.txt"
runs = ["{archive}/adhoc/1999/runs/sys?", "{archive}/adhoc/1999/runs/*.gz"]
"""
    )
    found = study(manifest, tmp_path / "out")
    assert found.about["archive"]["runs"] == 6
    for text, message in (
        ("x = 1", "there is no"),
        ("[[edition]]\ntrack = 'a'\nedition = 'b'\nqrels = 'none'\nruns = 'none'", "no file matches"),
        ("[[edition]]\nedition = 'b'", "no track"),
        ("[[edition", "not TOML"),
    ):
        manifest.write_text(text)
        with pytest.raises(InputError, match=message):
            find(manifest)


def test_archives_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        find(tmp_path / "nothing")
    with pytest.raises(InputError, match="no edition in this folder"):
        find(tmp_path)
    (tmp_path / "web" / "1999" / "runs").mkdir(parents=True)
    (tmp_path / "web" / "1999" / "qrels.txt").write_text("1 0 a 1\n")
    with pytest.raises(InputError, match="no edition in this folder"):
        find(tmp_path)


def test_incomplete_editions_are_left_out(archive: Path, tmp_path: Path) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy)
    (copy / "zz" / "1").mkdir(parents=True)
    (copy / "zz" / "1" / "qrels").write_text("1 0 a 1\n")
    (copy / ".hidden" / "1" / "runs").mkdir(parents=True)
    (copy / "web" / "1999" / "qrels.txt~").write_text("nonsense")
    (copy / "web" / "1999" / "runs" / "folder").mkdir()
    found = study(copy, tmp_path / "out")
    assert [row["problem"].split("; ")[0].split(": ")[1] for row in found.tables["broken"].to_dicts()] == [
        "cannot be read (Is a directory)",
        "there are no runs",
    ]
    assert found.about["archive"]["editions"] == 4
    with pytest.raises(ExaequoError, match="there are no runs"):
        study(copy, tmp_path / "out", strict=True)
    study(copy, tmp_path / "out", tracks=["adhoc"], strict=True)  # what is not asked for does not matter


def test_measures_of_all_kinds(archive: Path, tmp_path: Path) -> None:
    """Undefined topics, geometric means, and measures of which less is better."""
    found = study(archive, tmp_path / "out", measures="BreakEven gm(AP) AP Noise@5 PDoc(doc='A001')")
    wrong = found.tables["conclusions"].filter(pl.col("measure") == "BreakEven")
    assert wrong["wrong"].drop_nulls().sum() == 0  # ties cannot change it
    systems = {m: found.tables["systems"].filter(pl.col("measure") == m) for m in ("AP", "gm(AP)", "Noise@5")}
    assert systems["gm(AP)"]["realistic"].max() < systems["AP"]["realistic"].max()  # type: ignore[operator]
    one = systems["gm(AP)"].row(0, named=True)
    place = archive / one["track"] / one["edition"]
    runs = {path.name.split(".")[0]: path for path in (place / "runs").iterdir()}
    assert one["realistic"] == pytest.approx(evaluate(place / "qrels.txt", runs[one["run"]], "gm(AP)").mean("gm(AP)"))
    best = systems["Noise@5"].filter(pl.col("rank_realistic") == 1)
    assert (
        best["realistic"].max()
        == systems["Noise@5"].group_by("track", "edition").agg(pl.col("realistic").min())["realistic"].max()
    )
    lucky = found.tables["lucky_lists"].filter(pl.col("measure") == "Noise@5")
    assert lucky.height > 0
    assert (lucky["conventional"] < lucky["realistic"]).all()
    chosen = (pl.col("measure") == "Noise@5") & (pl.col("of") == "lists") & (pl.col("track") == "(all)")
    assert found.tables["differences"].filter(chosen)["p"].item() < 0.05  # names help, that is lower it


def test_names_in_brackets(archive: Path, tmp_path: Path) -> None:
    """Only what sums are called is taken."""
    for name in ("(2003)", "(average)"):
        shutil.copytree(archive / "web" / "1999", tmp_path / name / "web" / name)
    write(study(tmp_path / "(2003)", tmp_path / "out"), tmp_path / "out")
    assert "<td>(2003)</td>" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match=r"there is web \(average\); expected other names than \(all\), "):
        study(tmp_path / "(average)", tmp_path / "out")


def test_a_track_may_be_called_all(archive: Path, tmp_path: Path) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive / "web", copy / "all")
    found = study(copy, tmp_path / "out")
    assert found.tables["ties"].filter(pl.col("track") == "all").height == 4
    assert found.tables["ties"].filter(pl.col("track") == "(all)").height == 2


def test_damaged_results_are_made_again(archive: Path, tmp_path: Path) -> None:
    one = study(archive, tmp_path / "out")
    damaged = next((tmp_path / "out" / "work").iterdir())
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert study(archive, tmp_path / "out").tables["systems"].equals(one.tables["systems"])


def test_names_of_files_that_are_names_of_runs(archive: Path, tmp_path: Path) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive / "web" / "1999", copy / "web" / "1999")
    for path in (copy / "web" / "1999" / "runs").iterdir():
        path.unlink()
    table = copy / "web" / "1999" / "runs" / "alpha.csv"
    table.write_text("qid,docno,score\n" + "".join(f"{topic},sure,1\n" for topic in range(1, 13)))
    assert study(copy, tmp_path / "out").tables["systems"]["run"].to_list() == ["alpha", "alpha"]
    table.rename(table.with_name("beta.csv"))
    assert study(copy, tmp_path / "out").tables["systems"]["run"].to_list() == ["beta", "beta"]


def test_remarks(archive: Path, tmp_path: Path) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive, copy)
    (copy / "web" / "1999" / "runs" / "short").write_text("1 Q0 sure 0 1 short\n99 Q0 x 0 1 short\n")
    found = study(copy, tmp_path / "out")
    own = found.tables["remarks"].filter(pl.col("file").str.ends_with("short"))["remark"].to_list()
    assert any("1 topic nobody judged" in text for text in own)
    assert any("11 of 12 evaluated topics missing" in text for text in own)


def test_requests_that_cannot_be(archive: Path, tmp_path: Path) -> None:
    for options in ({"rel_level": 0.0}, {"depth": 0}, {"top": -1}, {"alpha": 1.0}):
        with pytest.raises(BadParameter):
            study(archive, tmp_path / "out", **options)
    (tmp_path / "file").write_text("")
    with pytest.raises(ExaequoError, match="cannot be the folder"):
        study(archive, tmp_path / "file")


@pytest.mark.soak
def test_killed_and_started_again(tmp_path: Path) -> None:
    """Killed at random moments, a study ends with the same bytes as one that was left alone."""
    archive = tmp_path / "archive"
    write_archive(archive, scale=0.05, seed=3)
    arguments = [sys.executable, "-m", "exaequo", "study", str(archive), "--jobs", "2", "-o"]
    start = time.monotonic()
    subprocess.run([*arguments, str(tmp_path / "left alone")], check=True, capture_output=True)
    whole = time.monotonic() - start
    source = random.Random(int(whole * 1000))
    for at in range(6):
        process = subprocess.Popen(
            [*arguments, str(tmp_path / "killed")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(source.uniform(0.2, 0.9) * whole)
        if at % 2:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()  # its workers have to notice by themselves
        process.wait()
    subprocess.run([*arguments, str(tmp_path / "killed")], check=True, capture_output=True)
    assert read(tmp_path / "killed") == read(tmp_path / "left alone")


def test_a_process_that_is_killed_is_made_up_for(archive: Path, tmp_path: Path) -> None:
    seen = []

    def kill(_done: Done, number: int, _total: int) -> None:
        if number == 1:
            multiprocessing.active_children()[0].kill()
        seen.append(number)

    found = study(archive, tmp_path / "killed", jobs=2, progress=kill)
    assert seen == list(range(1, 25))
    assert not found.broken
    write(found, tmp_path / "killed")
    write(study(archive, tmp_path / "left alone"), tmp_path / "left alone")
    assert read(tmp_path / "killed") == read(tmp_path / "left alone")


#: What every new process runs first: reading some file kills it, or it does not even begin.
_KILLS = """
import hashlib, os, signal
whole = hashlib.file_digest
def file_digest(file, name):
    if file.name.endswith("deadly"):
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(file, name)
hashlib.file_digest = file_digest
"""


def test_runs_that_kill_their_process_are_left_out(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "archive"
    shutil.copytree(archive / "web", copy / "web")
    deadly = [copy / "web" / place for place in ("1999/runs/deadly", "2000/runs/very-deadly")]
    for path in deadly:
        shutil.copy(path.with_name("sys1"), path)
    (tmp_path / "sitecustomize.py").write_text(_KILLS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    found = study(copy, tmp_path / "out", jobs=2)
    assert found.about["archive"]["runs"] == 12
    assert [each.run for each in found.broken] == [str(path) for path in deadly]
    problem = found.tables["broken"]["problem"][0]
    assert problem.startswith(f"{deadly[0]}: the process that evaluated it ended, perhaps because the file is damaged")
    assert "free memory" in problem
    assert found.tables["systems"].equals(study(archive, tmp_path / "sound", tracks=["web"]).tables["systems"])
    with pytest.raises(ExaequoError, match="deadly: the process that evaluated it ended"):
        study(copy, tmp_path / "strict", jobs=2, strict=True)


def test_processes_that_cannot_begin(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os\nos._exit(1)\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with pytest.raises(ExaequoError, match="ended before it began"):
        study(archive, tmp_path / "out", jobs=2)
    assert "POLARS_MAX_THREADS" not in os.environ


@pytest.mark.skipif(sys.platform == "win32", reason="processes are begun in another way")
def test_a_process_dies_while_the_next_begins(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = multiprocessing.util.spawnv_passfds

    def late(*given: Any) -> Any:
        time.sleep(1)  # meanwhile the pool finds the one before dead, and closes what this one was to inherit
        return begin(*given)

    (tmp_path / "sitecustomize.py").write_text("import os\nos._exit(1)\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr(multiprocessing.util, "spawnv_passfds", late)
    with pytest.raises(ExaequoError, match="ended before it began"):
        study(archive, tmp_path / "out", jobs=2)
