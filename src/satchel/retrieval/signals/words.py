"""Does the file hold the words of the query: in its best unit, its best four, all of it, in its names?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.evidence import saturated, scaled, summed
from satchel.retrieval.query_terms import Weighting
from satchel.retrieval.signals.signal import Context, SignalGroup

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats

_NAME = _STEM = 3.0  # what a word in the name of a definition or of the file counts against one in the text
_COMMENT = 0.5
_WEIGHTINGS = (Weighting.BLEND, Weighting.FULL, Weighting.TITLE)


def unit_worth(context: Context) -> Floats:
    """Return what each entry of the evidence is worth, all fields taken together."""
    evidence = context.evidence
    frequency = (evidence.body + _COMMENT * evidence.comment) / evidence.norm
    frequency += _NAME * evidence.name + _STEM * evidence.stem + evidence.folder
    return saturated(frequency)


def compute(context: Context) -> dict[str, Floats]:
    """Return how many words of the query each candidate holds, field by field."""
    evidence = context.evidence
    worth = unit_worth(context)
    inside = saturated(evidence.body / evidence.norm + _NAME * evidence.name)  # without the path
    found: dict[str, Floats] = {}
    for weighting in _WEIGHTINGS:
        if found and context.query_terms.all_title:
            found[f"unit_{weighting}"] = found[f"unit_{_WEIGHTINGS[0]}"]
        else:
            found[f"unit_{weighting}"] = scaled(evidence.best_of_file(evidence.by_unit(worth, weighting)))
    found["unit_how"] = context.asks_how * found[f"unit_{Weighting.BLEND}"]
    found["units_blend"] = scaled(evidence.best_four_of_file(evidence.by_unit(inside, Weighting.BLEND)))
    found["unit_names"] = scaled(evidence.best_of_file(evidence.by_unit(worth, Weighting.NAMES)))
    found["file_full"] = scaled(
        evidence.by_file(evidence.body / np.maximum(1.0, _file_norm(context)), Weighting.FULL)
    )
    found["names_blend"] = scaled(evidence.by_file(evidence.name, Weighting.BLEND))
    first = np.zeros(len(evidence.unit_positions), bool)
    first[evidence.unit_starts] = True
    # A path is the same in all units of a file, so it counts in the first unit only.
    first_here = first[evidence.unit]
    found["folder_blend"] = scaled(
        evidence.by_file(np.where(first_here, evidence.folder, 0.0), Weighting.BLEND)
    )
    found["stem_blend"] = scaled(evidence.by_file(np.where(first_here, evidence.stem, 0.0), Weighting.BLEND))
    return found


def _file_norm(context: Context) -> Floats:
    """Return what the frequencies of each entry are divided by, for the length of its file."""
    evidence = context.evidence
    corpus = context.corpus
    lengths = (
        corpus.body_lengths[evidence.unit_positions].astype(np.float64)
        + corpus.comment_lengths[evidence.unit_positions]
    )
    per_file = summed(evidence.unit_file, lengths, len(evidence.files))
    mean = (
        (corpus.mean_body_length + corpus.mean_comment_length) * corpus.unit_count / max(1, len(corpus.files))
    )
    return (0.25 + 0.75 * per_file / max(1.0, mean))[evidence.file]


SIGNAL = SignalGroup(
    "words",
    (
        *(f"unit_{weighting}" for weighting in _WEIGHTINGS),
        "unit_how",
        "units_blend",
        "unit_names",
        "file_full",
        "names_blend",
        "folder_blend",
        "stem_blend",
    ),
    compute,
)
