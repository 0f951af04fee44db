"""What can be chosen by name, and what is chosen unless told otherwise. No imports: every `--help` reads this."""

from __future__ import annotations

#: The exit code of a program that was interrupted.
INTERRUPTED = 130
#: How tied documents can be ordered, fairest first; `all` stands for the first three.
STRATEGIES = ("realistic", "conventional", "optimistic", "rank", "input", "random")
#: The worst order for the system, that of names, and the best: what ties leave open.
INTERVAL = STRATEGIES[:3]
#: The mean over all orders: not an order, but asked for like one.
EXPECTED = "expected"
#: What verdicts and audits look at: the first counts, the others tell whether ties decide.
COMPARED = (*INTERVAL, EXPECTED)
#: A verdict is fair if these agree, robust if it holds with one run at its worst and the other at its best.
DECIDING = ("realistic", EXPECTED, "optimistic")
FAIR, ROBUST = "fair", "robust"
ALL_TIES = "all"
#: How deep a pool goes, and who comes in where a tie straddles that depth: the whole tie, or by an order that needs no
#: judgments.
POOL_DEPTH = 100
WHOLE_TIES = "all"
TIES_AT_DEPTH = (WHOLE_TIES, "conventional", "rank", "input", "random")
POOL_FORMATS = ("tsv", "csv", "jsonl", "qrels")
PRECISIONS = ("double", "single")
#: What becomes of a judged topic a run lacks.
MISSING = ("zero", "skip", "error")
#: The papers on ties, and the evaluator of their time, take a judgment as relevant if it lies in 1 … 127.
HIGHEST_GRADE = 127.0
#: Orders of ties to sample where an expected value has no closed form and there are too many orders.
ORDERS_SAMPLED = 200

#: Paired tests; those a gate can use; what becomes of many p-values; kinds of intervals.
TESTS = ("t", "wilcoxon", "sign", "randomization", "bootstrap")
GATE_TESTS = ("t", "randomization", "bootstrap")
#: Procedures over all pairs at once replace the test; statsmodels has more corrections.
JOINT = ("tukey", "randomised-tukey", "nemenyi", "dunnett")
CORRECTIONS = ("none", "bonferroni", "holm", "bh", "by", *JOINT)
LIBRARY_CORRECTIONS = (
    *("sidak", "holm-sidak", "simes-hochberg", "hommel"),
    *("fdr_bh", "fdr_by", "fdr_tsbh", "fdr_tsbky", "fdr_gbs"),
)
INTERVAL_KINDS = ("auto", "t", "bca", "percentile")
#: How many topics a verdict needs that decides something.
LEAST_TOPICS = 5
#: The loss a gate allows, by the rule of thumb that less than 5 % is not worth noticing.
MAX_DROP = "5%"
#: Random patterns of a test.
PATTERNS = 10_000
#: Random splits of topics into two halves.
SPLITS = 1_000
ALPHA = 0.05
#: How far down rank-biased overlap looks when lists are compared.
RBO_P = 0.95

#: What is measured unless asked, by every command that scores.
MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@1000")
#: The same where one measure is enough: to decide a release, to be explained; and what the papers on ties studied.
GATE_MEASURES = ("nDCG@10",)
EXPLAIN_MEASURES = ("AP",)
BUDGET_MEASURES = ("AP",)
STUDY_MEASURES = ("RR", "AP")
#: Ranks down to which the share of judged documents is told.
JUDGED_AT = (10, 20, 100)
#: Documents to name whose judgment would tell most.
TO_JUDGE = 10
#: The study cuts each list here, as the campaigns did.
STUDY_DEPTH = 1000
#: How many of the luckiest lists and runs.
TOP = 5
#: Documents of each list that go into the page.
PAGE_DOCUMENTS = 10
#: Characters of a document's text that go into the page.
PAGE_TEXT = 500

#: Where runs are evaluated: in memory, topic block by topic block, on Spark; and there, what becomes of bad rows.
ENGINES = ("local", "blocks", "spark")
ERRORS = ("raise", "drop")

#: Standard input and output.
STDIN = "-"
#: What a file can be: TREC text, or a kind of table, which its ending tells.
TABLE_READERS = {
    "csv": (".csv",),
    "tsv": (".tsv",),
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
    "parquet": (".parquet",),
}
READERS = ("trec", *TABLE_READERS)
#: Formats of tables, and of scores.
TABLE_FORMATS = ("table", "csv", "json", "markdown", "latex", "html")
SCORE_FORMATS = (*TABLE_FORMATS, "trec", "parquet")
#: Formats that programs read: the same in all languages.
DATA_FORMATS = ("csv", "json", "trec", "parquet", "run", "junit", "github")
#: Formats and sizes of pictures.
PICTURE_FORMATS = ("svg", "png", "pdf", "html", "json")
PICTURE_SIZES = ("column", "page", "slide")
#: Filters: what a selected document is worth, relevant or not; where selection begins.
UTILITIES = {"LF1": (3.0, -2.0), "LF2": (3.0, -1.0), "T11U": (2.0, -1.0)}
THRESHOLD = 0.5
#: Filters: what a threshold is learnt by, and for what.
LEARNT_BY = ("f", "utility", "break-even")
LEARNT_FOR = ("theme", "all")

#: Baseline systems: models; what of a topic is the query (`all`: title, description, narrative); the longest list.
MODELS = ("boolean", "coordination", "tfidf", "bm25", "ql-dirichlet", "ql-jm")
TOPIC_FIELDS = ("title", "description", "all")
SEARCH_DEPTH = 1000
#: Seconds a program may take in an experiment.
TIMEOUT = 600.0

#: Judging: the scale, and what several grades of a document come to; the first unless told otherwise.
GRADES = "0,1,2,3"
JUDGING_RULES = ("majority", "highest", "mean")
