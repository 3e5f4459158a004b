"""Suggestions for the next search when nothing was found: only names and words that this index holds."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from satchel.lines import split_lines
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.filters import Filters
from satchel.retrieval.fuzzy_match import LEAST_SIMILARITY, NameMatcher, similar_names
from satchel.retrieval.search import search
from satchel.terms import stem, terms, tokens
from satchel.types import Suggestion
from satchel.wording import counted

_LIMIT = 5
_NEAR_NAMES = 200  # names with the same start that are compared
_ALL_NAMES = 50_000  # names that are compared when none has the same start; about 50 ms
_MUCH_SIMILARITY = 0.75  # of a name that starts with other letters
_LONGEST_SLIP = 2  # letters too many, too few, or others
_LEAST_PREFIX = 3
_LONGEST_ROOT = 40  # letters; each shorter start is looked up
_NO_FILTERS = Filters()


def suggest(corpus: Corpus, query: str, filters: Filters) -> list[Suggestion]:
    """Return searches that find something: without the filter that removed the hits, by a near name, by a
    word with the same start."""
    found = _without_filters(corpus, query, filters)
    if not found:
        for token in dict.fromkeys(tokens(query)):
            found += _near_symbols(corpus, token)
            found += _broader_stem(corpus, token)
    unique = {suggestion.query.lower(): suggestion for suggestion in reversed(found)}
    return [item for item in found if unique[item.query.lower()] is item][:_LIMIT]


def _without_filters(corpus: Corpus, query: str, filters: Filters) -> list[Suggestion]:
    """Suggest the query without the filters whose absence alone gives hits, or without all filters."""
    names = filters.active()
    holders = [corpus.file_of[corpus.postings(term)[0]] for term in dict.fromkeys(terms(query))]
    files = {position for held in holders for position in held.tolist()}
    if not names or not files:
        return []
    found = []
    for name in names:
        rest = replace(filters, **{name: getattr(_NO_FILTERS, name)})
        accepts = rest.acceptor()
        count = sum(accepts(corpus.files[position]) for position in files)
        # A file may hold no more of the query than words that say nothing.
        if count and search(corpus, query, 1, rest):
            found.append((count, name))
    if not found and search(corpus, query, 1, _NO_FILTERS):
        found = [(len(files), ", ".join(names))]
    if not found:
        return []
    reason = "; ".join(
        f"{counted(count, 'file matches', 'files match')} without the filter {name}" for count, name in found
    )
    return [Suggestion(query, reason)]


def near_names(corpus: Corpus, name: str, limit: int) -> list[str]:
    """Return names of definitions spelled like a name, whatever their case, the most similar first."""
    names = {known.lower(): known for known in reversed(corpus.snapshot.symbol_names("", _ALL_NAMES))}
    return [names[near] for near in NameMatcher(names).nearest(name.lower(), limit)]


def _near_symbols(corpus: Corpus, token: str) -> list[Suggestion]:
    """Suggest names of definitions that are spelled like a word of the query."""
    same_start = corpus.snapshot.symbol_names(token[:_LEAST_PREFIX], _NEAR_NAMES)
    near = similar_names(token, same_start, LEAST_SIMILARITY)
    if not near and len(token) > _LEAST_PREFIX:  # the slip may be among the first letters
        names = corpus.snapshot.symbol_names("", _ALL_NAMES)
        near = similar_names(token, (name for name in names if _may_be_alike(token, name)), _MUCH_SIMILARITY)
    return [Suggestion(name, f"a symbol of this index, close to {token}") for name in near[:2]]


def _may_be_alike(token: str, name: str) -> bool:
    """Return whether a name is about as long and has the same letters: cheaper than comparing ten thousand
    names."""
    if abs(len(token) - len(name)) > _LONGEST_SLIP:
        return False
    letters, others = set(token.lower()), set(name.lower())
    return len(letters ^ others) <= _LONGEST_SLIP


def _broader_stem(corpus: Corpus, token: str) -> list[Suggestion]:
    """Suggest a word of the index that shares the longest start with a word of the query."""
    root = stem(token.lower())[:_LONGEST_ROOT]
    for length in range(len(root), _LEAST_PREFIX, -1):
        for term in corpus.snapshot.terms(root[:length], _NEAR_NAMES):
            word = _word_behind(corpus, term)
            if word:
                return [Suggestion(word, f"a word of this index that starts like {token}")]
    return []


def _word_behind(corpus: Corpus, term: str) -> str:
    """Return a word as it is written in some unit that holds a term: the term itself may be a stem."""
    positions, _ = corpus.postings(term)  # none: the term of a unit that is gone may still be listed
    if not len(positions):
        return ""
    by_path_and_line = np.lexsort((corpus.first_lines[positions], corpus.file_of[positions]))
    best = positions[by_path_and_line][0]
    path = corpus.files[corpus.file_of[best]].path
    lines = split_lines(corpus.snapshot.text(path))[corpus.first_lines[best] - 1 : corpus.last_lines[best]]
    for word in (*tokens("".join(lines)), *tokens(path)):
        if term in terms(word):
            return word
    return ""
