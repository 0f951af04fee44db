"""Topics by name, for explanations."""

from __future__ import annotations

import numpy as np

from exaequo.errors import BadParameter
from exaequo.judge import Judgments
from exaequo.text import did_you_mean


def place_of(topic: str, judgments: Judgments) -> int:
    """Return the place of a topic among those evaluated."""
    if topic not in judgments.topics:
        known = judgments.topics.to_list()
        why = "it has no relevant document" if topic in judgments.nothing_relevant else "it is not judged"
        raise BadParameter(f"Topic {topic!r} cannot be explained: {why}{did_you_mean(topic, known) or '.'}")
    return int(np.flatnonzero((judgments.topics == topic).to_numpy())[0])
