"""What each official measure is, for `-h -m NAME`. In: requests. Out: text of ours, with parameters and defaults."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from exaequo.trec_eval.catalogue import Official, Request

_PREFERENCES = "preferences that the list fulfils: the preferred document before the other, or alone"
ABOUT = {
    "runid": "The name of the run: the last field of its last line.",
    "num_q": "Topics that are evaluated.",
    "num_ret": "Documents returned, summed over topics.",
    "num_rel": "Relevant documents in the judgments, summed over topics.",
    "num_rel_ret": "Relevant documents returned, summed over topics.",
    "map": "Average precision: precision at the rank of each relevant document, 0 for those never returned, averaged "
    "over all relevant ones; then the mean over topics.",
    "gm_map": "Geometric mean of average precision over topics; a value below 0.00001 counts as that. It shows how "
    "the worst topics fare.",
    "Rprec": "Precision at rank R, where R is the number of relevant documents of the topic.",
    "bpref": "For each relevant document returned, the share of judged non-relevant ones, at most as many as are "
    "relevant, that do not stand above it; averaged over all relevant ones. What nobody judged does not matter.",
    "recip_rank": "One over the rank of the first relevant document, 0 without one.",
    "iprec_at_recall": "Interpolated precision: the best precision at or after the rank where recall reaches a level.",
    "P": "Precision: relevant documents among the first k, over k, even if the list is shorter.",
    "relstring": "The judgments of the first documents as a string: a digit each, > above 9, - outside "
    "the pool, . pooled, but not judged. Printed for topics only.",
    "recall": "Relevant documents among the first k, over all relevant ones.",
    "infAP": "Average precision inferred from a sample of judgments, where -1 is pooled, but not judged.",
    "gm_bpref": "Geometric mean of bpref over topics; a value below 0.00001 counts as that.",
    "Rprec_mult": "Precision at a multiple of R, the number of relevant documents.",
    "utility": "What the whole list is worth: a for each relevant document returned, b for each other one, c for each "
    "relevant one not returned, d for the rest of the collection (-N).",
    "11pt_avg": "Mean of interpolated precision over recall levels.",
    "binG": "Relevant documents, each discounted by the logarithm of the non-relevant ones above it, over the number "
    "of relevant ones.",
    "G": "Gains, each discounted by the logarithm of what reading so far has cost beyond what it gained, over all of "
    "them.",
    "dcg": "Discounted cumulative gain: gain over log2(rank + 1), summed over the list.",
    "ideal_dcg": "Discounted cumulative gain of the best order of all judged documents.",
    "ndcg": "Discounted cumulative gain, gain over log2(rank + 1), over that of the best order.",
    "ndcg_rel": "nDCG at the rank of each document with a gain, averaged over all of them.",
    "Rndcg": "nDCG averaged over the ranks where the gain of the best order changes.",
    "ndcg_cut": "nDCG of the first k documents, against the best k.",
    "map_cut": "Average precision of the first k documents, over all relevant ones.",
    "relative_P": "Precision at k over the best there can be with so many relevant documents.",
    "success": "1 if there is a relevant document among the first k, else 0.",
    "set_P": "Precision of the whole list as a set.",
    "set_relative_P": "Precision of the whole list over the best there can be at its length.",
    "set_recall": "Recall of the whole list as a set.",
    "set_map": "Precision times recall of the whole list.",
    "set_F": "F of the whole list: (x + 1) P R / (x P + R). The parameter x is the square of beta in textbooks.",
    "num_nonrel_judged_ret": "Documents returned that were judged, and are not relevant; summed over topics.",
    "prefs_num_prefs_poss": "Preferences there are, over all groups; summed over topics.",
    "prefs_num_prefs_ful": f"Number of {_PREFERENCES}; summed over topics.",
    "prefs_num_prefs_ful_ret": "Preferences fulfilled with both documents returned; summed over topics.",
    "prefs_simp": f"Share of {_PREFERENCES}, all groups together.",
    "prefs_pair": "Share of the groups that agree with the order of two documents, averaged over the pairs on which "
    "some group has an opinion.",
    "prefs_avgjg": f"Share of {_PREFERENCES}, in each group by itself, then averaged over groups.",
    "prefs_avgjg_Rnonrel": "As prefs_avgjg, with as many non-relevant documents as relevant ones in each group.",
    "prefs_simp_ret": "As prefs_simp, of preferences with both documents returned.",
    "prefs_pair_ret": "As prefs_pair, of preferences with both documents returned.",
    "prefs_avgjg_ret": "As prefs_avgjg, of preferences with both documents returned.",
    "prefs_avgjg_Rnonrel_ret": "As prefs_avgjg_Rnonrel, of preferences with both documents returned.",
    "prefs_simp_imp": "As prefs_simp, of preferences with one document returned, or both.",
    "prefs_pair_imp": "As prefs_pair, of preferences with one document returned, or both.",
    "prefs_avgjg_imp": "As prefs_avgjg, of preferences with one document returned, or both.",
    "map_avgjg": "Average precision by the judgments of each group, averaged over groups.",
    "P_avgjg": "Precision at k by the judgments of each group, averaged over groups.",
    "Rprec_mult_avgjg": "Precision at a multiple of R by the judgments of each group, averaged over groups.",
    "yaap": "Logarithm of the odds of average precision, smoothed: ln((1 + s) / (1 + R - s)), where s is the sum of "
    "the precisions and R the number of relevant documents.",
    "rbp": "Rank-biased precision: (1 - p) times the gains, the one at rank i weighed by p to the power of i - 1.",
    "rbp_resid": "What rbp could gain if all that nobody judged were relevant.",
    "unj": "Share of the first k documents that nobody judged.",
}
_TAKES = {
    "": "",
    "cut": "Parameters: cutoffs k, whole numbers; a figure for each.",
    "levels": "Parameters: levels, real numbers; a figure for each.",
    "numbers": "Parameters: numbers, with commas between them.",
    "pairs": "Parameters: a gain for a judgment, as in 1=3,2=9; by default the judgment itself.",
}


def described(asked: Sequence[Request]) -> str:
    """Return what there is to say about these measures, one after the other."""
    return "\n\n".join(_described(each.official) for each in asked)


def _described(official: Official) -> str:
    lines = [ABOUT[official.name], _TAKES[official.takes]]
    if official.name in ("rbp", "rbp_resid"):
        lines.append("p is a parameter too, as in p=0.8; by default 0.9.")
    if official.default:
        usual = ",".join(f"{each:g}" for each in official.default)
        lines.append(f"The default is -m {official.name}.{usual}.")
    if official.judgments not in ("", "qrels"):
        lines.append(f"It needs -R {official.judgments}.")
    if official.since > 9:
        lines.append(f"Release {official.since} has it, release 9 has not.")
    told = " ".join(filter(None, lines))
    return f"{official.name}\n{textwrap.fill(told, 79, initial_indent='    ', subsequent_indent='    ')}"
