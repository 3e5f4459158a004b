"""Did commits whose messages are like the query change the file, and did it change recently?

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

_LONG = 0.6  # how much the length of a message lowers its score, from 0 to 1
_COMMON = 0.3  # of all messages; a word that is in more of them (`fix`, a project's name) tells nothing
_ALIKE = 30  # commits that may be like a query
_RECENT = 400  # commits after which a change counts a third
_DIGITS = 6  # of an exponential: libraries differ in its last bit
_TIES = 9  # digits


class _Entries(msgspec.Struct, frozen=True):
    """The candidates that commits changed: number of the candidate, commit, share of the commit."""

    files: Positions
    commits: Positions
    shares: Floats


def compute(context: Context) -> dict[str, Floats]:
    """Return how much the history of each candidate speaks for it."""
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
    """Return how similar the commits that changed each candidate are to the query."""
    similarity = scaled(_similarities(context, changes))
    best = first_largest(np.round(similarity, _TIES), _ALIKE)  # of equal commits the newest
    given = np.zeros(changes.total)
    given[best] = similarity[best] ** 2
    return scaled(summed(entries.files, entries.shares * given[entries.commits], context.count))


def _similarities(context: Context, changes: FileChanges) -> Floats:
    """Return the BM25 score of each commit's message for the query."""
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
    """Return near 1 for candidates that the last commits changed, 0 for those that no kept commit changed."""
    ago = context.corpus.changes.last_change[context.evidence.files].tolist()
    return np.array([round(math.exp(-count / _RECENT), _DIGITS) if count >= 0 else 0.0 for count in ago])


SIGNAL = SignalGroup("history", ("history_messages", "history_recent"), compute)
