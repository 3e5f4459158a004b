"""Which source lines does a pasted message come from? Found by the words and the string literals of a line.

A query may quote a message, a log line or a string literal as it was printed, where the source has holes:
``Recipe `%s` not found``, `f"{name} is missing"`. A line is found if its text holds the whole message, or if
the parts of one of its literals stand in the message in their order. Few files are read for it: those whose
units hold the words of the message.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from satchel.caching import Cache
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.evidence import first_largest, inverse_document_frequency
from satchel.retrieval.named_lines import lines_meant
from satchel.retrieval.query import Query
from satchel.retrieval.string_literals import TESTS, aside, files_with, is_code, lines_with, literals
from satchel.retrieval.text_pattern import compile_expression
from satchel.retrieval.text_scan import are_among, content_of, line_ends
from satchel.terms import terms

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats, Positions

# Characters of a query that is about its message. A longer report also quotes what has little to do with its
# cause: of 74 reports with messages, the first two source lines were in a file of the fix in 18.
LONGEST_PINNED = 600
_KEPT = 64  # queries whose lines are remembered: search and pack ask several times
_MOST_RUNS = 12  # messages of one query; a long report quotes more than it is about
_LONGEST_RUN = 300  # characters of a message that are compared
_LEAST_CHARS = 6  # of a text that may stand for itself
_MOST_FILES = 60  # that are read for one message
_LONGEST_LINE = 1_000  # bytes; longer lines are data
_MOST_UNITS = 150  # that are compared with one message literal by literal
_COMMON = 20_000  # units; a word that more of them hold is not gone through if it cannot matter
_MOST_LINES = 3  # that one message may mean; a text on more lines says nothing about where it is from
_LEAST_PARTS = 10  # characters of a literal that a message must hold
_LEAST_WORDS = 2
# Words of a query without quotes that may be an ordinary phrase: of 100 such as `migration graph`, 19 stand
# inside of a longer literal that is not what is asked for.
_MOST_PHRASE = 3
_LEAST_UNQUOTED = 5  # words of a message on a line without quotes, which may be inside a longer literal
_LEAST_SHARE = 0.5  # of a message that a literal without holes makes up
_LEAST_FILLED = 0.25  # of a message that the parts of a literal with holes make up; the rest are values
_LEAST_FILLED_WORDS = 3  # that such parts have together
_AS_SURE = 0.05  # by which two lines are as sure as each other
_UNQUOTED = 0.8  # how sure a line without quotes is that holds a message
_WORD = re.compile(r"\w+")
# In place of these a message has its values: %s, %(name)s, {name}, ${name}, #{name}, \(name), $name.
_HOLE = re.compile(
    r"%(?:\([^()]*\))?[-+ #0]*[\d*]*(?:\.[\d*]+)?[hlLqjzt]*[a-zA-Z@]|[$#]?\{[^{}]*\}|\\\([^()]*\)|\$\w+"
)
_ASKS = re.compile(r"(?:how|where|what|which|who|why)\b|.*\?$", re.IGNORECASE)  # a question, not a message
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;)")
_ESCAPE = re.compile(r"\\(?:[nrt]|(.))")
_BLANKS = re.compile(r"\s+")


class MessageLine(msgspec.Struct, frozen=True):
    """A line that a message comes from: the position of its file, its number, and how sure it is (0 to 1)."""

    at: int
    line: int
    worth: float


def message_lines(corpus: Corpus, query: Query) -> tuple[MessageLine, ...]:
    """Return the lines that the messages of a query come from, surest first; nothing for most queries."""
    kept: Cache[str, tuple[MessageLine, ...]] = corpus.memo(_cache)
    return kept.get_or_compute(query.text, lambda: _find(corpus, query))


def pinned_lines(corpus: Corpus, query: Query) -> tuple[MessageLine, ...]:
    """Return the lines that an answer must show: those of a query that is about its message."""
    return message_lines(corpus, query) if len(query.text) <= LONGEST_PINNED else ()


def _cache(corpus: Corpus) -> Cache[str, tuple[MessageLine, ...]]:
    return Cache(_KEPT)


def _find(corpus: Corpus, query: Query) -> tuple[MessageLine, ...]:
    best: dict[tuple[int, int], float] = {}
    for run in _runs(query):
        is_all = _unquoted(query.text.strip()) == run
        is_phrase = query.text.strip() == run and len(_WORD.findall(run)) <= _MOST_PHRASE
        for found in _lines_of(corpus, run, is_phrase=is_phrase):
            if not is_all and (found.worth == _UNQUOTED or aside(corpus, found.at) == TESTS):
                continue  # code that a report shows, not a message
            place = found.at, found.line
            best[place] = max(best.get(place, 0.0), found.worth)
    for named in () if best else lines_meant(corpus, query):
        best[named.at, named.line] = named.worth
    order = sorted(best, key=lambda place: (-best[place], aside(corpus, place[0]), place))
    return tuple(MessageLine(at, line, best[at, line]) for at, line in order)


def _runs(query: Query) -> list[str]:
    """Return the texts of a query that may be messages: all of a short query, what it quotes, error lines."""
    runs = list(query.quoted)
    if not query.prose and not query.code and " " in query.text.strip():
        runs.insert(0, query.text.strip())
    if len(query.text) <= LONGEST_PINNED:
        runs += [line.strip() for line in query.code.split("\n") if len(_WORD.findall(line)) > _LEAST_WORDS]
    cleaned = (_unquoted(_BLANKS.sub(" ", run[:_LONGEST_RUN]).strip()) for run in runs)
    return [run for run in dict.fromkeys(cleaned) if _is_telling(run)][:_MOST_RUNS]


def _unquoted(run: str) -> str:
    """Return a text without the quotes around it; one that only ends in a quoted value keeps them."""
    inner = run[1:-1]
    is_quoted = run[:1] + run[-1:] in ("``", '""', "''", "“”") and run[:1] not in inner
    return inner.strip() if is_quoted else run


def _is_telling(run: str) -> bool:
    """Return whether a text has several words."""
    if len(run) < _LEAST_CHARS or not run.isprintable():
        return False
    return len(_WORD.findall(run)) >= _LEAST_WORDS


def _lines_of(corpus: Corpus, run: str, *, is_phrase: bool) -> list[MessageLine]:
    """Return the lines that hold a message as it is, or else those whose literals it is made of. A test
    repeats what code prints, so code whose literals give the message goes before it. What may be a phrase is
    only a message if a literal of code says nothing else."""
    verbatim = _verbatim(corpus, run, is_phrase=is_phrase)
    if verbatim and aside(corpus, verbatim[0].at) == 0:
        return verbatim
    filled = _filled(corpus, run)
    return filled if filled and (not verbatim or aside(corpus, filled[0].at) == 0) else verbatim


def _verbatim(corpus: Corpus, run: str, *, is_phrase: bool) -> list[MessageLine]:
    """Return the lines with a literal that holds all of a message, in any case of letters."""
    files = files_with(corpus, run)
    found: list[MessageLine] = []
    for at in files if len(files) <= _MOST_FILES else ():
        for number, line in lines_with(corpus, at, run):
            worth = 0.0
            if not is_phrase or (aside(corpus, at) == 0 and _says_only(line, run)):
                worth = _verbatim_worth(corpus, at, line, run)
            if worth:
                found.append(MessageLine(at, number, worth))
    return _few(corpus, found)


def _verbatim_worth(corpus: Corpus, at: int, line: str, run: str) -> float:
    """Return how surely a line is the source of a message that it holds: a whole literal, a part of one, or
    text without quotes, of which only a long one tells something."""
    exact = 0.0 if run in line else -0.02
    for literal in literals(line):
        if run.lower() == literal.strip().lower():
            return 1.0 + exact
        if run.lower() in literal.lower():
            return round(0.9 + 0.08 * len(run) / len(literal), 3) + exact
    is_long = len(_WORD.findall(run)) >= _LEAST_UNQUOTED
    return _UNQUOTED if is_long and is_code(corpus, at) and not _COMMENT.match(line) else 0.0


def _says_only(line: str, run: str) -> bool:
    """Return whether a literal of a line has no other words than a message; holes and marks do not count."""
    wanted = _WORD.findall(run.lower())
    return any(_WORD.findall(_HOLE.sub(" ", literal).lower()) == wanted for literal in literals(line))


def _few(corpus: Corpus, found: Sequence[MessageLine]) -> list[MessageLine]:
    """Return the surest lines, code before tests."""
    ordered = sorted(found, key=lambda item: (aside(corpus, item.at), -item.worth, item.at, item.line))
    best = [item for item in ordered if aside(corpus, item.at) == aside(corpus, ordered[0].at)]
    return best[:_MOST_LINES]


def _filled(corpus: Corpus, run: str) -> list[MessageLine]:
    """Return the lines of which a literal with holes, its values filled in, gives a message."""
    if len(_WORD.findall(run)) <= _LEAST_WORDS or _ASKS.match(run):
        return []
    pairs = _neighbours(run)
    found: list[MessageLine] = []
    for at, number, line in _matching_lines(corpus, _best_ranges(corpus, run), pairs):
        in_code = is_code(corpus, at)  # documents put single terms into quotes
        texts = [text for text in _texts(line) if in_code or len(_WORD.findall(text)) > _LEAST_WORDS]
        worth = max((_filled_worth(literal, run) for literal in texts), default=0.0)
        if worth:
            found.append(MessageLine(at, number, worth))
    own = [item for item in found if aside(corpus, item.at) < TESTS] or found
    top = max((item.worth for item in own), default=0.0)
    return _few(corpus, [item for item in own if item.worth >= top - _AS_SURE])


def _neighbours(run: str) -> Any:
    """Return the expression of any two words that follow each other in a message, in any case of letters.
    Almost every literal that is a message has two words between its holes."""
    pairs = dict.fromkeys(rf"{one}\W{{1,3}}{other}" for one, other in pairwise(_WORD.findall(run)))
    return compile_expression("|".join(pairs), ignore_case=True)


def _best_ranges(corpus: Corpus, run: str) -> dict[int, list[tuple[int, int]]]:
    """Return the line ranges of the units that hold most of a message, by file."""
    best = _best_units(corpus, run)
    ranges: dict[int, list[tuple[int, int]]] = {}
    columns = corpus.file_of[best], corpus.first_lines[best], corpus.last_lines[best]
    for at, first, last in zip(*(column.tolist() for column in columns), strict=True):
        ranges.setdefault(at, []).append((first, last))
    return ranges


def _best_units(corpus: Corpus, run: str) -> Positions:
    """Return the units that hold most of a message, best first. Its rare words weigh most."""
    asked = list(dict.fromkeys(terms(run)))
    found = [positions for positions, _ in corpus.postings_many(asked) if len(positions)]
    scores = np.zeros(len(corpus.file_of))
    for positions in found:
        if len(positions) <= _COMMON:
            scores[positions] += _rarity(corpus, positions)
    common = [positions for positions in found if len(positions) > _COMMON]
    units = _liftable(scores, sum(_rarity(corpus, positions) for positions in common))
    for positions in common:
        if units is None:
            scores[positions] += _rarity(corpus, positions)
        else:
            scores[units] += _rarity(corpus, positions) * are_among(corpus, units, positions)
    held = np.flatnonzero(scores > 0) if units is None else units
    best: Positions = held[first_largest(scores[held], _MOST_UNITS)]
    return best


def _rarity(corpus: Corpus, positions: Positions) -> float:
    """Return the rarity of a word that these units hold. It is on a grid, so that sums are exact."""
    return inverse_document_frequency(min(len(positions), corpus.unit_count), corpus.unit_count)


def _liftable(scores: Floats, more: float) -> Positions | None:
    """Return the units that are among the best if each may score up to `more` than now; None if these may be
    units that score nothing now."""
    units = np.flatnonzero(scores > 0)
    if len(units) < _MOST_UNITS:
        return None
    last = len(units) - _MOST_UNITS
    least = np.partition(scores[units], last)[last] - more
    return units[scores[units] >= least] if least > 0 else None


def _matching_lines(
    corpus: Corpus, ranges: Mapping[int, Sequence[tuple[int, int]]], expression: Any
) -> Iterator[tuple[int, int, str]]:
    """Yield the file, number and text of the lines in some ranges of files on which an expression matches."""
    places = [(at, first) for at, held in ranges.items() for first, _ in held]
    parts = [part for at, held in ranges.items() for part in _parts(corpus, at, held)]
    starts = list(accumulate((len(part) + 1 for part in parts), initial=0))
    seen = set()
    # All parts in one search: one for each part takes three times as long.
    for match in expression.finditer(b"\n".join(parts)):
        which = bisect_right(starts, match.start()) - 1
        part, place = parts[which], match.start() - starts[which]
        line_start = part.rfind(b"\n", 0, place) + 1
        if (which, line_start) in seen:
            continue
        seen.add((which, line_start))
        line_end = part.find(b"\n", place)
        line_end = len(part) if line_end < 0 else line_end
        if line_end - line_start <= _LONGEST_LINE:
            at, first = places[which]
            number = first + part.count(b"\n", 0, place)
            yield at, number, part[line_start:line_end].decode("utf-8", "surrogatepass")


def _parts(corpus: Corpus, at: int, ranges: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """Yield the lines of some ranges of a file."""
    content, ends = content_of(corpus, at), line_ends(corpus, at)
    for first, last in ranges:
        start = int(ends[first - 2]) + 1 if first > 1 else 0
        yield content[start : int(ends[last - 1]) if last <= len(ends) else len(content)]


def _texts(line: str) -> list[str]:
    """Return the literals of a line; of a line without any, which may be inside of one, the line itself."""
    found = [text for text in literals(line) if " " in text or _HOLE.search(text)]
    if found or _COMMENT.match(line) or len(_WORD.findall(line)) < _LEAST_UNQUOTED or " " not in line.strip():
        return found
    return [line.strip()]


def _filled_worth(literal: str, run: str) -> float:
    """Return the share of a message that the parts of a literal make up; 0 if one of them is not in it."""
    pieces = _HOLE.split(literal)
    parts = [part for part in map(_plain, pieces) if _WORD.search(part)]
    length = sum(map(len, parts))
    share = length / len(run)
    has_holes = len(pieces) > 1
    words = sum(len(_WORD.findall(part)) for part in parts)
    if length < _LEAST_PARTS or share < (_LEAST_FILLED if has_holes else _LEAST_SHARE):
        return 0.0
    if words < (_LEAST_FILLED_WORDS if has_holes else _LEAST_WORDS):
        return 0.0
    place, lowered = 0, run.lower()
    for part in parts:
        place = lowered.find(part.lower(), place)
        if place < 0:
            return 0.0
        place += len(part)
    return round(min(1.0, share), 3)


def _plain(text: str) -> str:
    """Return a part of a literal as it is printed."""
    return _BLANKS.sub(" ", _ESCAPE.sub(lambda match: match[1] or " ", text)).strip()
