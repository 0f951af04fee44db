"""`exaequo demo`: an experiment on a small collection, from texts to a verdict; or sample files to play with."""

from __future__ import annotations

import shlex
import textwrap
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exaequo.choices import MEASURES
from exaequo.cli import output
from exaequo.cli.experiment import saved
from exaequo.cli.files import DIR
from exaequo.cli.options import speaks
from exaequo.errors import DataWarning
from exaequo.language import say

if TYPE_CHECKING:
    from exaequo.searching.experiments import Experiment

#: Four models, each with words as they are and stemmed.
SYSTEMS = tuple(model + stem for model in ("coordination", "tfidf", "bm25", "ql-dirichlet") for stem in ("", "-stem"))
#: What the sentences compare with the baseline, and what the picture shows.
BASELINE, STEMMED = "bm25", "bm25-stem"
TOLD = (STEMMED, "coordination", "ql-dirichlet")
#: Documents of each list that go into the pool.
POOLED = 10
#: The longest line, where the terminal is no narrower.
WIDTH = 98


@click.command()
@click.argument("collection", default="crossings")
@click.option("-o", "--output", "folder", type=DIR, default="exaequo-demo", show_default=True, help="For the files.")
@click.option("--save", "sample", type=DIR, help="Write sample files there instead: judgments and runs.")
@speaks
def demo(collection: str, folder: str, sample: str | None) -> None:
    """Run eight systems on a small COLLECTION that comes along, or another: scores, costs, verdicts, files."""
    if sample is not None:
        from exaequo import sampledata

        for path in sampledata.sample().save(sample):
            output.show_text(str(path))
        return
    from exaequo.searching.experiments import perform
    from exaequo.writing import make_folder

    make_folder(folder)  # before the work, not after
    result = perform(collection, SYSTEMS, MEASURES)
    output.warn(*result.warnings)
    with warnings.catch_warnings(action="ignore", category=DataWarning):  # they have been given
        said = f"{_verdicts(result)}\n{_pool(result)}"
    parts = [_collection(result), result.text("AP", width=output.width(), speed=False), said]
    output.show_text("\n\n".join(parts) + "\n")
    files = [path.name for path in saved(result, folder, (BASELINE, STEMMED)) if path.parent == Path(folder)]
    written = say("Written to {folder}: {files}", folder=folder, files=", ".join([*files, "runs/*"]))
    output.show_text("\n\n".join([_wrapped(written), _again(collection, folder)]))


def _wrapped(text: str) -> str:
    width = min(output.room()[0], WIDTH)
    return textwrap.fill(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _collection(result: Experiment) -> str:
    """Say what the collection is, and what is done with it."""
    grades = result.qrels.frame["rel"]
    what = say(
        "{name}: {documents:,} documents, {topics:,} topics, {judged:,} judgments, {relevant:,} of them relevant.",
        name=result.collection.name,
        documents=result.collection.documents.height,
        topics=result.collection.topics.height,
        judged=len(grades),
        relevant=int((grades > 0).sum()),
    )
    done = say(
        "Eight systems answered the titles of the topics: four models, with words as they are and stemmed. Documents "
        "with equal scores stand relevant last (realistic), by name (conventional), relevant first (optimistic)."
    )
    return f"{_wrapped(what)}\n{_wrapped(done)}"


def _verdicts(result: Experiment) -> str:
    """Say what the comparison with the baseline says of some systems."""
    comparison = result.compare(baseline=BASELINE)
    pairs = comparison.pairs.filter(comparison.pairs["measure"] == "AP")
    said = dict(pairs.select("two", "verdict").rows())
    return "\n".join(_wrapped(said[name]) for name in TOLD if name in said)


def _pool(result: Experiment) -> str:
    """Say what judges would get to see."""
    from exaequo.pooling import pool

    found = pool(list(result.runs.values()), POOLED, qrels=result.qrels)
    what = say(
        "Pool at depth {depth}: {n:,} documents, {more:,} by ties there; {judged:,} judged, {relevant:,} relevant.",
        depth=POOLED,
        n=found.frame.height,
        more=found.more_by_ties,
        judged=found.topics["judged"].sum(),
        relevant=found.topics["relevant"].sum(),
    )
    return _wrapped(what)


def _again(collection: str, folder: str) -> str:
    """Return the commands that do each step again."""
    from exaequo.read.collection import SHIPPED

    place = shlex.quote(collection if collection in SHIPPED else str(Path(collection).absolute()))
    commands = (
        f"exaequo search {place} --model bm25 --stem -o runs/bm25-stem.txt",
        "exaequo eval qrels.txt runs/* --ties all",
        "exaequo compare qrels.txt runs/* --baseline bm25",
        "exaequo plot curve qrels.txt runs/bm25.txt runs/bm25-stem.txt -o curves.svg",
        f"exaequo pool runs/* --depth {POOLED} --qrels qrels.txt",
    )
    return "\n  ".join([say("Each step again, in {folder}:", folder=folder), *commands])
