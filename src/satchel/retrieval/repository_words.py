"""How does this repository write what a title says? Its own files tell, not a list of words.

Who asks may spell a thing as no file does: `ROUNDDOWN` for `round_down`, `VB.NET` for `vbnet`, `3d scatter`
for `scatter3d`, `write-ahead log` for `WAL`, or the other way round. Such a spelling is added to the title
where files hold it; a word is divided only where no file holds it whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.evidence import inverse_document_frequency
from satchel.retrieval.named_lines import FLAG
from satchel.retrieval.query import Query
from satchel.retrieval.query_postings import QueryPostings
from satchel.retrieval.query_terms import STOP_WORDS
from satchel.terms import compound, stem, tokens, words

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from satchel.retrieval.corpus import Positions

_LONGEST_TITLE = 300  # characters; a longer line is a text, whose words say enough
_LEAST_DIVIDED, _MOST_DIVIDED = 7, 24  # letters of a word that may be two
_LEAST_PART = 3  # letters of the first of the two
_LEAST_SECOND = 4  # letters of the second; shorter ones are endings, as in `rende|red`
_SHORTEST, _LONGEST = 3, 5  # letters of an acronym; any two words have initials that are somewhere
_READ = 4  # files that are read for what an acronym stands for
_USUAL = 0.125  # of all files; an acronym that more of them hold is a word to everybody, such as URL
_ACRONYM = rf"(?<![\w.`-])[A-Z]{{{_SHORTEST},{_LONGEST}}}(?![\w.`(-])"
_PAIR = r"(?<![\w./-])([A-Za-z]\w*)[-.]([A-Za-z]\w+)(?![\w/(-]|\.\w)"  # `VB.NET`, `web-socket`
_GAPS = frozenset((" ", "-"))  # between words that are written as one thing
_DIMENSION = r"(?<![\w.])\d[A-Za-z]{1,2}(?!\w)"  # `3d`, which names hold only beside another word


def in_its_words(postings: QueryPostings, query: Query) -> Query:
    """Return a query whose title also has the spellings of the repository; the query itself where it has no
    others. `postings` are those of the query."""
    title, corpus = query.title, postings.corpus
    if len(title) > _LONGEST_TITLE:
        return query
    asked = list(dict.fromkeys(word for token in tokens(title) for word in words(token)))
    joined = [name for name in _joined(title, asked) if len(corpus.postings(compound(name))[0])]
    initials = [initials for initials, run in _runs(title) if _is_stated(corpus, initials, run)]
    parts = [part for word in _unheld(postings, asked) for part in _divided(corpus, word)]
    meant = [word for acronym in re.findall(_ACRONYM, title) for word in _stands_for(corpus, acronym)]
    new = [word for word in dict.fromkeys((*joined, *initials, *parts, *meant)) if word not in asked]
    return msgspec.structs.replace(query, title=" ".join((title, *new))) if new else query


def _joined(title: str, asked: Sequence[str]) -> Iterator[str]:
    """Yield what files may write as one word, or a flag as one name."""
    for flag in FLAG.findall(title) if "--" in title else ():
        yield flag.replace("-", "_")
    for first, second in re.findall(_PAIR, title) if "." in title or "-" in title else ():
        yield f"{first}{second}".lower()
    for dimension in re.findall(_DIMENSION, title):
        for word in asked:
            if len(word) >= _LEAST_PART and word not in STOP_WORDS:
                yield f"{word}{dimension.lower()}"


def _runs(title: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the initials of words that are written as one thing, with the words: with a hyphen between some
    of them, or all with a capital. To look up those of any words costs more than they find."""
    found = list(re.finditer(r"[A-Za-z]{2,}+", title))
    gaps = [title[one.end() : other.start()] for one, other in pairwise(found)]
    for count in range(_SHORTEST, _LONGEST + 1):
        for start in range(len(found) - count + 1):
            run = [match[0] for match in found[start : start + count]]
            between = gaps[start : start + count - 1]
            if _GAPS.issuperset(between) and ("-" in between or all(word[0].isupper() for word in run)):
                yield "".join(word[0] for word in run).lower(), tuple(map(str.lower, run))


def _unheld(postings: QueryPostings, asked: Sequence[str]) -> Iterator[str]:
    """Yield the words that may be two and that no file holds. A search has looked them up already."""
    rarity = dict(zip(postings.query_terms.terms, postings.unit_rarity, strict=True))
    most = inverse_document_frequency(0, postings.corpus.unit_count)
    for word in asked:
        is_plain = word.isalpha() and word.isascii() and _LEAST_DIVIDED <= len(word) <= _MOST_DIVIDED
        if is_plain and rarity.get(stem(word)) == most and not len(postings.corpus.postings(f"={word}")[0]):
            yield word


def _divided(corpus: Corpus, word: str) -> tuple[str, ...]:
    """Return the two words that stand together most often, of those that a word can be divided into."""
    pairs = [(word[:at], word[at:]) for at in range(_LEAST_PART, len(word) - _LEAST_SECOND + 1)]
    pairs = [pair for pair in pairs if STOP_WORDS.isdisjoint(pair)]
    corpus.postings_many(tuple(dict.fromkeys(stem(part) for pair in pairs for part in pair)))
    counts = [len(_together(corpus, pair)) for pair in pairs]
    most = max(counts, default=0)
    return pairs[counts.index(most)] if most else ()


def _is_stated(corpus: Corpus, initials: str, run: tuple[str, ...]) -> bool:
    """Whether a file says that some initials stand for these words."""
    units = _together(corpus, (initials, *run))
    return len(units) > 0 and _expansion(corpus, initials.upper(), units) == run


def _stands_for(corpus: Corpus, acronym: str) -> tuple[str, ...]:
    """Return the words that an acronym stands for, if a file says so."""
    return _expansion(corpus, acronym, _together(corpus, (acronym.lower(),)))


def _together(corpus: Corpus, held: Sequence[str]) -> Positions:
    """Return the units that hold all of some words."""
    units, _ = corpus.postings(stem(held[0]))
    for word in held[1:]:
        if not len(units):
            break
        others, _ = corpus.postings(stem(word))
        at = np.minimum(np.searchsorted(others, units), max(0, len(others) - 1))
        units = units[others[at] == units] if len(others) else others
    return units


def _expansion(corpus: Corpus, acronym: str, units: Positions) -> tuple[str, ...]:
    """Return the words beside an acronym with its initials, one of both in brackets, in the files of some
    units; documents are read first."""
    spelled = r"[\s-]++".join(rf"{letter}[a-z]++" for letter in acronym)
    stated = rf"\b((?i:{spelled}))\s++\({acronym}s?\)|\b{acronym}s?\s++\(((?i:{spelled}))\)"
    is_document = corpus.tagged({"docs": 1.0}) > 0
    # By path, because the order of units shows in which order files were indexed.
    files = sorted(set(corpus.file_of[units].tolist()), key=lambda at: (not is_document[at], at))
    if len(files) > max(_READ, _USUAL * len(corpus.files)):
        return ()
    for at in files[:_READ]:
        match = re.search(stated, "".join(corpus.lines(corpus.files[at].path)))
        if match is not None:
            return tuple(words("_".join(tokens(match[1] or match[2]))))
    return ()
