"""The catalogue of odd inputs: every case of the tables beside this file, with its exit code and all that is printed.

A case says which files there are, what is asked, and what comes of it. A new one is written without `exit`, `err` and
`out`; `python tests/catalogue/test_catalogue.py` fills these in, for all cases anew: read what the diff says as the
user would who gets it. The README beside this file tells how files are made.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import json
import lzma
import os
import re
import shlex
import sys
import tarfile
import tempfile
import threading
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest

from exaequo.cli import run as command

zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

HERE = Path(__file__).parent
Case = dict[str, Any]


def tables() -> Iterator[tuple[Path, Case]]:
    """Return the tables of cases, each a file of TOML."""
    return ((path, tomllib.loads(path.read_text(encoding="utf-8"))) for path in sorted(HERE.glob("*.toml")))


def cases() -> Iterator[Any]:
    """Return all cases as parameters, under the names of their table and their own."""
    for path, table in tables():
        for case in table["case"]:
            marks = [getattr(pytest.mark, case["mark"])] if "mark" in case else []
            yield pytest.param(whole(table["usual"], case), id=f"{path.stem}: {case['name']}", marks=marks)


# ----------------------------------------------------------------------------------------------------- making files


def _tar(data: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("run.txt")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def _zip(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("run.txt", data)
    return packed.getvalue()


def _parquet(columns: dict[str, Any], write: str = "write_parquet") -> bytes:
    made = io.BytesIO()
    getattr(pl.DataFrame(columns, strict=False), write)(made)
    return made.getvalue()


#: What a file is made of, and what is then done with the bytes, in this order.
MADE: dict[str, Callable[[Any], bytes]] = {
    "text": str.encode,
    "hex": bytes.fromhex,
    "parquet": _parquet,
    "arrow": lambda columns: _parquet(columns, "write_ipc"),
    "json": lambda value: json.dumps(value).encode(),
}
DONE: dict[str, Callable[[bytes, Any], bytes]] = {
    "times": lambda data, times: data * times,
    "numbered": lambda data, count: b"".join(data.replace(b"%", b"%d" % number) for number in range(count)),
    "end": lambda data, text: data + text.encode(),
    "as": lambda data, encoding: data.decode().encode(encoding),
    "pack": lambda data, kind: PACKS[kind](data),
    "cut": lambda data, at: data[:at],
    "then": lambda data, code: data + bytes.fromhex(code),
    "flip": lambda data, at: data[:at] + bytes((data[at] ^ 255,)) + data[at:][1:],
}
PACKS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
    "zip": _zip,
    "tar": _tar,
    "tar.gz": lambda data: gzip.compress(_tar(data), mtime=0),
}


def content(recipe: Any) -> bytes:
    """Make the bytes of a file: a text, or a table that says what it is made of and what is then done."""
    steps = {"text": recipe} if isinstance(recipe, str) else recipe
    (made,) = (MADE[kind](steps[kind]) for kind in MADE if kind in steps)
    for step, do in DONE.items():
        if step in steps:
            made = do(made, steps[step])
    return made


def make(path: Path, recipe: Any) -> None:
    """Make one file, folder or pipe."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = recipe.get("kind") if isinstance(recipe, dict) else None
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(recipe["to"])
    elif kind == "pipe":
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(content(recipe),), daemon=True).start()
    else:
        path.write_bytes(content(recipe))


# ------------------------------------------------------------------------------------------------------------ running


def whole(usual: Case, case: Case) -> Case:
    """Return a case with what its table says for all; `run` and `qrels` are short for the files of these names."""
    short = {f"{name}.txt": case[name] for name in ("run", "qrels") if name in case}
    return {**usual, **case, "files": {**usual["files"], **short, **case.get("files", {})}}


def _read_bytes(kinds: dict[str, str]) -> Callable[[Path], bytes]:
    """Return what reads files, some of which change meanwhile or cannot be read, not even by root."""
    read = Path.read_bytes

    def faked(path: Path) -> bytes:
        kind = kinds.get(path.name)
        if kind == "forbidden":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        data = read(path)
        if kind == "growing":
            path.write_bytes(data * 2)
        if kind == "shrinking":
            path.write_bytes(data[:9])
        return data

    return faked


def outcome(case: Case, folder: Path) -> Case:
    """Run a case in a folder: its exit code, and what it prints."""
    for name, recipe in case["files"].items():
        make(folder / name, recipe)
    kinds = {name: recipe["kind"] for name, recipe in case["files"].items() if "kind" in recipe}
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    err = io.StringIO()
    stdin = io.TextIOWrapper(io.BytesIO(content(case.get("stdin", ""))))
    with (
        chdir(folder),
        patch.dict(os.environ, case.get("env", {})),
        patch.object(Path, "read_bytes", _read_bytes(kinds)),
        patch.object(sys, "stdin", stdin),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = command(shlex.split(case["do"]))
        out.flush()
    return {"exit": code, "err": err.getvalue(), "out": out.buffer.getvalue().decode()}


def expected(case: Case, name: str, found: str) -> str:
    """Return the text that a case tells; what was found, if they agree: […] is whatever a library of others says."""
    golden: str = case.get(name, "")
    same = re.fullmatch(".*".join(map(re.escape, golden.split("[…]"))), found, re.DOTALL)
    return found if same else golden


@pytest.mark.parametrize("case", [*cases()])
def test_case(case: Case, tmp_path: Path) -> None:
    found = outcome(case, tmp_path)
    assert found == {"exit": case["exit"], **{name: expected(case, name, found[name]) for name in ("err", "out")}}


def test_there_are_many_cases_of_different_names() -> None:
    names = [case.id for case in cases()]
    assert len(names) == len({*names}) >= 150


# ----------------------------------------------------------------------------------------------------------- rewriting


def _toml(text: str) -> str:
    plain = "'''" not in text and all(each.isprintable() or each in "\n\t" for each in text)
    return f"'''\n{text}'''" if plain else json.dumps(text, ensure_ascii=True)


def rewrite(path: Path) -> None:
    """Write what each case of a table gives now into the table, in place of what it gave."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    head, *blocks = re.split(r"^(?=\[\[case\]\]$)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for at, case in enumerate(table["case"]):
        if "mark" in case and "exit" in case:  # it takes long
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = outcome(whole(table["usual"], case), Path(folder))
        golden = f"exit = {found['exit']}\n"
        texts = {
            name: case.get(name, "") if expected(case, name, found[name]) == found[name] else found[name]
            for name in ("err", "out")
        }
        golden += "".join(f"{name} = {_toml(text)}\n" for name, text in texts.items() if text)
        blocks[at] = _GOLDEN.sub("", blocks[at]).rstrip("\n") + "\n" + golden + "\n"
    path.write_text((head + "".join(blocks)).rstrip("\n") + "\n", encoding="utf-8")


_GOLDEN = re.compile(r"^exit = \d+\n((err|out) = ('''.*?'''|\".*?\")\n)*", re.MULTILINE | re.DOTALL)

if __name__ == "__main__":
    for name in sys.argv[1:] or map(str, sorted(HERE.glob("*.toml"))):
        rewrite(Path(name))
