"""Did old commits that read like the query change the file, and did it change of late?

A repository without history gives none of these signals.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.retrieval.corpus import FileChanges
from satchel.retrieval.evidence import K1, first_largest, inverse_document_frequency, scaled, summed
from satchel.retrieval.query_terms import Weighting
from satchel.retrieval.signals.signal import Context, SignalGroup

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats, Positions

_LONG = 0.6  # how much a long message is held against it
_COMMON = 0.3  # of all messages; a word that stands in more of them (`fix`, a project's name) tells nothing
_ALIKE = 30  # commits that a query may be like
_RECENT = 400  # commits after which a change counts a third
_DIGITS = 6  # of an exponential: libraries differ in its last bit
_TIES = 9  # digits


class _Entries(msgspec.Struct, frozen=True):
    """A candidate that a commit changed: its place among the candidates, the commit, its share of it."""

    files: Positions
    commits: Positions
    shares: Floats


def compute(context: Context) -> dict[str, Floats]:
    changes = context.corpus.changes
    if not changes.count:
        return {}
    local = context.local[changes.files]
    here = local >= 0
    entries = _Entries(local[here], changes.commits[here], changes.shares[here])
    return {
        "history_messages": _messages(context, changes, entries),
        "history_recent": _recent(context),
    }


def _messages(context: Context, changes: FileChanges, entries: _Entries) -> Floats:
    """The commits whose messages are most like the query give their likeness to their files."""
    likeness = scaled(_likeness(context, changes))
    best = first_largest(np.round(likeness, _TIES), _ALIKE)  # of equal ones the newest
    given = np.zeros(changes.total)
    given[best] = likeness[best] ** 2
    return scaled(summed(entries.files, entries.shares * given[entries.commits], context.count))


def _likeness(context: Context, changes: FileChanges) -> Floats:
    """How well each commit's message fits the query."""
    scores = np.zeros(changes.total)
    norms = K1 * (1.0 - _LONG + _LONG * changes.lengths)
    for term, weight in zip(
        context.query_terms.terms, context.query_terms.weights[Weighting.BLEND], strict=True
    ):
        if not weight:
            continue
        commits, frequencies = changes.postings(term)
        if 0 < len(commits) <= _COMMON * changes.count:
            rarity = weight * inverse_document_frequency(len(commits), changes.count)
            scores[commits] += rarity * (K1 + 1.0) * frequencies / (frequencies + norms[commits])
    return scores


def _recent(context: Context) -> Floats:
    """Near 1 for a file of the last commits; 0 for one that none of them changed."""
    ago = context.corpus.changes.last_change[context.evidence.files].tolist()
    return np.array([round(math.exp(-count / _RECENT), _DIGITS) if count >= 0 else 0.0 for count in ago])


SIGNAL = SignalGroup("history", ("history_messages", "history_recent"), compute)
