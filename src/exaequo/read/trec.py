"""TREC text: runs (`qid iter docno rank sim run_id`) and qrels (`qid iter docno rel`). In: bytes. Out: a frame.

Sampled qrels have five fields: `qid iter docno stratum rel`, or `qid docno rel method prob`.

Three ways to the same frame. Clean files (one separator, no comments) go to Polars as they are. Files with runs
of blanks, tabs, comments or carriage returns are tidied first, whole buffers at a time. What is left goes through
`line_by_line`, which is slow, defines what is right, and says what is wrong with each line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter

from exaequo.errors import InputError, Problem
from exaequo.frames import pl
from exaequo.read.foreign import refuse_foreign
from exaequo.read.mending import finite, is_number, mend_number, mend_repeat, mend_width
from exaequo.read.records import repeated, with_keys
from exaequo.read.source import as_it_stands
from exaequo.text import count


@dataclass(frozen=True)
class Layout:
    """The fields of a line, which is the number, whether more may follow, and which stand together in one line only."""

    what: str
    fields: tuple[str, ...]
    number: str
    more: bool
    once: tuple[str, ...] = ("qid", "docno")
    comments: bool = True
    #: A number that is none, or not finite, is read as it is, or as NaN: who reads it drops such rows.
    any_number: bool = False
    #: What else must be a number: its field, how it is written, and that in words.
    also: tuple[str, str, str] | None = None

    @property
    def expected(self) -> str:
        """The shape of a line, for messages."""
        return f"{len(self.fields)} fields: {' '.join(self.fields)}"

    @property
    def schema(self) -> dict[str, type[pl.DataType]]:
        """The columns of the frame."""
        return {field: pl.Float64 if field == self.number else pl.String for field in self.fields}


RUN = Layout("a run", ("qid", "iter", "docno", "rank", "sim", "run_id"), "sim", more=True)
QRELS = Layout("judgments", ("qid", "iter", "docno", "rel"), "rel", more=False)

_STRATUM = ("stratum", r"[0-9]+", "a whole number")
_CHANCE = ("prob", r"0*(\.[0-9]+)?|0*1(\.0*)?|[0-9](\.[0-9]*)?[eE]-0*[1-9][0-9]*|NA", "a chance from 0 to 1, or NA")
STRATA = Layout("sampled judgments", ("qid", "iter", "docno", "stratum", "rel"), "rel", more=False, also=_STRATUM)
CHANCES = Layout("sampled judgments", ("qid", "docno", "rel", "method", "prob"), "rel", more=False, also=_CHANCE)
#: How documents were chosen that were certain to be judged, whatever chance stands beside them.
CERTAIN = ("0", "2")

#: Words that are column names, not data, when two of them stand in one line.
_HEADER = frozenset(
    "qid query_id query-id q_id query topic topic_id iter iteration docno doc_id docid corpus-id document pid sim "
    "score rank rel relevance label run_id runid run tag system".split()
)
_CUT = "The file seems to be cut short: copy it again, or delete the line."
_FIRST = re.compile(rb"^[ \t]*[^#\s].*$", re.MULTILINE)
_COMMENTS = re.compile(rb"^#.*\n?", re.MULTILINE)


def parse(
    data: bytes,
    layout: Layout,
    name: str,
    *,
    repeats: bool = False,
    subtopics: bool = False,
    comments: bool = True,
    start: int = 0,
    unused: Sequence[str] = (),
    any_number: bool = False,
) -> pl.DataFrame:
    """Read a whole file; raise InputError with every problem of it if it has any. Fields of no use are left out.

    A document twice in one topic is a problem, unless `repeats` are allowed, or it is there for different `subtopics`,
    which the iteration field names. Without `comments`, # is like any letter. Up to `start` there are only comments.
    With `any_number`, what is no finite number is NaN or infinity, and no problem.
    """
    refuse_foreign(data, name, layout.what)
    once = ("qid", "docno", *(("iter",) if subtopics else ()))
    layout = replace(layout, once=() if repeats else once, comments=comments, any_number=any_number)
    frame = parse_clean(data[start:], layout, unused)
    if frame is None:
        frame = parse_clean(tidy(data, layout), layout, unused)
    if frame is not None:
        frame = with_keys(frame)
        if repeats or repeated(frame, subtopics=subtopics) is None:
            return frame
    frame, problems = line_by_line(data, layout, name)
    if problems:
        raise InputError(problems)
    return with_keys(frame.drop(unused))


def is_header(fields: Sequence[str], layout: Layout) -> bool:
    """Tell whether the fields of a line are names of columns, not data."""
    at = layout.fields.index(layout.number)
    numeric = len(fields) > at and is_number(fields[at])
    return not numeric and sum(field.casefold() in _HEADER for field in fields) >= 2


def is_text(data: bytes, layout: Layout) -> bool:
    """Tell whether the first line is one of TREC text, which no header of a table is."""
    first = _FIRST.search(data)
    fields = first[0].decode(errors="replace").split() if first else []
    if layout is not RUN:
        layout = layout_of(data)
    width, at = len(layout.fields), layout.fields.index(layout.number)
    fits = len(fields) == width or (layout.more and len(fields) > width)
    named = sum(field.casefold() in _HEADER for field in fields) >= 2
    return fits and not named and is_number(fields[at]) and b"," not in (first[0] if first else b"")


def has_lines(data: bytes, layout: Layout) -> bool:
    """Tell whether there is anything but comments and blanks."""
    return _FIRST.search(data) is not None or bool(tidy(data, layout))


def layout_of(data: bytes, start: int = 0) -> Layout:
    """Return the layout of qrels: that of a sample if the first and the last line are such lines, else the usual one.

    Where the second field of both is the same it is the iteration, and the fourth the stratum; else it is a document.
    """
    first = _FIRST.search(data, start)
    one, last = (first[0] if first else b"").split(), _last_line(data).split()
    numbers = [is_number(field.decode(errors="replace")) for field in one]
    if not len(one) == len(last) == len(STRATA.fields) or not numbers[3]:
        return QRELS
    if one[1] == last[1]:
        return STRATA if numbers[4] else QRELS
    return CHANCES if numbers[2] and (numbers[4] or one[4] == b"NA") else QRELS


def _last_line(data: bytes) -> bytes:
    """Return the last line that is not blank, without a copy of the file."""
    size = 1 << 12
    while size < len(data) and data[-size:].isspace():
        size *= 2
    end = max(0, len(data) - size) + len(data[-size:].rstrip())
    return data[data.rfind(b"\n", 0, end) + 1 : end]


def with_chances(frame: pl.DataFrame) -> pl.DataFrame:
    """Return sampled judgments with the chance of each document as a number, null where it is not known."""
    if "prob" not in frame.columns:
        return frame
    chance = pl.col("prob").cast(pl.Float64, strict=False)
    certain = pl.col("method").is_in(CERTAIN) & chance.is_not_null()
    return frame.with_columns(prob=pl.when(certain).then(1.0).otherwise(chance))


def parse_clean(data: bytes, layout: Layout, unused: Sequence[str] = ()) -> pl.DataFrame | None:
    """Read a file with one separator and nothing but data; None if it is not such a file."""
    first = data[: data.find(b"\n") + 1] or data
    separator, other = ("\t", b" ") if b"\t" in first else (" ", b"\t")
    if any(mark in data for mark in (other, b"\r", b"\v", b"\f")):
        return None
    if layout.comments and b"#" in data and _COMMENTS.search(data):
        return None
    try:
        frame = pl.read_csv(
            as_it_stands(data),
            separator=separator,
            has_header=False,
            quote_char=None,
            schema=layout.schema,
            truncate_ragged_lines=layout.more,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):  # Polars unpacks what looks packed
        return None
    # A short or blank line, or an empty field, shows as a null; NaN and infinity are accepted as numbers.
    whole = frame.height and not any(column.null_count() for column in frame)
    if whole and layout.also and not frame[layout.also[0]].str.contains(f"^({layout.also[1]})$").all():
        return None
    if not whole or not (layout.any_number or frame[layout.number].is_finite().all()):
        return None
    # One column after the other, each let go: all at once would take the memory of two frames.
    frame = frame.drop(unused)
    return pl.DataFrame([frame.drop_in_place(field).rechunk() for field in frame.columns])


def tidy(data: bytes, layout: Layout, *, whole: bool = False) -> bytes:
    """Reduce blanks, tabs, line ends, comments and blank lines to what `parse_clean` reads; `whole` keeps fields."""
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").translate(bytes.maketrans(b"\t\v\f", b"   "))
    for double, single in ((b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n"), (b"\n\n", b"\n")):
        while double in data:
            data = data.replace(double, single)
    data = data.strip(b" \n")
    if layout.comments:
        data = _COMMENTS.sub(b"", data)
    if layout.more and not whole:  # the first line tells Polars how many columns there are
        first, newline, rest = data.partition(b"\n")
        data = b" ".join(first.split(b" ")[: len(layout.fields)]) + newline + rest
    return data


def line_by_line(data: bytes, layout: Layout, name: str) -> tuple[pl.DataFrame, list[Problem]]:
    """Read a file slowly: the frame of its good lines, and a problem for each bad one."""
    problems: list[Problem] = []
    rows: list[tuple[str | float, ...]] = []
    seen: dict[tuple[str | float, ...], int] = {}
    qid, docno = (layout.fields.index(field) for field in ("qid", "docno"))
    once = itemgetter(*map(layout.fields.index, layout.once or layout.fields))
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    for number, line in enumerate(lines, 1):
        raw = line.split()
        if not raw or (layout.comments and raw[0].startswith(b"#")):
            continue
        problem = partial(Problem, name, number)
        checked = _check_line(line, raw, layout, problem)
        if isinstance(checked, Problem):
            cut = number == len(lines) > 1 and len(raw) < len(layout.fields)
            problems.append(replace(checked, mend=_CUT) if cut else checked)
            continue
        first = seen.setdefault(once(checked), number)
        if layout.once and first < number:
            names = (quoted(str(checked[field])) for field in (docno, qid))
            found = "document {} of topic {} is here and in line {}".format(*names, first)
            problems.append(problem(found, "each document once in a topic", mend_repeat(layout.number, "two lines")))
        else:
            rows.append(checked)
    if not rows and not problems:
        found = "the file is empty" if not data.strip() else "the file has only comments and blank lines"
        problems.append(Problem(name, None, found, f"lines of {layout.expected}", "Check how it was made."))
    return pl.DataFrame(rows, schema=layout.schema, orient="row"), problems


def _check_line(
    line: bytes, raw: list[bytes], layout: Layout, problem: Callable[[str, str, str], Problem]
) -> tuple[str | float, ...] | Problem:
    """Return the fields of a good line, or what is wrong with it."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        found = f"byte 0x{line[error.start]:02x} is not UTF-8 ({quoted(line.decode(errors='replace'))})"
        return problem(found, "UTF-8 text", "Convert the file: iconv -f LATIN1 -t UTF-8")
    fields = [field.decode() for field in raw]
    text = quoted(" ".join(fields))
    width, at = len(layout.fields), layout.fields.index(layout.number)
    if is_header(fields, layout):
        mend = (
            "Delete it, or read it with --mend; if the file is a table, name it .csv or .tsv, or say so with --reader."
        )
        return problem(f"a header line ({text})", "data", mend)
    if len(fields) < width or (len(fields) > width and not layout.more):
        mend = "Mend or delete the line." if layout.also else mend_width(fields, layout.number)
        return problem(f"{count(len(fields), 'field')} ({text})", layout.expected, mend)
    noun = "score" if layout.number == "sim" else "judgment"
    value = finite(fields[at])
    if value is None and layout.any_number:
        value = float("nan")
    if value is None:
        mend = "Drop the line or give it a score." if noun == "score" else "Mend the judgment or drop the line."
        return problem(f"{noun} is {quoted(fields[at])}", "a finite number", mend_number(fields[at], mend))
    if layout.also and not re.fullmatch(layout.also[1], fields[layout.fields.index(layout.also[0])]):
        name, _, expected = layout.also
        return problem(f"{name} is {quoted(fields[layout.fields.index(name)])}", expected, "Mend or drop the line.")
    return (*fields[:at], value, *fields[at + 1 : width])


def quoted(text: str, most: int = 60) -> str:
    """Quote a piece of input for a message: control characters escaped, long pieces cut."""
    return repr(text if len(text) <= most else text[: most - 1] + "…")
