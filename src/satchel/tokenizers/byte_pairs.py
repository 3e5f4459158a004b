"""Count the tokens of a text with a byte-pair vocabulary. tiktoken does the work, so the counts equal its
own.

Building tiktoken's encoder for a whole vocabulary takes a quarter of a second, more than a search. So the
first texts are counted by an encoder that has only the entries that can occur in them (see `vocabulary`). The
whole one is built when a process goes on counting.

Lines are counted again and again while a pack is filled, so a text is split at points where the counts of the
parts add up to the count of the whole, and the counts of the parts are cached. A byte-pair tokenizer first
splits a text by a pattern and merges bytes only inside of one piece. In the patterns of all our vocabularies
white space stands before what it goes with, and after a line end a piece contains nothing but white space and
slashes. So a piece ends, whatever stands around it,

- with the last line end before a line that has something on it and does not start with a slash,
- with a letter before a space: in JSON, with the `n` of an escaped line end.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

import msgspec

from satchel.tokenizers import characters_of, vocabulary

if TYPE_CHECKING:
    from satchel.tokenizers.vocabulary import Known, Slots

PARTIAL_BUILDS = (
    12  # a partial encoder costs a tenth of the whole one; a process that needs more builds the whole one
)
_FEW_TEXTS = 64  # looking for the encoder of one text takes 30 µs, building one 8 ms
PARTIAL_CHARACTERS = 1_000_000  # more text needs most of the vocabulary anyway

# The pattern engine raises an error on a million blanks before another character. Its result would be
# simple, so long runs are split here: all but the last blank are one piece, the last goes with what follows.
_BLANK = (
    "\t\x0b\x0c \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # white space except line ends
)
LONG_RUN = 100_000  # characters; a tenth of what the engine was seen to handle
_LONG_RUN = rf"(?<![{_BLANK}])[{_BLANK}]{{{LONG_RUN},}}+(?=[^{_BLANK}\r\n])"
_LINE_END = re.compile(r"\n(?!/)(?=[ \t]*\S)")
_WRITTEN_LINE_END, _INDENT = "\\n", " "
_MOST_CHARACTERS = 4_000_000  # cached for each kind of part: 100,000 lines of usual length, about 15 MB


class _Partial(msgspec.Struct, frozen=True):
    """An encoder that is exact for every text in which only the known sequences of bytes occur."""

    known: Known
    core: Any


class BytePairs:
    """Counts tokens with one vocabulary. Threads may share it: at worst both build the same encoder."""

    def __init__(self, name: str, pattern: str) -> None:
        self._name = name
        self._pattern = pattern
        self._whole: Any = None
        self._partials: list[_Partial] = []
        self._characters = 0
        self._splitter = ExactSplitter()

    def count(self, text: str) -> int:
        """Return the number of tokens. Text that looks like a special token is ordinary text, as in any
        file."""
        if not text:
            return 0
        parts = self._splitter.cut(characters_of(text))
        return sum(self._count_each(parts.ends)) + parts.known.total(parts.between, self._count_each)

    def _count_each(self, texts: list[str]) -> list[int]:
        """Return the count of each text. A few texts that no encoder serves together are counted one by one:
        most of them were prepared for, and a new encoder is built only for the others."""
        if not texts:
            return []
        if 1 < len(texts) <= _FEW_TEXTS and self._known_core(_slots_of(texts)) is None:
            cores = [self._known_core(_slots_of([text])) for text in texts]
            new = [text for text, core in zip(texts, cores, strict=True) if core is None]
            rest = self._core_for(new) if new else None
            return [_count_long(core or rest, text) for text, core in zip(texts, cores, strict=True)]
        core = self._core_for(texts)
        return [_count_long(core, text) for text in texts]

    def prepare(self, texts: Iterable[str]) -> None:
        """Build one encoder that serves all these texts, instead of a new one for each."""
        if self._whole is None:
            cut = map(self._splitter.cut, map(characters_of, texts))
            self._core_for(list(dict.fromkeys(text for parts in cut for text in parts.texts())))

    def _core_for(self, texts: Sequence[str]) -> Any:
        """Return an encoder that is exact for these texts."""
        if self._whole is not None:
            return self._whole
        self._characters += sum(map(len, texts))
        if self._characters > PARTIAL_CHARACTERS:
            return self._build_whole()
        slots = _slots_of(texts)
        return self._known_core(slots) or self._build_partial(slots)

    def _known_core(self, slots: Slots) -> Any:
        """Return an encoder that is built already and exact for texts with these slots, otherwise None."""
        served = (partial.core for partial in self._partials if partial.known[slots].all())
        return self._whole or next(served, None)

    def _build_partial(self, slots: Slots) -> Any:
        """Return a new encoder for the entries that the slots allow. After a first one for much text, few
        others are needed."""
        if len(self._partials) == PARTIAL_BUILDS:
            return self._build_whole()
        known = vocabulary.no_slots()
        known[slots] = True
        ranks = vocabulary.load(self._name).ranks_within(known)
        core = _encoder_class()(ranks, {}, self._pattern)
        # A new list, because other threads may be iterating over the old one.
        self._partials = [*self._partials, _Partial(known, core)]
        return core

    def _build_whole(self) -> Any:
        """Return the encoder of the whole vocabulary and keep it for all further texts."""
        ranks = vocabulary.load(self._name).all_ranks()
        self._whole = _encoder_class()(ranks, {}, self._pattern)
        self._partials = []
        return self._whole


def _slots_of(texts: Sequence[str]) -> Slots:
    """Return the slots of all bytes that can stand in one piece of these texts."""
    return vocabulary.slots_in_pieces(vocabulary.SEPARATOR.join(texts).encode())


def _count_long(core: Any, text: str) -> int:
    """Return the count of a text. Runs of blanks that the pattern engine cannot take are counted apart."""
    if len(text) <= LONG_RUN:
        return len(core.encode_ordinary(text))
    total = position = 0
    for run in re.finditer(_LONG_RUN, text):
        total += len(core.encode_ordinary(text[position : run.start()]))
        total += len(core.encode_single_piece(run.group()[:-1].encode()))
        position = run.end() - 1
    return total + len(core.encode_ordinary(text[position:]))


@cache
def _encoder_class() -> Any:
    """Return tiktoken's compiled encoder. Its Python half imports logging and thread pools at four times the
    cost."""
    from importlib.util import module_from_spec

    package = PathFinder.find_spec("tiktoken")
    locations = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec("tiktoken._tiktoken", locations) if locations else None
    if spec is None or spec.loader is None:
        return importlib.import_module("tiktoken._tiktoken").CoreBPE
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CoreBPE


class SplitText(msgspec.Struct, frozen=True):
    """A text in parts. The counts of the parts `between` are cached by `known`; the ends hardly recur."""

    between: list[str]
    known: CountCache
    ends: list[str]

    def texts(self) -> list[str]:
        """Return all parts as they are counted."""
        return [*self.ends, *map(self.known.text, self.between)]


class CountCache:
    """The counts of parts, each counted with the text that stands before and after it. Threads may share
    it."""

    def __init__(self, before: str, after: str) -> None:
        self.before = before
        self.after = after
        self._counts: dict[str, int] = {}
        self._characters = 0

    def text(self, part: str) -> str:
        """Return a part with the text that stands before and after it."""
        return f"{self.before}{part}{self.after}"

    def total(self, parts: Sequence[str], count: Callable[[list[str]], Iterable[int]]) -> int:
        """Return the number of tokens of all parts. `count` is called once, with all parts that are new."""
        # Another thread may replace the dictionary meanwhile.
        counts = self._counts
        try:
            return sum(map(counts.__getitem__, parts))
        except KeyError:
            new = [part for part in dict.fromkeys(parts) if part not in counts]
        counts.update(zip(new, count(list(map(self.text, new))), strict=True))
        self._characters += sum(map(len, new))
        if self._characters > _MOST_CHARACTERS:
            self._counts, self._characters = {}, 0
        return sum(map(counts.__getitem__, parts))


class ExactSplitter:
    """Splits texts where the counts of the parts add up exactly, and caches the counts for both kinds of
    parts."""

    def __init__(self) -> None:
        self._lines = CountCache("", "\n")
        self._written_lines = CountCache(_INDENT, _WRITTEN_LINE_END)

    def cut(self, text: str) -> SplitText:
        """Return the parts of a text. A text with a line end in it is not compact JSON."""
        if "\n" in text:
            lines = _LINE_END.split(text)
            last = lines.pop()
            if last.endswith("\n"):
                lines.append(last[:-1])
                last = ""
            return SplitText(lines, self._lines, [last] if last else [])
        between = text.split(_WRITTEN_LINE_END + _INDENT)
        if len(between) < 2:
            return SplitText([], self._written_lines, between)
        ends = [between[0] + _WRITTEN_LINE_END, _INDENT + between[-1]]
        return SplitText(between[1:-1], self._written_lines, ends)
