"""Draw the pictures of the documentation, docs/pictures/*.svg, from the sample data."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import exaequo
from exaequo import plot
from exaequo.plot import Chart

TARGET = Path(__file__).parent.parent / "docs" / "pictures"


def pictures() -> dict[str, Chart]:
    """Return the pictures listed here, and of each kind that is not the one of all runs."""
    qrels, runs = exaequo.sample()
    by_name = {run.name: run for run in runs}
    bm25, hybrid, graded = (by_name[name] for name in ("bm25", "hybrid", "llm-judge"))
    bm25_boolean = [decisions(qrels, by_name[name]) for name in ("bm25", "boolean")]
    listed = {
        "curve": plot.curve(qrels, runs, f_lines=True),
        "curve-topic": plot.curve(qrels, [bm25, hybrid], topic="401"),
        "curve-every-topic": plot.curve(qrels, [hybrid]),
        "recall-rnorm": plot.recall(qrels, [bm25], topic="402", measure="RNorm(docs=200)"),
        "recall": plot.recall(qrels, [bm25], topic="402", measure="PRES@50"),
        "recall-two": plot.recall(qrels, [bm25, hybrid], topic="402", measure="PRES@50"),
        "recall-mor": plot.recall(qrels, [bm25], topic="402", measure="MOR@50"),
        "single": plot.single(),
        "tie-groups": plot.tie_groups(qrels, [graded]),
        "topics": plot.topics(qrels, [bm25, graded]),
        "scatter": plot.scatter(qrels, [bm25, graded]),
        "threshold": plot.threshold(qrels, [hybrid]),
        "threshold-two": plot.threshold(qrels, [bm25, by_name["boolean"]]),
        "filters": plot.filters(qrels, [bm25, by_name["boolean"], by_name["dense-fp16"]], threshold=5.0),
        "stream": plot.stream({"bm25": bm25_boolean[0]}, threshold=8.0),
        "stream-two": plot.stream(dict(zip(("bm25", "boolean"), bm25_boolean, strict=True)), threshold=5.0, window=200),
    }
    return listed | {kind: draw(qrels, runs) for kind, draw in plot.KINDS.items() if kind not in listed}


def decisions(qrels: exaequo.Qrels, run: exaequo.Run) -> pl.DataFrame:
    """Return a run as a table of decisions, its documents in the order of their names."""
    judged = run.frame.join(qrels.frame.select("qid", "docno", "rel"), on=["qid", "docno"], how="left")
    columns = {"theme": "qid", "docno": "docno", "y_true": pl.col("rel").fill_null(0), "y_score": "sim"}
    return judged.select(**columns, time=pl.col("docno").rank("dense"))  # type: ignore[arg-type]


def draw() -> None:
    """Write them all."""
    TARGET.mkdir(exist_ok=True)
    for name, picture in pictures().items():
        picture.save(TARGET / f"{name}.svg")


if __name__ == "__main__":
    draw()
