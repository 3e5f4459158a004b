"""Which commits of the past touched files of now?

Paths that are gone are dropped here, not when the history is read: files come and go between two commits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from satchel.storage.history import PackedHistory

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Places
    from satchel.retrieval.evidence import Floats


class Changes:
    """One entry for each living file of each commit: `commits` and `files` are its places, `shares` what the
    commit gives to each of its files."""

    def __init__(self, history: PackedHistory, position_of: Mapping[str, int]) -> None:
        self._history = history
        counts = np.frombuffer(history.path_counts, "<u4").astype(np.int64)
        position = np.array([position_of.get(path, -1) for path in history.paths], np.int64)
        files = position[np.frombuffer(history.path_places, "<u4")]
        commits = np.repeat(np.arange(len(counts)), counts)
        self.files: Places = files[files >= 0]
        self.commits: Places = commits[files >= 0]
        self.total = len(counts)
        living = np.bincount(self.commits, minlength=self.total)
        self.shares: Floats = 1.0 / np.sqrt(living[self.commits])
        self._living = living > 0
        self.count = int(self._living.sum())  # of commits that touched a file of now
        lengths = np.frombuffer(history.lengths, "<u4").astype(np.float64)
        mean = max(1.0, float(lengths[self._living].sum()) / max(1, self.count))
        self.lengths: Floats = lengths / mean  # of the messages; 1 is the usual one

    def last_change(self, file_count: int) -> Places:
        """How many commits ago each file of the corpus changed last; -1 for one that did not."""
        last = np.full(file_count, self.total, np.int64)
        np.minimum.at(last, self.files, self.commits)
        return np.where(last < self.total, last, -1)

    def postings(self, term: str) -> tuple[Places, Floats]:
        """The commits that touched a file of now and hold a term in their messages, and how often they do."""
        found, frequencies = self._history.postings(term)
        living = self._living[found]
        return found[living].astype(np.int64), frequencies[living].astype(np.float64)
