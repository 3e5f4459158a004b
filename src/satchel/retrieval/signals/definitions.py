"""Does the file define what the query names or describes?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.evidence import scaled
from satchel.retrieval.file_cache import encode_name
from satchel.retrieval.signals.signal import Context, SignalGroup
from satchel.terms import terms, terms_of_token
from satchel.types import ChunkKind

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats

_PARTLY = 0.7  # exponent: a name counts less if the query does not have all of its words
_OTHER_CASE = 0.6  # what a definition in another case of letters counts
_TOO_COMMON = 8  # files that define the same name; with more a name tells nothing
_TYPE_WORTH = 1.5  # what the definition of a type counts against that of a function
_MOST_NAMES = 200  # of a report; each is looked up
_IDENTIFIER = re.compile(r"\b(?:[A-Za-z]+[a-z0-9]+[A-Z]\w*|[A-Za-z0-9]+_\w+|[A-Z]+[a-z0-9]+[A-Z]\w*)\b")
_UNKNOWN = 6.0  # the rarity of a word that is in no file
_TYPES = frozenset({ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.INTERFACE, ChunkKind.TRAIT})


def compute(context: Context) -> dict[str, Floats]:
    """Return how well the names that each candidate defines fit the query."""
    names, types = _by_words(context, _rarity(context, context.query_terms.full_words))
    of_title = np.zeros(context.count)
    if not context.query_terms.all_title:  # of a short query the title is all there is
        of_title, _ = _by_words(context, _rarity(context, context.query_terms.title_words))
    exact = _exact(context, [] if context.query.symbol else _identifiers(context))
    joined = _joined(context)
    return {
        "definition_words": names,
        "definition_title": of_title,
        "type_words": types,
        "definition_symbol": _exact(context, [context.query.symbol] if context.query.symbol else []),
        "definition_exact": exact,
        "definition_prose": scaled(np.minimum(_defining(context, context.query.prose_names), 6.0)),
        "joined_words": joined,
        "head_comment": _head(context),
        # A sentence names the thing whose workings it asks for; a list of words may name several in passing.
        "definition_exact_how": context.asks_how * exact,
        "joined_words_how": context.asks_how * joined,
    }


def _plain(words: Iterable[str]) -> Iterable[str]:
    """Return the distinct terms of some words, without compounds."""
    return dict.fromkeys(term for word in words for term in terms(word) if term[0] != "=")


def _rarity(context: Context, words: Iterable[str]) -> dict[str, float]:
    """Return the rarity of each distinct term of some words."""
    return {term: context.rarity.get(term, _UNKNOWN) for term in _plain(words)}


def _by_words(context: Context, asked: Mapping[str, float]) -> tuple[Floats, Floats]:
    """Return how much of the query the best name of each candidate has: of all names, of types."""
    names, types = np.zeros(context.count), np.zeros(context.count)
    total = sum(asked.values()) or 1.0
    share_of = _Shares(asked).__getitem__
    outlines = context.outlines
    for at, parts in _named(context, asked).items():
        of_types, of_others = outlines[at].names.holding(parts)
        best_type = max(map(share_of, of_types), default=0.0) / total
        types[at] = best_type
        names[at] = max(best_type, max(map(share_of, of_others), default=0.0) / total)
    return names, types


def _named(context: Context, asked: Iterable[str]) -> dict[int, list[bytes]]:
    """Return the candidates that define a name with a term of the query, each with the substrings by which
    such names are found."""
    evidence = context.evidence
    entries = np.flatnonzero(evidence.name)
    # A name with a term holds its letters, except for a final `y`, as `query` in `queries`.
    parts = {term: encode_name(term[:-1] if term[-1] == "y" else term) for term in asked}
    # A term of `y` alone says nothing and `Ä` is not folded: names with such a term are searched for by all
    # other terms.
    hidden = not all(part and part.isascii() for part in parts.values())
    anywhere = [part for term, part in parts.items() if hidden or term not in context.rarity]
    by_number = [parts.get(term) for term in context.query_terms.terms]
    found: dict[int, list[bytes]] = {}
    for at, number in set(zip(evidence.file[entries].tolist(), evidence.term[entries].tolist(), strict=True)):
        mine = found.setdefault(at, [*anywhere])
        part = by_number[number]
        if part is not None:
            mine.append(part)
    return found


@lru_cache(maxsize=200_000)
def _name_terms(name: bytes) -> tuple[str, ...]:
    """Return the distinct terms of a name, without the compound."""
    written = name.decode("utf-8", "surrogatepass")
    # One token of code needs no splitting, and is not worth a second cache entry.
    found = terms_of_token(name) if written.isascii() and written.isidentifier() else terms(written)
    return tuple(dict.fromkeys([term for term in found if term[0] != "="]))


class _Shares(dict[bytes, float]):
    """Name → how much of the query its words are. A memo, because files share many names."""

    def __init__(self, asked: Mapping[str, float]) -> None:
        self._asked = asked

    def __missing__(self, name: bytes) -> float:
        own = _name_terms(name)
        matched = [worth for worth in map(self._asked.get, own) if worth is not None]
        # A name may also have no words at all.
        share = sum(matched) * float((len(matched) / len(own)) ** _PARTLY) if matched else 0.0
        self[name] = share
        return share


def _identifiers(context: Context) -> list[str]:
    """Return the identifiers in the text of a query."""
    return list(dict.fromkeys(_IDENTIFIER.findall(context.query.text[:12_000])))[:_MOST_NAMES]


def _exact(context: Context, wanted: Iterable[str]) -> Floats:
    """Return 1 for candidates that define one of some identifiers, less where the case of letters differs."""
    found = np.zeros(context.count)
    names = list(wanted)
    for name, symbols in zip(names, context.corpus.symbols_named_many(names), strict=True):
        for item in symbols:
            at = context.position.get(item.path)
            if at is not None:
                found[at] = max(found[at], 1.0 if item.symbol.name == name else _OTHER_CASE)
    return found


def _defining(context: Context, names: Iterable[str]) -> Floats:
    """Return how many of some identifiers each candidate defines; rare definitions count more."""
    found = np.zeros(context.count)
    distinct = list(dict.fromkeys(names))[:_MOST_NAMES]
    for name, symbols in zip(distinct, context.corpus.symbols_named_many(distinct), strict=True):
        items = [item for item in symbols if item.symbol.name == name]
        paths = {item.path for item in items if not context.is_test(item.path)}
        if 0 < len(paths) <= _TOO_COMMON:
            worth = (_TYPE_WORTH if any(item.symbol.kind in _TYPES for item in items) else 1.0) / len(paths)
            for path in paths:
                at = context.position.get(path)
                if at is not None:
                    found[at] += worth
    return found


def _joined(context: Context) -> Floats:
    """Return 1 for candidates that define two adjacent words of the query as one identifier, half for those
    that mention it."""
    found = np.zeros(context.count)
    words = context.query_terms.full_words
    for first, second in dict.fromkeys(pairwise(words)):
        for joined in dict.fromkeys((first + second, first.rstrip("s") + second.rstrip("s"))):
            mentioned, defined = context.files_with(f"={joined}")
            if len(mentioned):
                found[mentioned] = np.maximum(found[mentioned], 0.5)
                found[defined] = 1.0
                break
    return found


def _head(context: Context) -> Floats:
    """Return how much of the title is in the comment that opens each candidate."""
    asked = _rarity(context, context.query_terms.title_words)
    total = sum(asked.values()) or 1.0
    shares = [
        0.0
        if loaded.head.isdisjoint(asked)
        else sum(worth for term, worth in asked.items() if term in loaded.head)
        for loaded in context.outlines
    ]
    return np.array(shares, np.float64) / total


SIGNAL = SignalGroup(
    "definitions",
    (
        "definition_words",
        "definition_title",
        "type_words",
        "definition_symbol",
        "definition_exact",
        "definition_prose",
        "joined_words",
        "head_comment",
        "definition_exact_how",
        "joined_words_how",
    ),
    compute,
)
