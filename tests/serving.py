"""The command `exaequo`, with the collection of these tests in place of one from files: `serving.py judge POOL ...`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl

from exaequo import cli
from exaequo.read import collection
from waiting import PATIENCE

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
    "d1": (
        "Panels under snow",
        "Cold does little harm: a solar panel works better at -5 °C than at 35 °C. What counts is light, and snow.\n\n"
        "In the winters of three years, 40 roofs were measured. Under 2 cm of snow a panel still gave a fifth of its "
        "yield; under 5 cm, nothing. Steep panels were free again after a day, flat ones after nine.\n\n"
        "Over the year, snow cost 3 % of the yield.",
    ),
    "d2": ("A recipe for soup", "Cut the leeks, and let them stew in butter.\n\nAdd water. Serve in winter. " * 6),
    "d3": HOSTILE,
    "d4": ("", "Yields of a solar roof, month by month: winter gives a fifth of what summer gives."),
    "d5": ("A long one", "winter solar words " * (LONG // 19)),
    "d6": ("L'école fermée", "Les écoles ferment en été."),
}
POOL = "qid\tdocno\tsystems\n" + "".join(f"1\td{at}\t3\n" for at in range(1, 6)) + "2\td6\t1\n2\td2\t1\n"


def sample(where: str) -> collection.Collection:
    """Return the same collection, whatever is asked for."""
    documents = pl.DataFrame(
        [(docno, *both) for docno, both in TEXTS.items()], schema=["docno", "title", "text"], orient="row"
    )
    topics = pl.DataFrame(TOPICS, schema=["qid", "title", "description", "narrative"], orient="row")
    return collection.Collection(where, documents, topics)


class Served:
    """The judging page, served by the command in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        (folder / "pool.tsv").write_text(POOL, encoding="utf-8")
        command = [sys.executable, __file__, "judge", "pool.tsv", "sample", *options]
        self.folder = folder
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, env={**os.environ})
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()
        self.link = self.process.stdout.readline().strip()
        self.origin, _, self.token = self.link.partition("/?token=")

    @property
    def port(self) -> int:
        return int(self.origin.rpartition(":")[2])

    @property
    def db(self) -> Path:
        return self.folder / "pool.judged.db"

    def end(self, how: signal.Signals = signal.SIGINT) -> int:
        """End it; return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


if __name__ == "__main__":
    vars(collection)["read_collection"] = sample
    sys.exit(cli.run(sys.argv[1:]))
