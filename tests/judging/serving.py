"""The command `exaequo`, with the collection of these tests in place of one from files: `serving.py judge POOL ...`."""

from __future__ import annotations

import sys

import polars as pl

from exaequo import cli
from exaequo.read import collection

LONG = 1_000_000
HOSTILE = (
    "</title><script>window.PWN=1</script><img src=x onerror=window.PWN=1>",
    "<script>window.PWN=1</script></div></main></script><!-- <svg onload=window.PWN=1> "
    "\u202egnitirw tfel-ot-thgir\u202c \u2067עברית\u2069 &lt;b&gt; {{ 7*7 }} ${PWN=1} \u0000 solar\n",
)
TOPICS = [
    (
        "1",
        "solar panels in winter",
        "How well do solar panels work in winter?",
        "A relevant document gives figures, or says what snow and cold do to panels. Advertising is not relevant.",
    ),
    ("2", "<b>école</b> & l'été", "", ""),
]
TEXTS = {
    "d1": ("Panels under snow", "Solar panels lose little in the cold. A panel under snow gives nothing. " * 12),
    "d2": ("A recipe for soup", "Cut the leeks, and let them stew in butter.\n\nAdd water. Serve in winter. " * 6),
    "d3": HOSTILE,
    "d4": ("", "Yields of a solar roof, month by month: winter gives a fifth of what summer gives."),
    "d5": ("A long one", "winter solar words " * (LONG // 19)),
    "d6": ("L'école fermée", "Les écoles ferment en été."),
}
POOL = "qid\tdocno\tsystems\n" + "".join(f"1\td{at}\t3\n" for at in range(1, 6)) + "2\td6\t1\n2\td2\t1\n"


def sample(where: str) -> collection.Collection:
    """Return the same collection, whatever is asked for."""
    documents = pl.DataFrame([(docno, *both) for docno, both in TEXTS.items()], schema=["docno", "title", "text"], orient="row")
    topics = pl.DataFrame(TOPICS, schema=["qid", "title", "description", "narrative"], orient="row")
    return collection.Collection(where, documents, topics)


if __name__ == "__main__":
    vars(collection)["read_collection"] = sample
    sys.exit(cli.run(sys.argv[1:]))
