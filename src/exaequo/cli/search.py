"""`exaequo search`: what a built-in system finds in a collection, as a run."""

from __future__ import annotations

import click

from exaequo.choices import MODELS, SEARCH_DEPTH, TOPIC_FIELDS
from exaequo.cli import output
from exaequo.cli.files import FILE
from exaequo.cli.options import depth_option

#: Adds what of a topic is asked.
field_option = click.option(
    "--field",
    "fields",
    type=click.Choice(TOPIC_FIELDS),
    default=TOPIC_FIELDS[0],
    show_default=True,
    help="The query.",
)


@click.command()
@click.argument("collection")
@click.option(
    "--model",
    default="bm25",
    show_default=True,
    metavar="MODEL",
    help=f"{', '.join(MODELS)}; with parameters as in 'bm25(k1=0.9,b=0.4)'.",
)
@click.option("--stem/--no-stem", default=False, show_default=True, help="Stem words (Snowball).")
@click.option("--stop/--no-stop", default=True, show_default=True, help="Leave stop words out.")
@depth_option(SEARCH_DEPTH)
@field_option
@click.option("-o", "--output", "path", type=FILE, metavar="RUN", help="Write there instead of to standard output.")
def search(collection: str, model: str, stem: bool, stop: bool, depth: int, fields: str, path: str | None) -> None:
    """Search COLLECTION (a folder, or a shipped name) for its topics, and write the lists as a run."""
    output.check_paths((), path)
    from exaequo.listing import run_text
    from exaequo.searching.notation import System
    from exaequo.searching.retrieval import collection_of, search_collection

    system = System.of(model, stem=stem, stop=stop)
    run, remarks = search_collection(collection_of(collection), system, fields, depth)
    output.warn(*remarks)
    output.write(run_text(run.frame, run.name, collection), path)
