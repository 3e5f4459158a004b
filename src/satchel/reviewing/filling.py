"""Passages of a review in their order → the pack that fits, with hints on what it does not show."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from satchel.corpus_reading import CorpusReading, PackOrigin
from satchel.packing.assembly import Assembly
from satchel.packing.budget import MAX_CHARS, MAX_TOKENS, Gauge, Size
from satchel.packing.pack import Counts, DropReason, Pack
from satchel.packing.sections import Section
from satchel.packing.selection import PackPlan
from satchel.retrieval.corpus import Corpus
from satchel.reviewing.passages import ReviewPassage
from satchel.tokenizers import CharsPerToken
from satchel.walking.change_set import ChangedFile, Status

_ESCAPED = 1.1  # characters that a format writes for each character of text
_GROWTH = 1.25  # in a larger pack, longer definitions are shown whole
_ROUND_TO = 500  # a budget is proposed in steps of this
_LEAST_TOKENS = 24  # that any item takes; with less room left no further one is tried
_MOST_NAMED = 4  # files or names in one hint


class ReviewPackFiller:
    """Fills the pack of a review with passages in their order; `capped` are passages that only count as
    dropped by a cap."""

    def __init__(
        self,
        frame: Pack,
        gauge: Gauge,
        corpus: Corpus,
        ordered: Sequence[ReviewPassage],
        capped: Sequence[ReviewPassage],
        notes: ReviewNotes,
    ) -> None:
        self.frame = frame
        self.gauge = gauge
        self.ordered = ordered
        self.capped = capped
        self.notes = notes
        self.assembly = Assembly(frame, gauge, CorpusReading(corpus, PackOrigin(frame.ref)), PackPlan({}))

    def pack(self) -> Pack:
        """Return the fullest pack that fits with its hints. While it does not fit, the last passage goes."""
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
        """Return the numbers of the passages that fit beside the hints of a pack without items."""
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
        """Return the pack with the taken passages, its counts and its hints."""
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
        said = review_hints(self.notes, missing, self._wanted(dropped))
        items = tuple(one.item for one in _as_read(shown))
        return msgspec.structs.replace(self.frame, items=items, counts=counts, hints=said)

    def _wanted(self, dropped: Sequence[ReviewPassage]) -> str:
        """Return the flags of a budget that would hold what was left out; empty if nothing was left out, or
        if no budget would hold it."""
        if not dropped:
            return ""
        chars = sum(len(one.item.content) for one in dropped)
        more = Size(
            chars // CharsPerToken.CODE + len(dropped) * self._citation.tokens,
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
        """Return the size of an item beside its content, in this format."""
        bare = msgspec.structs.replace(self.ordered[0].item, content="")
        return self.assembly.cost(msgspec.structs.replace(self.frame, items=(bare,)))


def _rounded(value: float) -> int:
    return math.ceil(value / _ROUND_TO) * _ROUND_TO


def _as_read(shown: Sequence[ReviewPassage]) -> list[ReviewPassage]:
    """Return the passages in the order of reading: file by file, in the order of their first passages; by
    line inside a file; removed lines after those that are there."""
    rank: dict[str, int] = {}
    for one in shown:
        rank.setdefault(one.order.path, len(rank))
    return sorted(shown, key=lambda one: (rank[one.order.path], one.order.line, one.order.old))


class ReviewNotes(msgspec.Struct, frozen=True, kw_only=True):
    """What a review knows of the change beside its passages."""

    files: Sequence[ChangedFile]
    outside: Mapping[str, str]  # changed files that are not in the index, with the reason
    no_files: Mapping[str, str]  # changed links and submodules, with their kind
    filtered: int  # number of changed files that the filters leave out
    left_names: Sequence[str]  # removed names that are still used
    untested: Sequence[str]  # changed names that no test mentions
    generated: Sequence[str]  # files that a program writes, of which only some lines are shown
    sweeping: int  # number of files that have the same edit as many others


def review_hints(notes: ReviewNotes, missing: Sequence[str], wanted: str) -> tuple[str, ...]:
    """Return the hints of a review, most needed first. `missing` are the changed files of which nothing is
    shown; `wanted` are the flags of a budget that would hold all, empty if there is none."""
    if not notes.files and not notes.filtered:
        return tuple(_no_files(notes.no_files)) or ("nothing is changed here",)
    if not notes.files:
        left_out = f"the filters leave out all {_counted(notes.filtered, 'changed file')}"
        return (left_out, *_no_files(notes.no_files))
    said = [
        *_not_in_clone(notes.files),
        *_still_used(notes.left_names),
        *_not_shown(missing, len(notes.files), wanted),
        *_outside(notes.outside),
        *_no_files(notes.no_files),
        *_moved(notes.files),
        *_without_lines(notes),
    ]
    if notes.generated:
        said.append(f"only the first changed lines are shown of {_listed(notes.generated)}")
    if notes.untested:
        said.append(f"no test in the index speaks of {_listed(notes.untested)}")
    if notes.sweeping:
        said.append(
            f"{_counted(notes.sweeping, 'file')} changed in the same way as others shown or named here"
        )
    if notes.filtered:
        said.append(f"the filters leave out {_counted(notes.filtered, 'changed file')}")
    return tuple(said)


def _not_in_clone(files: Sequence[ChangedFile]) -> Iterator[str]:
    torn = [file.path for file in files if not file.in_clone]
    if torn:
        yield (
            f"which lines changed is not known of {_counted(len(torn), 'file')}, because this clone does not"
            f" have both sides: {_listed(torn)}"
        )


def _still_used(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"defined no more but still used: {_listed(names)}"


def _not_shown(missing: Sequence[str], count: int, wanted: str) -> Iterator[str]:
    files = f"{len(missing)} of {count} changed files are not shown: {_listed(missing)}; " if missing else ""
    if wanted:
        yield f"{files}{wanted} would hold all that was left out"
    elif missing:
        yield f"{files}they are too many for any budget, --include FOLDER narrows the review"


def _outside(outside: Mapping[str, str]) -> Iterator[str]:
    if outside:
        named = [f"{path} ({why})" for path, why in sorted(outside.items())]
        yield f"{_counted(len(named), 'changed file')} not in the index: {_listed(named)}"


def _no_files(no_files: Mapping[str, str]) -> Iterator[str]:
    if no_files:
        named = [f"{path} ({kind})" for path, kind in sorted(no_files.items())]
        yield f"changed, but no file: {_listed(named)}"


def _moved(files: Sequence[ChangedFile]) -> Iterator[str]:
    renamed = [f"{file.old_path} to {file.path}" for file in files if file.status is Status.RENAMED]
    if renamed:
        yield f"renamed: {_listed(renamed)}"
    deleted = [_size(file) for file in files if file.status is Status.DELETED]
    if deleted:
        yield f"deleted: {_listed(deleted)}"


def _without_lines(notes: ReviewNotes) -> Iterator[str]:
    bare = [
        file.path
        for file in notes.files
        if not file.hunks
        and file.in_clone
        and file.status is not Status.RENAMED
        and file.path not in notes.outside
    ]
    if bare:
        yield f"changed, but no line of it: {_listed(bare)}"


def _size(file: ChangedFile) -> str:
    return f"{file.path} ({_counted(file.old_line_count, 'line')})" if file.old_line_count else file.path


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
