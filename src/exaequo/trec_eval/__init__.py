"""The official evaluator, byte for byte: `exaequo trec_eval`, releases 10.0 and 9.0.8.

Its quirks, each kept on purpose:

- Measures are printed in its own order, whatever the order of -m; of a measure's parameter lists the first counts.
- `-l` moves the level of relevance, but not of ndcg, dcg, G, Rndcg, ndcg_rel and rbp, which work on gains; and under
  `-c` num_rel is summed at level 1 whatever `-l` says.
- `-M` cuts lists before `-J` drops documents nobody judged.
- Documents tied in score are ordered by name, descending; for preferences, ascending.
- Averages are sums in the order of topics over their number; gm_map and gm_bpref take values below 0.00001 as that.
- Release 9 compares scores in single precision, release 10 in double.
- Recall levels: release 10 needs round(level · relevant) documents, release 9 floor(level · relevant + 0.9).
- Missing topics: release 9 leaves them out, or under `-c` counts them in the averages only. Release 10 refuses them,
  or under `-c` gives each a list of one unjudged document and prints it. It then sets num_ret, unj, rbp_resid, and
  utility and relstring without parameters, back to nothing; with parameters they keep the placeholder.
- Judgments are whole numbers: 1.5 is read as 1. A judgment below 0 means pooled, but not judged.
- Gains given as parameters sort by the whole part of their difference.
- set_F's parameter is β². utility is not reset per topic. set_P of an empty list is 0, 11pt_avg of it is `-nan`.

Where it is undefined, what it documents is done instead: rbp scales gains to [0, 1] if one of the topic's lies outside
(release 10.0 compares with variables it has not set); a comment may be the last line of a file; ndcg, dcg and ideal_dcg
have parameters of their own (they share one list, and free it twice). Where it reads anything as 0, such as a score or
judgment that is no number, the input is refused: no number is made up.
"""

from exaequo.errors import ExaequoError


class OfficialError(ExaequoError):
    """An error with the exit code the official program has for it."""

    def __init__(self, exit_code: int, message: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code
