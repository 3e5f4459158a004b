"""Candidates in their order → the pack that fits, with what was left out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import msgspec

from satchel.answering import CorpusReading
from satchel.packing.assemble import Assembly
from satchel.packing.budget import MAX_CHARS, MAX_TOKENS, Gauge, Size
from satchel.packing.items import Plan
from satchel.packing.pack import Counts, DropReason, Pack, Section
from satchel.retrieval.corpus import Corpus
from satchel.reviewing.notes import Notes, hints
from satchel.reviewing.order import Candidate

_CHARS_PER_TOKEN = 3  # of code; rather too large a budget is proposed than too small a one
_ESCAPED = 1.1  # characters that a format makes of one
_GROWTH = 1.25  # in a larger pack, longer definitions are shown whole
_ROUND_TO = 500  # a budget is proposed in steps of this
_LEAST_TOKENS = 24  # that an item takes; with less left, nothing more is tried


class Filling:
    """Takes what fits, in its order. `capped` are pieces that are not even tried."""

    def __init__(
        self,
        frame: Pack,
        gauge: Gauge,
        corpus: Corpus,
        ordered: Sequence[Candidate],
        capped: Sequence[Candidate],
        notes: Notes,
    ) -> None:
        self.frame = frame
        self.gauge = gauge
        self.ordered = ordered
        self.capped = capped
        self.notes = notes
        self.assembly = Assembly(frame, gauge, CorpusReading(corpus), Plan({}))

    def pack(self) -> Pack:
        """The fullest pack that fits, hints included; the least needed item goes when it does not."""
        taken = self._taken()
        while taken and not self._fits(taken):
            taken.pop()
        pack = self._packed(taken)
        while pack.hints and not self.gauge.fits(self.gauge.size(pack)):
            pack = msgspec.structs.replace(pack, hints=pack.hints[:-1])
        return self.assembly.seal(pack)

    def _fits(self, taken: Sequence[int]) -> bool:
        return self.gauge.fits(self.gauge.size(self._packed(taken)))

    def _taken(self) -> list[int]:
        """The places of those that fit, beside as much as the hints may take."""
        left = self.gauge.left(self.gauge.size(self._packed(())))
        taken = []
        for at, one in enumerate(self.ordered):
            if self.gauge.max_tokens and left.tokens < _LEAST_TOKENS:
                break
            cost = self.assembly.cost(msgspec.structs.replace(self.frame, items=(one.item,)))
            if left.holds(cost):
                left = left.without(cost)
                taken.append(at)
        return taken

    def _packed(self, taken: Sequence[int]) -> Pack:
        chosen = set(taken)
        shown = [self.ordered[at] for at in taken]
        dropped = [one for at, one in enumerate(self.ordered) if at not in chosen]
        by_section = Counter(one.item.section for one in (*dropped, *self.capped))
        reasons = {DropReason.BUDGET.value: len(dropped), DropReason.CAP.value: len(self.capped)}
        counts = Counts(
            candidates=len(self.ordered) + len(self.capped),
            selected=len(shown),
            dropped={name: count for name, count in reasons.items() if count},
            dropped_by_section={name.value: by_section[name] for name in Section if by_section[name]},
        )
        known = {one.file for one in shown}
        missing = [path for path in dict.fromkeys(one.file for one in dropped) if path and path not in known]
        said = hints(self.notes, missing, self._wanted(dropped))
        items = tuple(one.item for one in _as_read(shown))
        return msgspec.structs.replace(self.frame, items=items, counts=counts, hints=said)

    def _wanted(self, dropped: Sequence[Candidate]) -> str:
        """The budget that would hold what was left out, as a flag; empty if nothing was, or if none would."""
        if not dropped:
            return ""
        chars = sum(len(one.item.content) for one in dropped)
        more = Size(
            chars // _CHARS_PER_TOKEN + len(dropped) * self._citation.tokens,
            int(chars * _ESCAPED) + len(dropped) * self._citation.chars,
        )
        flags = (
            ("--budget-tokens", self.gauge.max_tokens, more.tokens, MAX_TOKENS),
            ("--max-chars", self.gauge.max_chars, more.chars, MAX_CHARS),
        )
        wanted = [(flag, _rounded(now + _GROWTH * add), most) for flag, now, add, most in flags if now]
        if any(value > most for _, value, most in wanted):
            return ""
        return " ".join(f"{flag} {value}" for flag, value, _ in wanted)

    @cached_property
    def _citation(self) -> Size:
        """What an item takes beside its content, in this format."""
        bare = msgspec.structs.replace(self.ordered[0].item, content="")
        return self.assembly.cost(msgspec.structs.replace(self.frame, items=(bare,)))


def _rounded(value: float) -> int:
    return math.ceil(value / _ROUND_TO) * _ROUND_TO


def _as_read(shown: Sequence[Candidate]) -> list[Candidate]:
    """File by file as the first of each came, from top to bottom, what was removed after what is there."""
    rank: dict[str, int] = {}
    for one in shown:
        rank.setdefault(one.place.path, len(rank))
    return sorted(shown, key=lambda one: (rank[one.place.path], one.place.line, one.place.old))
