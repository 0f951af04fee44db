"""A built-in system as a program: documents (JSON lines), queries (qid TAB text), system, language, depth, run file.

Experiments run it beside the programs of others, so that all are measured the same way.
"""

from __future__ import annotations

import sys

import polars as pl

from exaequo.errors import ExaequoError
from exaequo.listing import run_text
from exaequo.read.collection import DOCUMENTS
from exaequo.searching.notation import System
from exaequo.searching.retrieval import retrieve
from exaequo.searching.systems import read_queries
from exaequo.writing import write_whole

if __name__ == "__main__":
    documents, queries, system, language, depth, path = sys.argv[1:]
    texts = pl.read_ndjson(documents, schema=dict.fromkeys(DOCUMENTS, pl.String))
    try:
        run, remarks = retrieve(texts, read_queries(queries), System.of(system), language, int(depth))
        write_whole(path, run_text(run.frame, run.name, path).encode())
    except ExaequoError as error:
        sys.exit(str(error))
    sys.stderr.write("".join(f"{remark}\n" for remark in remarks))
