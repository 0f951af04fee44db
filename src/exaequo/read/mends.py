"""Mends: what can be put right in a file without a guess. In: bytes. Out: bytes that can be read, and what was done.

Nothing is mended unless asked. A line that is dropped leaves a blank one, so that messages name the lines of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from exaequo.errors import InputError
from exaequo.frames import pl
from exaequo.read import tables
from exaequo.read.foreign import marked, refuse_marked
from exaequo.read.mending import goes_on, lacks_iteration, lacks_name
from exaequo.read.records import repeated
from exaequo.read.source import Mend, Source
from exaequo.read.trec import QRELS, RUN, Layout, is_header, layout_of, parse
from exaequo.text import count

_END_OF_FILE = b"\x1a"


def mended(
    data: bytes, kind: str, layout: Layout, source: Source, columns: Mapping[str, str] | None = None
) -> tuple[bytes, str, tuple[Mend, ...]]:
    """Mend a run or judgments, text or a table; return what to read in its place, as what, and what was done.

    What is not safe to mend is left as it is, and is refused when it is read.
    """
    done: list[Mend] = []
    data = _in_utf8(data, source.name, done)
    if kind in tables.KINDS:
        data, kind = _table(data, kind, layout, source.name, columns, done)
    else:
        data = text(data, layout, source, done)
    return data, kind, tuple(done)


def _in_utf8(data: bytes, name: str, done: list[Mend]) -> bytes:
    """Return marked text of another encoding in UTF-8."""
    if (encoding := marked(data)) is None:
        return data
    try:
        data = data.decode(encoding).encode()
    except UnicodeError:
        refuse_marked(data, name)
    done.append(Mend(name, 1, f"read as {encoding}"))
    return data


@dataclass
class _Lines:
    """The lines of a text while they are mended; `at` are those with data, `fields` what they hold."""

    name: str
    all: list[bytes]
    done: list[Mend]
    at: list[int] = field(default_factory=list)
    fields: list[list[bytes]] = field(default_factory=list)

    def look(self) -> None:
        """Find the lines that hold data."""
        split = [(at, line.split()) for at, line in enumerate(self.all)]
        kept = [(at, fields) for at, fields in split if fields and not fields[0].startswith(b"#")]
        self.at, self.fields = [at for at, _ in kept], [fields for _, fields in kept]

    def such(self, wanted: Callable[[list[str]], bool]) -> list[int]:
        """Return which of the lines with data are such lines."""
        return [row for row, fields in enumerate(self.fields) if wanted(_texts(fields))]

    def change(self, rows: Sequence[int], change: Callable[[list[bytes]], list[bytes]], what: str) -> None:
        """Change these of the lines with data, to nothing if they are dropped, and note it; `what` tells the number."""
        if rows:
            for row in rows:
                self.all[self.at[row]] = b" ".join(change(self.fields[row]))
            said = what.format(lines=count(len(rows), "line"))
            self.done.append(Mend(self.name, len(rows), said, self.at[rows[0]] + 1))
            self.look()


def text(data: bytes, layout: Layout, source: Source, done: list[Mend]) -> bytes:
    """Mend TREC text, and note what was done."""
    whole = data.rstrip()
    if whole.endswith(_END_OF_FILE):
        data = whole.rstrip(_END_OF_FILE + b" \t\r\n") + b"\n"
        done.append(Mend(source.name, 1, "end-of-file mark dropped"))
    lines = _Lines(source.name, data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"), done)
    lines.look()
    headers = lines.such(partial(is_header, layout=layout))
    if len(headers) < len(lines.fields):  # names alone are no data
        lines.change(headers, _nothing, "{lines} of column names dropped")
    if layout is not RUN:
        layout = layout_of(b"\n".join(lines.all))
    _fit(lines, layout, source.stem)
    try:
        frame = parse(b"\n".join(lines.all), layout, source.name, repeats=True)
    except InputError:  # said by the reader, with all else
        return b"\n".join(lines.all)
    lines.change(again(frame, layout), _nothing, _AGAIN[layout.number])
    return b"\n".join(lines.all)


def _fit(lines: _Lines, layout: Layout, name: str) -> None:
    """Give lines the number of fields they should have, where only one reading is possible."""
    if layout is RUN:
        known = b"_".join(name.encode(errors="replace").split()) or b"run"
        lines.change(
            lines.such(lacks_name), lambda fields: [*fields, known], "{lines} given the name of the file as run id"
        )
    elif layout is QRELS:
        lines.change(lines.such(goes_on), lambda fields: fields[:4], "{lines} cut after the judgment")
        bare = lines.such(lacks_iteration)
        lines.change(bare, lambda fields: [fields[0], b"0", *fields[1:]], "{lines} given an iteration, 0")


def _texts(fields: list[bytes]) -> list[str]:
    return [piece.decode(errors="replace") for piece in fields]


def _nothing(_: list[bytes]) -> list[bytes]:
    return []


_AGAIN = {
    "sim": "{lines} with a document of the topic again dropped; its best score is kept",
    "rel": "{lines} with the same judgment again dropped",
}


def again(frame: pl.DataFrame, layout: Layout) -> list[int]:
    """Return the rows to drop so that each document stands once: all but its best, of judgments those that agree."""
    rows = frame.with_row_index("row")
    if layout.number == "sim":
        best = rows.sort("sim", descending=True, maintain_order=True)
        kept = best.unique(["qid", "docno"], keep="first", maintain_order=True)
    else:
        kept = rows.unique(frame.columns, keep="first", maintain_order=True)
    return rows.join(kept, on="row", how="anti", maintain_order="left")["row"].to_list()


def once(frame: pl.DataFrame, layout: Layout, name: str) -> tuple[pl.DataFrame, tuple[Mend, ...]]:
    """Return a frame without the rows that repeat a document, as far as that is safe, and what was done."""
    dropped = again(frame, layout)
    if not dropped:
        return frame, ()
    kept = frame.with_row_index("row").filter(~pl.col("row").is_in(dropped)).drop("row")
    return kept, (Mend(name, len(dropped), _AGAIN[layout.number].format(lines=count(len(dropped), "row"))),)


def _table(
    data: bytes, kind: str, layout: Layout, name: str, columns: Mapping[str, str] | None, done: list[Mend]
) -> tuple[bytes, str]:
    """Return a table that repeats documents as one that does not, as CSV; any other as it is."""
    frame, _ = tables.parse(data, kind, layout, name, columns, repeats=True)
    frame, said = once(frame, layout, name)
    if not said or repeated(frame, subtopics=True) is not None:
        return data, kind
    done += said
    return frame.drop("key").write_csv().encode(), "csv"
