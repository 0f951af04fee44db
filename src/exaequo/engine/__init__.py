"""Engines: the same evaluation in blocks of topics, for files larger than memory, and on Spark. Out: scores."""
