"""The works of the benchmark: the data of each, made from a seed, and the tools that do it.

`exaequo` comes first where there is a peer; all others are compared with the first.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import arrays
import tools
from programs import COLD, command, program, scan
from tools import PAIRS, Call, drop_in, often, ours, pytrec_eval_files

Prepare = Callable[[Path], Call]
SIX = tuple(PAIRS.values())
OFFICIAL = ("map", "ndcg", "P.10", "recip_rank", "recall.1000", "bpref")
#: The tools that break ties as trec_eval does: their values agree on any data.
FILES: Mapping[str, Prepare] = {
    "exaequo": ours(),
    "pytrec_eval": pytrec_eval_files(SIX),
    "ir_measures": tools.ir_measures_files,
    "trec_eval": program(*OFFICIAL),
    "C scan": scan,
}
#: From 48 MB on other processes help; and without them.
ALONE = "exaequo, one process"
MANY = {"exaequo": ours(), ALONE: ours(alone=True), **FILES}
#: Without the one that takes minutes for millions of lines; the same beside what reads the columns alone; without the
#: one that takes hours for as many topics, as it looks for each among all of them.
PATIENT = {tool: does for tool, does in MANY.items() if tool != "ir_measures"}
LARGE = {**PATIENT, "columns alone": tools.columns}
TOPICS = {tool: does for tool, does in FILES.items() if tool != "trec_eval"}


#: What files are that are less clean than those of the other works.
STYLES = {
    "exponents": "one run, scores such as 1.234e-07",
    "accents": "one run, one document called é",
    "scattered": "one run, lines in any order",
}
READERS = {tool: does for tool, does in FILES.items() if tool in ("exaequo", "pytrec_eval", "trec_eval")}


@dataclass(frozen=True)
class Shape:
    """How large a collection is, how many runs it has, how many different scores lists have, if that is fixed.

    `style` is one of `STYLES`.
    """

    topics: int
    depth: int
    judged: int
    runs: int = 1
    scores: int | None = None
    style: str = ""


@dataclass(frozen=True)
class Work:
    """A work: its title, its data at full size and for a quick look, who does it, and how often."""

    title: str
    shape: Shape
    quick: Shape
    does: Mapping[str, Prepare]
    rounds: int = 9


ONE, SMALL = Shape(50, 1000, 1500), Shape(20, 500, 300)
#: ranx leaves ties as they come: one document more at rank 10, in one topic of 50, is 0.002. trec_eval prints four
#: decimals; two samples of 10,000 differ in the second.
_CLOSE = {"ranx": 5e-3, "exaequo for ranx": 5e-3, "trec_eval": 5.1e-5, "scipy": 2e-2}
_EXAEQUO = ("EXAEQUO",)
TINY = Shape(3, 10, 10)
#: All measures of the drop-in that need no parameters of their own.
EVERY = ("all_trec",)

WORKS = {
    "one": Work("one run, files to six measures", ONE, SMALL, {**FILES, "ranx": tools.ranx_files}, 15),
    "all_trec": Work(
        "one run, all measures of trec_eval",
        ONE,
        SMALL,
        {
            "exaequo": drop_in(EVERY),
            "pytrec_eval": pytrec_eval_files(EVERY),
            "trec_eval": program("all_trec"),
        },
    ),
    "forty": Work("40 runs", Shape(50, 1000, 1500, 40), Shape(20, 500, 300, 4), PATIENT, 5),
    "hundred": Work("100 runs", Shape(50, 1000, 1500, 100), Shape(20, 500, 300, 10), MANY, 3),
    "five": Work("one run of 5 million lines", Shape(5000, 1000, 50), Shape(200, 1000, 50), LARGE, 3),
    "large": Work("one run of 7 million lines", Shape(6980, 1000, 50), Shape(300, 1000, 50), LARGE, 3),
    "tie": Work("a run that is one big tie", Shape(50, 1000, 1500, 1, 1), Shape(20, 500, 300, 1, 1), FILES),
    **{
        style: Work(title, replace(ONE, style=style), replace(SMALL, style=style), READERS)
        for style, title in STYLES.items()
    },
    "wide": Work("500,000 topics, one judgment each", Shape(500_000, 2, 1), Shape(20_000, 2, 1), TOPICS, 3),
    "objects": Work(
        "dicts in memory to six measures",
        ONE,
        SMALL,
        {
            "exaequo": tools.ours_in_memory,
            "pytrec_eval": tools.pytrec_eval_dicts(),
            "ir_measures": tools.ir_measures_in_memory,
            "ranx": tools.ranx_in_memory,
        },
        15,
    ),
    "frames": Work(
        "frames of pandas to six measures",
        ONE,
        SMALL,
        {"exaequo": tools.ours_frames, "ir_measures": tools.ir_measures_frames},
        7,
    ),
    "every": Work(
        "dicts in memory, all measures through the drop-in",
        ONE,
        SMALL,
        {"exaequo": tools.drop_in_dicts(EVERY), "pytrec_eval": tools.pytrec_eval_dicts(EVERY)},
        15,
    ),
    "tiny": Work(
        "three topics of ten documents in dicts",
        TINY,
        TINY,
        {
            "exaequo": often(200, tools.ours_in_memory),
            "exaequo for pytrec_eval": often(200, tools.drop_in_dicts()),
            "exaequo for ir_measures": often(200, tools.as_ir_measures),
            "pytrec_eval": often(200, tools.pytrec_eval_dicts()),
            "ir_measures": often(200, tools.ir_measures_in_memory),
        },
        15,
    ),
    "kept": Work(
        "the same objects again and again",
        ONE,
        SMALL,
        {
            "exaequo": often(5, tools.ours_kept),
            "exaequo for ranx": often(5, tools.as_ranx_kept),
            "exaequo of ranx": often(5, tools.ours_of_ranx),
            "ranx": often(5, tools.ranx_kept),
        },
        15,
    ),
    "matrix": Work(
        "1,000 lists of 100, all judged, nDCG from arrays",
        SMALL,
        SMALL,
        {"exaequo": arrays.ours_matrix, "scikit-learn": arrays.sklearn_matrix},
        15,
    ),
    "cold": Work(
        "the command line, cold",
        ONE,
        SMALL,
        {
            "exaequo eval": command(*_EXAEQUO, "eval", "QRELS", "RUN"),
            "exaequo trec_eval -m map": command(*_EXAEQUO, "trec_eval", "-m", "map", "QRELS", "RUN"),
            "exaequo --help": command(*_EXAEQUO, "--help"),
            "import numpy": command("PYTHON", "-c", "import numpy"),
            "pytrec_eval": command("PYTHON", "-c", COLD, "QRELS", "RUN"),
            "ir_measures": command("PYTHON", "-m", "ir_measures", "QRELS", "RUN", "AP nDCG P@10"),
            "trec_eval": command("trec_eval", "-m", "map", "QRELS", "RUN"),
        },
        11,
    ),
    "strategies": Work(
        "conventional alone, and three strategies together",
        ONE,
        SMALL,
        {
            "conventional": ours(),
            "three strategies": ours(ties=("conventional", "realistic", "optimistic")),
            "and tie statistics": tools.ours_with_statistics,
        },
        15,
    ),
    "measures": Work(
        "one ranked measure, and more",
        ONE,
        SMALL,
        {
            "one measure": ours(tools.TEN[:1]),
            "two measures": ours(tools.TEN[:2]),
            "five measures": ours(tools.TEN[:5]),
            "ten measures": ours(tools.TEN),
        },
        15,
    ),
    "permutation": Work(
        "permutation tests of 45 pairs",
        SMALL,
        SMALL,
        {"exaequo": arrays.ours_permutation, "scipy": arrays.scipy_permutation},
        5,
    ),
}


@dataclass(frozen=True)
class Aim:
    """What a work should show: how many times the time of ours another tool takes, at least."""

    work: str
    other: str
    least: float
    ours: str = "exaequo"


AIMS = (
    *(Aim("one", other, least) for other, least in {"pytrec_eval": 4, "ir_measures": 7, "C scan": 1 / 2}.items()),
    *(
        Aim(work, other, least)
        for work in ("forty", "hundred")
        for other, least in {"pytrec_eval": 6, "trec_eval": 5}.items()
    ),
    *(
        Aim(work, other, least)
        for work in ("five", "large")
        for other, least in {"pytrec_eval": 5, "C scan": 1 / 2, "columns alone": 1 / 2}.items()
    ),
    *(
        Aim("tiny", "pytrec_eval", 1 / 5, ours)
        for ours in ("exaequo", "exaequo for pytrec_eval", "exaequo for ir_measures")
    ),
    Aim("objects", "pytrec_eval", 1.5),
    Aim("every", "pytrec_eval", 1),
    *(Aim("kept", "ranx", 2, ours) for ours in ("exaequo", "exaequo for ranx", "exaequo of ranx")),
    Aim("cold", "import numpy", 1 / 2, "exaequo trec_eval -m map"),
    Aim("cold", "import numpy", 1 / 3, "exaequo eval"),
    Aim("cold", "import numpy", 1, "exaequo --help"),
    *(Aim("strategies", "conventional", 1 / 1.2, ours) for ours in ("three strategies", "and tie statistics")),
    Aim("measures", "one measure", 1 / 1.5, "ten measures"),
)
#: The most memory, in MB, that a run of millions of lines may take.
MOST = {"five": 1500, "large": 1500}


def present(work: Work) -> dict[str, Prepare]:
    """Return the tools that can be had here."""
    lacking = {"trec_eval": "trec_eval", "C scan": "cc"}
    return {tool: does for tool, does in work.does.items() if tool not in lacking or shutil.which(lacking[tool])}


def tolerance(tool: str, *, ties: bool = True) -> float:
    """Return by how much values may differ from ours, on data with ties or without."""
    return 1e-9 if tool == "ranx" and not ties else _CLOSE.get(tool, 1e-9)


def write(folder: Path, shape: Shape, seed: int = 1) -> Path:
    """Write judgments and runs; a tenth of the judged documents are relevant."""
    source = random.Random(seed)
    (folder / "runs").mkdir(parents=True)
    with (folder / "qrels.txt").open("w") as judgments:
        streams = [(folder / "runs" / f"run{number:03d}.txt").open("w") for number in range(shape.runs)]
        for topic in range(301, 301 + shape.topics):
            pool = [
                f"FBIS{n // 1000}-{n % 1000:05d}" for n in source.sample(range(1_000_000), shape.depth + shape.judged)
            ]
            # Topics with nothing relevant are left out by some tools, and score 0 with others.
            grades = [1, *source.choices((0, 1, 2), weights=(18, 1, 1), k=shape.judged - 1)]
            chosen = source.sample(pool, shape.judged)
            judgments.writelines(f"{topic} 0 {d} {g}\n" for d, g in zip(chosen, grades, strict=True))
            for stream in streams:
                stream.writelines(_list_of(topic, source.sample(pool, shape.depth), shape, source))
        for stream in streams:
            stream.close()
    if shape.style == "scattered":
        for path in (folder / "runs").iterdir():
            lines = path.read_text().splitlines(keepends=True)
            path.write_text("".join(source.sample(lines, len(lines))))
    return folder


def _list_of(topic: int, documents: list[str], shape: Shape, source: random.Random) -> list[str]:
    if shape.style == "accents" and topic == 301:
        documents = ["é", *documents[1:]]
    sims = sorted((round(source.random() * 20, 3) if shape.scores is None else 1.0 for _ in documents), reverse=True)
    form = "{:.3e}" if shape.style == "exponents" else "{}"
    small = 1e-8 if shape.style == "exponents" else 1
    both = enumerate(zip(documents, sims, strict=True), 1)
    return [f"{topic} Q0 {d} {n} {form.format(sim * small)} sys\n" for n, (d, sim) in both]
