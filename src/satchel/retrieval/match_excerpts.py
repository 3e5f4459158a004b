"""Which matching lines of a text search fit a budget, and how are they cited?

Lines are taken in turns: the first lines of the best groups of every file before any group has more. The
size of each is counted as it is taken, one that does not fit is passed over, and the whole answer is counted
last of all: lines are taken back until it fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from satchel import ids
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.text_matches import MatchGroup, MatchLine, TextMatches, in_turns
from satchel.retrieval.text_pattern import TextPattern
from satchel.types import Counted, Symbol
from satchel.visible_json import compact

_LONGEST_LINE = 400  # characters; of a longer line the surroundings of the match are shown
_MOST_MISSED = 50  # lines in turn that do not fit: no further one is likely to
_PATH_CHARS = 3  # of a path or name in one token
_MOST_TOKENS_OF_LINE = 200  # by which lines are taken back
_LARGE = 999_999  # states a size with as many tokens as any that is allowed


class MatchCosts(NamedTuple):
    """About how many tokens an answer takes beside the lines of files that it shows."""

    excerpt: int  # the fields of an excerpt and its hash
    line: int  # what stands before each line
    group: int  # the fields of a group
    file: int  # the hash of a file
    repeats_path: bool  # whether each excerpt has an id that begins with its path


_OF_DATA = MatchCosts(excerpt=80, line=0, group=35, file=42, repeats_path=True)
_OF_TEXT = MatchCosts(excerpt=6, line=3, group=6, file=0, repeats_path=False)
COSTS = {
    Counted.DATA: _OF_DATA,
    Counted.TEXT: _OF_TEXT,
    Counted.TEXT_AND_FACTS: _OF_TEXT,
    Counted.TEXT_AND_DATA: _OF_DATA,
}
"""By what the budget counts. The whole answer is counted last, so that a low estimate breaks no budget."""


class MatchExcerpt(msgspec.Struct, frozen=True):
    """Consecutive lines with at least one match, with what cites them."""

    start_line: int
    end_line: int
    matched: tuple[int, ...]
    chunk_id: str
    content_hash: str
    text: str
    is_cut: bool = False


class MatchItem(msgspec.Struct, frozen=True):
    """A group as it is shown. `left_out` counts its matching lines that are not."""

    path: str
    file_hash: str
    symbol: Symbol | None
    defines: bool
    excerpts: tuple[MatchExcerpt, ...]
    left_out: int


class FileCount(msgspec.Struct, frozen=True):
    """A file and the number of its matches."""

    path: str
    matches: int


class MatchAnswer(msgspec.Struct, frozen=True):
    """What an answer shows, and the counts of everything that was found."""

    matches: int
    files: int
    unread: int = 0
    shown_matches: int = 0
    shown_files: int = 0
    items: tuple[MatchItem, ...] = ()
    counts: tuple[FileCount, ...] = ()
    used_tokens: int = 0


class MatchFilling:
    """Fills an answer with the matches that were found. `measure` counts a whole answer, `count` a text."""

    def __init__(
        self, corpus: Corpus, found: TextMatches, pattern: TextPattern, context: int, costs: MatchCosts
    ) -> None:
        self._corpus, self._found, self._pattern, self._context = corpus, found, pattern, context
        self._costs = costs

    def lines(
        self, count: Callable[[str], int], measure: Callable[[MatchAnswer], int], room: int
    ) -> MatchAnswer:
        """Return the answer that shows the best lines within `room` tokens."""
        groups = self._found.groups
        taken: list[tuple[int, MatchLine]] = []
        opened: set[int] = set()
        paths: set[str] = set()
        used = measure(self._answer([]))
        missed = 0
        for number, line in in_turns(groups):
            path = self._corpus.files[groups[number].at].path
            cost = self._cost(count, groups[number], line)
            if number not in opened:
                cost += self._head_cost(groups[number], is_new_file=path not in paths)
            if used + cost > room:
                missed += 1
                if missed == _MOST_MISSED:
                    break
                continue
            used += cost
            opened.add(number)
            paths.add(path)
            taken.append((number, line))
        return self._fitting(taken, measure, room)

    def file_counts(
        self, count: Callable[[str], int], measure: Callable[[MatchAnswer], int], room: int
    ) -> MatchAnswer:
        """Return the answer that says how many matches the first files have, within `room` tokens."""
        taken: list[FileCount] = []
        used = measure(self._answer([]))
        for file in self._found.files:
            told = FileCount(self._corpus.files[file.at].path, file.count)
            used += count(compact(told)) + 1
            if used > room:
                break
            taken.append(told)
        answer = self._counting(taken, measure)
        while taken and answer.used_tokens > room:
            taken.pop()
            answer = self._counting(taken, measure)
        return answer

    def _counting(self, taken: Sequence[FileCount], measure: Callable[[MatchAnswer], int]) -> MatchAnswer:
        shown = sum(item.matches for item in taken)
        answer = msgspec.structs.replace(
            self._empty, counts=tuple(taken), shown_matches=shown, shown_files=len(taken)
        )
        return state_size(answer, measure)

    def _fitting(
        self, taken: list[tuple[int, MatchLine]], measure: Callable[[MatchAnswer], int], room: int
    ) -> MatchAnswer:
        """Return the answer with these lines, without the last of them while it is too long."""
        answer = state_size(self._answer(taken), measure)
        while taken and answer.used_tokens > room:
            over = answer.used_tokens - room
            del taken[-max(1, over // _MOST_TOKENS_OF_LINE) :]
            answer = state_size(self._answer(taken), measure)
        return answer

    def _cost(self, count: Callable[[str], int], group: MatchGroup, line: MatchLine) -> int:
        """Return about how many tokens a line adds to an answer. Counting its hash as well would take longer
        than finding it."""
        record = self._corpus.files[group.at]
        first, last, _ = next(self._ranges((line,), record.line_count))
        lines = self._corpus.lines(record.path)[first - 1 : last]
        text = "".join(part[:_LONGEST_LINE] for part in lines)
        path = len(record.path) // _PATH_CHARS if self._costs.repeats_path else 0
        return count(text) + self._costs.excerpt + len(lines) * self._costs.line + path

    def _head_cost(self, group: MatchGroup, *, is_new_file: bool) -> int:
        """Return the tokens that a group adds to an answer, beside its lines."""
        record = self._corpus.files[group.at]
        length = len(record.path) + (len(group.symbol.qualified_name) if group.symbol else 0)
        costs = self._costs
        path = len(record.path) // _PATH_CHARS if costs.file else 0
        return length // _PATH_CHARS + (costs.file + path if is_new_file else 0) + costs.group

    @cached_property
    def _empty(self) -> MatchAnswer:
        return MatchAnswer(self._found.total, len(self._found.files), self._found.unread)

    def _answer(self, taken: Sequence[tuple[int, MatchLine]]) -> MatchAnswer:
        """Return the answer that shows these lines, by group."""
        by_group: dict[int, list[MatchLine]] = {}
        for number, line in taken:
            by_group.setdefault(number, []).append(line)
        groups = self._found.groups
        items = [
            self._item(groups[number], sorted(by_group[number], key=lambda item: item.line))
            for number in sorted(by_group)
        ]
        shown = sum(
            self._matches(groups[number].at, line.line)
            for number, lines in by_group.items()
            for line in lines
        )
        files = len({item.path for item in items})
        return msgspec.structs.replace(
            self._empty, items=tuple(items), shown_matches=shown, shown_files=files
        )

    def _matches(self, at: int, line: int) -> int:
        if self._found.by_line:
            return 1
        written = self._corpus.lines(self._corpus.files[at].path)[line - 1].rstrip("\r\n")
        return self._pattern.count(written.encode("utf-8", "surrogatepass"))

    def _item(self, group: MatchGroup, lines: Sequence[MatchLine]) -> MatchItem:
        record = self._corpus.files[group.at]
        excerpts = tuple(
            self._excerpt(group, first, last, tuple(matched))
            for first, last, matched in self._ranges(lines, record.line_count)
        )
        left_out = len(group.lines) - len(lines)
        return MatchItem(record.path, record.file_hash, group.symbol, group.defines, excerpts, left_out)

    def _ranges(
        self, lines: Sequence[MatchLine], line_count: int
    ) -> Iterator[tuple[int, int, list[MatchLine]]]:
        """Yield the line ranges around matching lines; ranges that touch are one."""
        first = last = 0
        matched: list[MatchLine] = []
        for line in lines:
            start, end = max(1, line.line - self._context), min(line_count, line.line + self._context)
            if matched and start > last + 1:
                yield first, last, matched
                matched = []
            if not matched:
                first = start
            last = end
            matched.append(line)
        if matched:
            yield first, last, matched

    def _excerpt(
        self, group: MatchGroup, first: int, last: int, matched: tuple[MatchLine, ...]
    ) -> MatchExcerpt:
        if first == last:  # as it is tried, before neighbours are joined
            first, last, _ = next(self._ranges(matched, self._corpus.files[group.at].line_count))
        path = self._corpus.files[group.at].path
        lines = self._corpus.lines(path)[first - 1 : last]
        text = "".join(lines)
        chunks = self._corpus.chunks(path, matched[0].line, matched[0].line)
        chunk_id = ids.canonical_id(ids.doc_of(path), chunks[0].digest) if chunks else ""
        numbers = tuple(line.line for line in matched)
        shown = text
        if max(map(len, lines)) > _LONGEST_LINE:
            around = {line.line: line.first for line in matched}
            shown = "".join(_cut(line, around.get(number, 0)) for number, line in enumerate(lines, first))
        return MatchExcerpt(first, last, numbers, chunk_id, ids.hash_text(text), shown, shown != text)


def _cut(line: str, place: int) -> str:
    """Return the surroundings of a byte in a line that is too long, with the end of the line."""
    if len(line) <= _LONGEST_LINE:
        return line
    body = line.rstrip("\r\n")
    at = len(line.encode("utf-8", "surrogatepass")[:place].decode("utf-8", "ignore"))
    start = max(0, min(at - _LONGEST_LINE // 4, len(body) - _LONGEST_LINE))
    return body[start : start + _LONGEST_LINE] + line[len(body) :]


def state_size(answer: MatchAnswer, measure: Callable[[MatchAnswer], int]) -> MatchAnswer:
    """Return an answer that states at least its own size: the number itself has a size."""
    used = measure(msgspec.structs.replace(answer, used_tokens=_LARGE))
    return msgspec.structs.replace(answer, used_tokens=used)
