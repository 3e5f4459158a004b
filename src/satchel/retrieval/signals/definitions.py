"""Does the file define what the query speaks of, by name?"""

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

_PARTLY = 0.7  # exponent: a name whose words are not all asked for counts less
_OTHER_CASE = 0.6
_TOO_COMMON = 8  # files that define the same name; above this it tells nothing
_TYPE_WORTH = 1.5
_MOST_NAMES = 200  # of a report; each is looked up
_IDENTIFIER = re.compile(r"\b(?:[A-Za-z]+[a-z0-9]+[A-Z]\w*|[A-Za-z0-9]+_\w+|[A-Z]+[a-z0-9]+[A-Z]\w*)\b")
_UNKNOWN = 6.0  # how telling a word is that stands in no file
_TYPES = frozenset({ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.INTERFACE, ChunkKind.TRAIT})


def compute(context: Context) -> dict[str, Floats]:
    full = {term: context.rarity.get(term, _UNKNOWN) for term in _plain(context.query_terms.full_words)}
    names, types = _by_words(context, full)
    exact = _exact(context, [] if context.query.symbol else _identifiers(context))
    joined = _joined(context)
    return {
        "definition_words": names,
        "type_words": types,
        "definition_symbol": _exact(context, [context.query.symbol] if context.query.symbol else []),
        "definition_exact": exact,
        "definition_prose": scaled(np.minimum(_defining(context, context.query.prose_names), 6.0)),
        "joined_words": joined,
        "head_comment": _head(context),
        # a sentence names the thing whose workings it asks for; a list of words may name several in passing
        "definition_exact_how": context.asks_how * exact,
        "joined_words_how": context.asks_how * joined,
    }


def _plain(words: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(term for word in words for term in terms(word) if term[0] != "=")


def _by_words(context: Context, asked: Mapping[str, float]) -> tuple[Floats, Floats]:
    """The definition whose name's words are asked for most, of any kind and of types alone."""
    names, types = np.zeros(context.count), np.zeros(context.count)
    total = sum(asked.values()) or 1.0
    share_of = _Shares(asked).__getitem__
    known = context.outlines
    for at, parts in _named(context, asked).items():
        of_types, of_others = known[at].names.holding(parts)
        best_type = max(map(share_of, of_types), default=0.0) / total
        types[at] = best_type
        names[at] = max(best_type, max(map(share_of, of_others), default=0.0) / total)
    return names, types


def _named(context: Context, asked: Iterable[str]) -> dict[int, list[bytes]]:
    """The candidates that define a name with a term of the query, and what such names hold."""
    evidence = context.evidence
    entries = np.flatnonzero(evidence.name)
    # a term stands in every name that has it, but for `query` in `queries`
    parts = {term: encode_name(term[:-1] if term[-1] == "y" else term) for term in asked}
    # such a name is met by another word that it holds, if at all: `y` says nothing, `Ä` is not folded
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
    """The distinct words of a name, without the compound."""
    written = name.decode("utf-8", "surrogatepass")
    # one word of code needs no splitting, and there is no use in remembering it twice
    found = terms_of_token(name) if written.isascii() and written.isidentifier() else terms(written)
    return tuple(dict.fromkeys([term for term in found if term[0] != "="]))


class _Shares(dict[bytes, float]):
    """Name → how much of the query it is made of; files share many names."""

    def __init__(self, asked: Mapping[str, float]) -> None:
        self._asked = asked

    def __missing__(self, name: bytes) -> float:
        own = _name_terms(name)
        matched = [worth for worth in map(self._asked.get, own) if worth is not None]
        # a name may also have no words at all
        share = sum(matched) * float((len(matched) / len(own)) ** _PARTLY) if matched else 0.0
        self[name] = share
        return share


def _identifiers(context: Context) -> list[str]:
    """The identifiers in the text of a query."""
    return list(dict.fromkeys(_IDENTIFIER.findall(context.query.text[:12_000])))[:_MOST_NAMES]


def _exact(context: Context, wanted: Iterable[str]) -> Floats:
    """The file defines one of some identifiers, in just this case of letters or in another."""
    found = np.zeros(context.count)
    for name in wanted:
        for item in context.symbols_named(name):
            at = context.position.get(item.path)
            if at is not None:
                found[at] = max(found[at], 1.0 if item.symbol.name == name else _OTHER_CASE)
    return found


def _defining(context: Context, names: Iterable[str]) -> Floats:
    """How many of some identifiers the file defines; the rarer a definition, the more it counts."""
    found = np.zeros(context.count)
    for name in list(dict.fromkeys(names))[:_MOST_NAMES]:
        items = [item for item in context.symbols_named(name) if item.symbol.name == name]
        paths = {item.path for item in items if not context.is_test(item.path)}
        if 0 < len(paths) <= _TOO_COMMON:
            worth = (_TYPE_WORTH if any(item.symbol.kind in _TYPES for item in items) else 1.0) / len(paths)
            for path in paths:
                at = context.position.get(path)
                if at is not None:
                    found[at] += worth
    return found


def _joined(context: Context) -> Floats:
    """Two adjacent words of the query are one identifier, defined here, or at least mentioned."""
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
    """How much of the query stands in the comment that opens the file."""
    asked = {term: context.rarity.get(term, _UNKNOWN) for term in _plain(context.query_terms.title_words)}
    total = sum(asked.values()) or 1.0
    shares = [
        0.0
        if known.head.isdisjoint(asked)
        else sum(worth for term, worth in asked.items() if term in known.head)
        for known in context.outlines
    ]
    return np.array(shares, np.float64) / total


SIGNAL = SignalGroup(
    "definitions",
    (
        "definition_words",
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
