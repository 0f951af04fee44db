"""What every reader promises, whatever the bytes: a result or an error of ours, printable, in linear time.

`TARGETS` has an entry for each reader and each notation, with seeds to begin from; `check` holds one to its word.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import tarfile
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from backports import zstd

from exaequo.errors import ExaequoError
from exaequo.gating.configuration import configuration
from exaequo.gating.slices import read_slices
from exaequo.judging.exporting import judgments, provenance
from exaequo.judging.pool import read_pool
from exaequo.judging.record import Record
from exaequo.measures import parse_measures
from exaequo.options import Options
from exaequo.read import read_metadata, read_qrels, read_run
from exaequo.read.collection import read_collection, read_documents, read_topics
from exaequo.read.collection.files import File
from exaequo.read.collection.relevance import judgments as relevance
from exaequo.read.decisions import read_decisions
from exaequo.read.metadata import plain_values
from exaequo.read.orderings import read_orderings
from exaequo.searching.notation import System
from exaequo.study.archive import find
from exaequo.text import printable
from exaequo.trec_eval import command

#: Seconds that anything may take, and those for each byte on top of it. Readers take less than a tenth of it.
SECONDS, SECONDS_PER_BYTE = 1.0, 2e-5
RUN = "".join(f"{qid} Q0 d{at} {at} {9 - at // 2}.5 bm25\n" for qid in (1, 2) for at in range(1, 5)).encode()
QRELS = "".join(f"{qid} 0 d{at} {at % 3 - 1}\n" for qid in (1, 2) for at in range(1, 5)).encode()


class Target(NamedTuple):
    """What reads a file, what the file is called, and what it may hold to begin with."""

    read: Callable[[Path], object]
    file: str
    seeds: tuple[bytes, ...]


class Broken(AssertionError):
    """A reader that kept its word about errors, but not about what it returns or how long it takes."""


def check(name: str, data: bytes) -> object:
    """Hold a target to its word: return what it read, None if it refused. Whatever else is raised breaks it."""
    target = TARGETS[name]
    path = _folder() / target.file
    path.write_bytes(data)
    start = thread_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = target.read(path)
    except ExaequoError as error:
        found = None
        said = printable(str(error))
        if not said.strip() or not said.replace("\n", "").replace("\t", "").replace("\xa0", "").isprintable():
            raise Broken(f"not printable: {said!r:.200}") from None
    taken = thread_time() - start
    if taken > SECONDS + SECONDS_PER_BYTE * len(data):
        raise Broken(f"{taken:.1f} seconds for {len(data):,} bytes")
    return found


def stretched(data: bytes, start: int, stop: int, size: int = 100_000) -> bytes:
    """Return data with a piece of it over and over, about so long: what takes more than linear time shows."""
    piece = data[start:stop] or data
    return data[:start] + piece * (size // max(1, len(piece))) + data[stop:]


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))  # noqa: S108 - memory
    (folder / "qrels").write_bytes(QRELS)
    (folder / "results").write_bytes(RUN)
    (folder / "runs").mkdir()
    (folder / "runs" / "a.txt").write_bytes(RUN)
    return folder


# ---------------------------------------------------------------------------------------------------------- readers


def _sound(frame: pl.DataFrame, number: str) -> pl.DataFrame:
    """Return lines of a run or of judgments; all have names and a finite number."""
    names = frame.select("qid", "docno")
    if not frame.height or not np.isfinite(frame[number].to_numpy()).all():
        raise Broken(f"no lines, or {number} without a number")
    if any(names[column].null_count() or (names[column] == "").any() for column in names.columns):
        raise Broken("a line without a name")
    return frame


def _run(path: Path) -> object:
    return _sound(read_run(path).frame, "sim")


def _qrels(path: Path) -> object:
    return _sound(read_qrels(path).frame, "rel")


def _metadata(path: Path) -> object:
    return json.dumps(plain_values(read_metadata(path)))


def _record(path: Path) -> object:
    for left in path.parent.glob(f"{path.name}-*"):
        left.unlink()
    record = Record(path)
    try:
        found = judgments(record)
        return json.dumps([provenance(record, found, "majority"), record.starts]), record.work(), record.pace("ann")
    finally:
        record.close()


def _collection(path: Path) -> object:
    return read_collection(path).qrels


def _relevance(path: Path) -> object:
    return _sound(relevance(File("cranqrel", path.read_bytes()))[0], "rel")


def _official(*options: str, at: int = 1) -> Callable[[Path], object]:
    """Return what runs the drop-in for trec_eval with the file in one of its places: judgments, results, or -Z."""

    def read(path: Path) -> object:
        files = [str(path.parent / "qrels"), str(path.parent / "results"), str(path)]
        if at < 2:
            files[at] = files.pop()
        return command.main([*options, *files[2:], *files[:2]])

    return read


def _text(read: Callable[[str], object]) -> Callable[[Path], object]:
    return lambda path: read(path.read_bytes().decode(errors="replace"))


def _options(text: str) -> object:
    """Read the options of an evaluation, `ties=all depth=3`, numbers as numbers."""
    given: dict[str, Any] = {}
    for word in text.split():
        name, _, value = word.partition("=")
        if name in Options.__dataclass_fields__:
            number = re.fullmatch(r"[0-9]{1,20}(\.[0-9]*)?", value)
            given[name] = value if number is None else float(value) if number[1] else int(value)
    return Options.of(**given)


def _measures(text: str) -> object:
    found = parse_measures(text)
    if [*map(str, parse_measures([*map(str, found)]))] != [*map(str, found)]:
        raise Broken(f"printed, {found} is read as something else")
    return found


def _system(text: str) -> object:
    return System.of(System.of(text).name)


# ------------------------------------------------------------------------------------------------------------ seeds


def _packed(data: bytes) -> tuple[bytes, ...]:
    return gzip.compress(data), bz2.compress(data), lzma.compress(data), zstd.compress(data), gzip.compress(data) * 2


def _table(columns: str, rows: Iterable[Iterable[object]]) -> dict[str, bytes]:
    """Return a table as each kind of file."""
    names, lines = columns.split(), [[*map(str, row)] for row in rows]
    frame = pl.DataFrame(lines, schema=names, orient="row")
    frame = frame.with_columns(frame[names[-1]].cast(pl.Float64, strict=False))
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return {
        "csv": "\n".join(map(",".join, [names, *lines])).encode() + b"\n",
        "tsv": "\n".join(map("\t".join, [names, *lines])).encode() + b"\n",
        "jsonl": frame.write_ndjson().encode(),
        "json": json.dumps(frame.to_dicts()).encode(),
        "parquet": buffer.getvalue(),
    }


_RUNS = _table("qid docno rank run_id sim", [("007", f"d{at}", at, "a", 3 - at // 2) for at in range(4)])
_DECISIONS = _table(
    "theme docno time y_true y_score", [("t", f"d{at}", f"2026-01-0{at + 1}", at % 2, at / 4) for at in range(4)]
)
_ORDERINGS = _table("judge system rank", [("ann", "a", 1), ("ann", "b", 2), ("bob", "a", 1.5)])
_JUDGED = _table("qid iter docno rel", [("007", 0, f"d{at}", at - 1) for at in range(4)])
_GOLDEN = b"""{"query": "a b", "relevant": ["d1", "d\\u00e9"], "retrieved": ["d1", 2], "scores": [2, 0.5]}
{"query": "c", "relevant": [], "retrieved": [], "scores": []}
"""
_LISTS = (
    b'{"1": ["d1", "d2"], "2": ["d3"]}',
    b'{"1": {"d1": 1, "d2": 0.5}, "2": {}}',
    b'{"1": [["d1", 1], ["d2", 0.5]]}',
    b'[{"id": 1, "relevant": [{"id": "d1", "grade": 2}], "retrieved": [{"node": {"id_": "d1"}, "score": 2}]}]',
    b'{"queries": {"1": "a"}, "relevant_docs": {"1": ["d1"]}, "results": {"1": {"d1": 1}}}',
    b'{"question": ["a", "b"], "expected_ids": [["d1"], []], "retrieved_ids": [["d1"], ["d2"]]}',
)
_HEADER = b"""# ir_metadata.start
# schema-version: 0.1
# platform: {hardware: {cpu: [1, 0x1f, 1:30, 1e3, .inf]}}
# research question: "a \\u00e9"
# when: 2026-01-31T10:00:00+01:00
# text: |
#   two
#   lines
# set: !!set {a, b}
# ir_metadata.end
"""
_SMART = b".I 1\n.T\na title\n.A\nwho\n.W\nwords of it\n.I 2\n.W\nmore\n"
_COLLECTION = {
    "smart": _SMART,
    "time": b"*TEXT 017 01/04/63 PAGE 020\nTHE TEXT\n*TEXT 018\nMORE\n*STOP\n",
    "lisa": b"Document   1\nTITLE\n \nText of it\n*****\nDocument 2\nTITLE\n\nText\n*****\n",
    "npl": b"1\nwords of one\n/\n2\nwords\n of two\n   /\n",
    "questions": b"1\nI WOULD LIKE TO KNOW. #\n2\nMORE #\n",
    "sgml": b"<DOC>\n<DOCNO> A-1 </DOCNO>\n<HEADLINE>a &amp; b</HEADLINE>\n<TEXT>\n<P>c</P> &#233;\n</TEXT>\n</DOC>\n",
    "topics": b"<top>\n<num> Number: 1\n<title> a b\n<desc> Description:\nc\n<narr> Narrative: d\n</top>\n",
    "xml": b'<?xml version="1.0"?>\n<topics>\n<topic number="1" type="x"><query>a</query></topic>\n</topics>\n',
    "beir": b'{"_id": "1", "title": "a", "text": "b", "metadata": {"description": "c"}}\n{"_id": 2, "text": "d"}\n',
    "tsv": b"1\ta title\tthe text\n2\tb\tmore\n",
    "trec": QRELS,
    "pairs": b"1 1\n1 2\n2 1\n",
    "header": b"query-id\tcorpus-id\tscore\n1\t1\t1\n",
    "ended": b"Query 1\n2 Relevant Refs\n1 2 -1\n\nQuery 2\n1 Relevant Refs\n1 -1\n",
    "lists": b"1\n1 2 3\n/\n2\n4\n/\n",
}


def _archive(pack: Callable[[dict[str, bytes]], bytes]) -> bytes:
    return pack({"toy.all": _SMART, "toy.qry": b".I 1\n.W\na question\n", "toy.rel": b"1 1\n1 2\n"})


def _tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def _zip(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return buffer.getvalue()


def _a_record() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record"
        record = Record(path, new=True)
        record.start((0, 1, 2), pool="p")
        for who, grade in (("ann", 1), ("bob", 2), ("ann", 0)):
            record.decide(who, ("1", "d"), grade=grade, note="é", seconds=2.5)
        record.settle("ann", ("1", "d"), 2)
        record._db.execute("PRAGMA journal_mode = DELETE")
        record._db.execute("VACUUM")
        record.close()
        return path.read_bytes()


_MANIFEST = b'[[edition]]\ntrack = "adhoc"\nedition = 1999\nqrels = "qrels"\nruns = ["runs/*.txt", "runs/a?txt"]\n'
_GATE = b"""[gate]
qrels = "qrels"
measures = ["nDCG@10", "AP"]
max-drop = "1%"
floors = ["nDCG@10 >= 0.45"]
slices = {long = ["1", 2]}
min-topics = 5
test = "t"
ties = ["realistic"]
"""
_PREFS = b"1 0 0 d1 2\n1 0 0 d2 1\n1 1 1 d3 0\n1 1 2 d1 1\n2 0 0 d1 1\n"

TARGETS: dict[str, Target] = {
    "run": Target(_run, "f.txt", (RUN, RUN.replace(b" ", b"\t"), b"# c\r\n" + RUN.replace(b"\n", b" \r\n"))),
    "qrels": Target(_qrels, "f.txt", (QRELS, b"1 1 d 1\n1 2 d 2\n1\t0\te\t-1\n")),
    **{f"run-{kind}": Target(_run, f"f.{kind}", (data,)) for kind, data in _RUNS.items()},
    **{f"qrels-{kind}": Target(_qrels, f"f.{kind}", (data,)) for kind, data in _JUDGED.items()},
    "run-lists": Target(_run, "f.json", _LISTS),
    "qrels-lists": Target(_qrels, "f.json", _LISTS),
    "run-golden": Target(_run, "f.jsonl", (_GOLDEN,)),
    "qrels-golden": Target(_qrels, "f.jsonl", (_GOLDEN,)),
    **{f"decisions-{kind}": Target(read_decisions, f"f.{kind}", (data,)) for kind, data in _DECISIONS.items()},
    "orderings": Target(read_orderings, "f.txt", (b"ann a 1\nann b 2\nbob a 1\n", b"a 1\nb 1.5\n# c\n")),
    **{f"orderings-{kind}": Target(read_orderings, f"f.{kind}", (data,)) for kind, data in _ORDERINGS.items()},
    "packed": Target(_run, "f.gz", _packed(RUN)),
    "metadata": Target(_metadata, "f.txt", (_HEADER + RUN, _HEADER)),
    "documents": Target(read_documents, "docs", tuple(_COLLECTION.values())),
    "topics": Target(read_topics, "topics", tuple(_COLLECTION.values())),
    "judgments": Target(_relevance, "f", (*_COLLECTION.values(), b"1 1 -1\n1 2 3\n2 1 5\n")),
    "archive": Target(_collection, "f.tar", (_archive(_tar), gzip.compress(_archive(_tar)), _archive(_zip))),
    "prefs": Target(_official("-q", "-m", "all_prefs", "-R", "prefs", at=0), "f.txt", (_PREFS,)),
    "qrels-prefs": Target(_official("-q", "-m", "all_prefs", "-R", "qrels_prefs", at=0), "f.txt", (QRELS,)),
    "judgment-groups": Target(_official("-q", "-m", "qrels_jg", "-R", "qrels_jg", at=0), "f.txt", (QRELS,)),
    "official-qrels": Target(_official("-q", "-m", "all_trec", at=0), "f.txt", (QRELS,)),
    "official-run": Target(_official("-q", "-m", "all_trec", at=1), "f.txt", (RUN,)),
    "zscores": Target(_official("-q", "-Z", at=2), "f.txt", (b"1 map 0.5 0.25\nall P_5 0.1 0\n",)),
    "manifest": Target(find, "f.toml", (_MANIFEST,)),
    "gate": Target(lambda path: configuration(str(path)), "exaequo.toml", (_GATE,)),
    "slices": Target(lambda path: read_slices(str(path)), "f.txt", (b"1 long\n2\tshort queries\n# c\n",)),
    "slices-csv": Target(lambda path: read_slices(str(path)), "f.csv", (b'topic,label\n1,long\n2,"a ""b"""\n',)),
    "pool": Target(
        lambda path: read_pool(str(path)), "f.txt", (b"qid\tdocno\tdepth\n1\td1\t3\n1\td2\t1\n", QRELS, RUN)
    ),
    "record": Target(_record, "f.db", (_a_record(),)),
    "measures": Target(
        _text(_measures),
        "f",
        (b"AP,nDCG(dcg='exp-log2')@10 P(rel=2)@10", b"gm(AP) nDCG(gains={1:3,2:9})", b"ndcg_cut_10 map P_5 MAP@100"),
    ),
    "official-measures": Target(
        _text(lambda text: command.main(["-h", *(f"-m{word}" for word in text.split())])),
        "f",
        (b"map P.5,10 ndcg_cut.10 ndcg.1=3,2=9 utility.1,-1,0,0 set_F.0.5", b"official all_trec"),
    ),
    "systems": Target(_text(_system), "f", (b"bm25(k1=0.9,b=0.4)-stem-nostop", b"ql-dirichlet(mu=500)", b"tfidf")),
    "options": Target(_text(_options), "f", (b"ties=all depth=3 seed=1 missing=zero rel_level=2 max_grade=4.5",)),
}
