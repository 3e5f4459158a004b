"""Which files may answer a query? The best by words, those it names, those nearest in meaning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.evidence import Postings, first_largest, runs, saturated, scaled, summed
from satchel.retrieval.messages import message_lines
from satchel.retrieval.query import Query
from satchel.retrieval.query_terms import Weighting
from satchel.storage.postings import BODY, COMMENT, FOLDER, NAME, STEM

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    from satchel.retrieval.corpus import Floats, Positions

CANDIDATES = 150  # files that are looked at closely
_ENOUGH = 400_000  # postings that are scored; common words are left to the signals
_ASIDE = {"test": 1.0, "example": 0.5}  # what the tags of a file take from its first score
_NAMED = 8  # files that define one name or have one file name; where they are more, words decide
_NAMES = 50  # identifiers of a query that are looked up
_NEAR = 30  # files that are added for their meaning alone
_ALIKE = 0.4  # cosine; files that are less alike share a subject at most
_DIGITS = 9


def find_candidates(
    postings: Postings, query: Query, accepted: NDArray[np.bool_], count: int, *, by_meaning: bool
) -> Positions:
    """Return the positions of the `count` best files and of the files that are named or near in meaning."""
    corpus = postings.corpus
    matched = np.flatnonzero(_holds_any_term(postings) & accepted)
    if not len(matched):
        return matched
    best = matched[first_largest(np.round(_first_scores(postings)[matched], _DIGITS), count)]
    named = np.fromiter(_named(corpus, query), np.int64)
    near = _near(postings) if by_meaning else named
    more = np.concatenate((named, near))
    # np.union1d would load numpy.ma, which takes 16 ms.
    chosen = np.zeros(len(corpus.files), bool)
    chosen[best] = True
    chosen[more[accepted[more]]] = True
    return np.flatnonzero(chosen)


def _named(corpus: Corpus, query: Query) -> Iterator[int]:
    """Yield the files that the query names: by what they define, by path, in a stack trace, by a message."""
    names = dict.fromkeys((query.symbol, *query.title_names, *query.prose_names))
    for name in list(filter(None, names))[:_NAMES]:
        paths = {item.path for item in corpus.snapshot.symbols_named(name)}
        if len(paths) <= _NAMED:
            yield from (corpus.position_of[path] for path in sorted(paths))
    yield from (item.at for item in message_lines(corpus, query))
    written = [item.path for item in query.mentions] + [frame.path for frame in query.frames]
    for name in dict.fromkeys(path.rpartition("/")[2] for path in written):
        files = corpus.files_named(name)
        if len(files) <= _NAMED:
            yield from files


def _holds_any_term(postings: Postings) -> NDArray[np.bool_]:
    """Return for each file whether it holds a term of the query."""
    matched = np.zeros(len(postings.corpus.files), bool)
    for files in postings.files:
        matched[files] = True
    return matched


def _near(postings: Postings) -> Positions:
    """Return the files that come nearest to the title in meaning, whatever words they use."""
    similarities = postings.similarities
    if similarities is None:
        return np.zeros(0, np.int64)
    near = np.flatnonzero(similarities >= _ALIKE)
    return near[first_largest(similarities[near], _NEAR)]


def _first_scores(postings: Postings) -> Floats:
    """Return a first score of every file: its best unit, and how much is in all of its units."""
    corpus = postings.corpus
    total = np.zeros(len(corpus.files))
    for weighting in (
        (Weighting.TITLE,) if postings.query_terms.all_title else (Weighting.BLEND, Weighting.TITLE)
    ):
        scores = _unit_scores(postings, weighting)
        positions = np.flatnonzero(
            scores > 0
        )  # most units hold nothing; of floats it takes six times as long
        owners, units = corpus.file_of[positions], scores[positions]
        starts = runs(owners)
        best = np.zeros(len(corpus.files))
        if len(starts):
            best[owners[starts]] = np.maximum.reduceat(units, starts)
        spread = np.sqrt(summed(owners, units**2, len(corpus.files)))
        total += scaled(best) + scaled(spread)
    return total - corpus.tagged(_ASIDE)


def _unit_scores(postings: Postings, weighting: Weighting) -> Floats:
    """Return a score for each unit, of the rarest terms until enough postings were scored."""
    corpus = postings.corpus
    weights = postings.query_terms.weights[weighting]
    scores = np.zeros(len(corpus.file_of))
    done = 0
    for number in sorted(range(len(weights)), key=lambda item: (len(postings.found[item][0]), item)):
        positions, packed = postings.found[number]
        if not weights[number] or (done and done + len(positions) > _ENOUGH):
            continue
        done += len(positions)
        frequency = BODY.read(packed) + 1.5 * COMMENT.read(packed)
        frequency /= corpus.norms.take(positions)
        frequency += 3 * (NAME.read(packed) + STEM.read(packed)) + FOLDER.read(packed)
        scores[positions] += weights[number] * postings.unit_rarity[number] * saturated(frequency)
    return scores
