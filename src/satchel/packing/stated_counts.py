"""What a pack in JSON states of how many pieces it holds and left out, held true while its items change."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from typing import Any

from satchel.packing.pack import DropReason
from satchel.packing.read_back import JsonPack

_STATED_IN = ("budget", "metadata", "coverage_summary")
_MOST = 2**53  # a larger number is none that counts anything, and JSON readers disagree about it


class StatedCounts:
    """Counts of a pack that was read: a piece that is gone is no candidate any more, one that does not fit
    any more is dropped."""

    def __init__(self, pack: JsonPack) -> None:
        self._pack = pack
        self._before = {name: deepcopy(pack.part(name)) for name in _STATED_IN}

    def state(self, dropped: Counter[str]) -> None:
        """Count the items that the pack has now, besides those of each section that did not fit."""
        if dropped.total():
            self._state_budget(dropped.total())
        if self._pack.cited.format == "sections":
            self._state_metadata(dropped.total())
            self._state_coverage(dropped)

    def _state_budget(self, dropped: int) -> None:
        budget = self._pack.part("budget")
        if "dropped_items" in budget:
            total = _count(self._before["budget"]["dropped_items"]) + dropped
            budget.update(dropped_items=total, truncated=True)

    def _state_metadata(self, dropped: int) -> None:
        metadata = self._pack.part("metadata")
        if "selected" not in metadata:
            return
        stated = self._before["metadata"].get("dropped")
        reasons = {name: _count(value) for name, value in stated.items()} if isinstance(stated, dict) else {}
        if dropped:
            reasons[DropReason.BUDGET.value] = reasons.get(DropReason.BUDGET.value, 0) + dropped
        selected = sum(map(len, self._pack.data["sections"].values()))
        candidates = selected + _count(metadata.get("duplicates")) + sum(reasons.values())
        metadata.update(candidates=candidates, selected=selected, dropped=dict(sorted(reasons.items())))

    def _state_coverage(self, dropped: Counter[str]) -> None:
        for name, stated in self._pack.part("coverage_summary").items():
            if isinstance(stated, dict):
                before = _count(self._before["coverage_summary"][name].get("dropped"))
                selected = len(self._pack.data["sections"].get(name, ()))
                stated.update(selected=selected, dropped=before + dropped[name])


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < _MOST else 0
