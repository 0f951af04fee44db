"""Bytes that are no text: what they are instead, and how to make text of them. In: bytes. Out: nothing, or an error."""

from __future__ import annotations

from exaequo.errors import bad_input

#: What files have at a place that are no runs, no judgments and no tables of text; what they are, and how to mend it.
_KINDS = (
    (0, b"PK\x03\x04", "a zip archive, or a spreadsheet", "Unpack it; save a spreadsheet as CSV."),
    (257, b"ustar", "a tar archive", "Unpack it: tar -xf FILE"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", "Unpack it: 7z x FILE"),
    (0, b"Rar!\x1a\x07", "a rar archive", "Unpack it."),
    (0, b"\x1f\x9d", "packed by compress", "Unpack it: uncompress FILE"),
    (0, b"\x1f\x8b", "packed twice", "Unpack it once: gunzip FILE"),
    (0, b"\xfd7zXZ\x00", "packed twice", "Unpack it once: unxz FILE"),
    (0, b"\x28\xb5\x2f\xfd", "packed twice", "Unpack it once: unzstd FILE"),
    (0, b"PAR1\x15", "a Parquet file", "Name it .parquet, or say so with --reader."),
    (0, b"ARROW1\0", "an Arrow file", "Write it as Parquet."),
    (0, b"\x89PNG\r", "a picture", "Name the file that has the data."),
    (0, b"%PDF-", "a PDF document", "Name the file that has the data."),
    (0, b"<!DOCTYPE ", "a web page", "Download the file itself."),
    (0, b"<!doctype ", "a web page", "Download the file itself."),
    (0, b"<html", "a web page", "Download the file itself."),
    (0, b"version https://git-lfs.", "a pointer of Git LFS", "Fetch the file itself: git lfs pull"),
)
_ICONV = "Save it as UTF-8: iconv -f {} -t UTF-8"


def refuse_foreign(data: bytes, name: str, expected: str) -> None:
    """Raise InputError if this is no text, and say what it is, as far as its first bytes tell."""
    for place, sign, what, mend in _KINDS:
        if data.startswith(sign, place):
            raise bad_input(name, f"this is {what}", expected, mend)
    if b"\0" not in data:
        return
    for start, encoding in ((1, "UTF-16LE"), (0, "UTF-16BE")):
        zeros, others = data[start:200:2].count(0), data[1 - start : 200 : 2].count(0)
        if zeros > len(data[:200]) // 4 and not others:
            raise bad_input(name, "the file looks like UTF-16", "UTF-8", _ICONV.format(encoding))
    line = data.count(b"\n", 0, data.index(b"\0")) + 1
    found, mend = "the file is not text (it holds null bytes)", "Check that this is the right file."
    raise bad_input(name, found, expected, mend, line=line)


def marked(data: bytes) -> str | None:
    """Return the encoding that a mark at the beginning names, UTF-16 or UTF-32; None if there is none."""
    marks = ((b"\xff\xfe\0\0", "UTF-32"), (b"\xff\xfe", "UTF-16"))
    return next((encoding for mark, encoding in marks if data.startswith((mark, mark[::-1]))), None)


def refuse_marked(data: bytes, name: str) -> None:
    """Raise InputError if a mark says that this is UTF-16 or UTF-32."""
    if encoding := marked(data):
        mend = f"{_ICONV.format(encoding)}; --mend reads runs and judgments in it."
        raise bad_input(name, f"the file is {encoding}", "UTF-8", mend)


def text_of(data: bytes, name: str) -> str:
    """Return the text that bytes are; raise InputError if they are none."""
    refuse_foreign(data, name, "UTF-8 text")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x} is not UTF-8"
        mend = "Convert the file: iconv -f LATIN1 -t UTF-8"
        raise bad_input(name, found, "UTF-8 text", mend, line=line) from None
