"""What to search for next when nothing was found: only things that this index really holds."""

from __future__ import annotations

from difflib import SequenceMatcher

import numpy as np

from satchel.lines import split_lines
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.filters import Filters
from satchel.terms import stem, terms, tokens
from satchel.types import Suggestion

_LIMIT = 5
_NEAR_NAMES = 200  # names with the same start that are compared
_LEAST_LIKENESS = 0.6
_LEAST_PREFIX = 3
_LONGEST_ROOT = 40  # letters; each shorter start is looked up


def suggest(corpus: Corpus, query: str, filters: Filters) -> list[Suggestion]:
    """Real next searches: without the filter that removed the hits, by a near name, by a like word."""
    found = _without_filters(corpus, query, filters)
    if not found:
        for token in dict.fromkeys(tokens(query)):
            found += _near_symbols(corpus, token)
            found += _broader_stem(corpus, token)
    unique = {suggestion.query.lower(): suggestion for suggestion in reversed(found)}
    return [item for item in found if unique[item.query.lower()] is item][:_LIMIT]


def _without_filters(corpus: Corpus, query: str, filters: Filters) -> list[Suggestion]:
    if not filters.active():
        return []
    holders = [corpus.file_of[corpus.postings(term)[0]] for term in dict.fromkeys(terms(query))]
    files = len({position for held in holders for position in held.tolist()})
    if not files:
        return []
    named = ", ".join(filters.active())
    return [Suggestion(query, f"{files} files match without the filter {named}")]


def _near_symbols(corpus: Corpus, token: str) -> list[Suggestion]:
    names = corpus.snapshot.symbol_names(token[:_LEAST_PREFIX], _NEAR_NAMES)
    scored = [(SequenceMatcher(None, token.lower(), name.lower()).ratio(), name) for name in names]
    near = sorted(
        (item for item in scored if item[0] >= _LEAST_LIKENESS), key=lambda item: (-item[0], item[1])
    )
    return [Suggestion(name, f"a symbol of this index, close to {token}") for _, name in near[:2]]


def _broader_stem(corpus: Corpus, token: str) -> list[Suggestion]:
    root = stem(token.lower())[:_LONGEST_ROOT]
    for length in range(len(root), _LEAST_PREFIX, -1):
        for term in corpus.snapshot.terms(root[:length], _NEAR_NAMES):
            word = _word_behind(corpus, term)
            if word:
                return [Suggestion(word, f"a word of this index that starts like {token}")]
    return []


def _word_behind(corpus: Corpus, term: str) -> str:
    """A word as it is written in some chunk that holds the term: the term itself may be a stem."""
    places, _ = corpus.postings(term)  # terms of chunks that are gone may still be listed
    if not len(places):
        return ""
    best = places[np.lexsort((corpus.first_lines[places], corpus.file_of[places]))][0]  # by path and line
    path = corpus.files[corpus.file_of[best]].path
    lines = split_lines(corpus.snapshot.text(path))[corpus.first_lines[best] - 1 : corpus.last_lines[best]]
    for word in (*tokens("".join(lines)), *tokens(path)):
        if term in terms(word):
            return word
    return ""
