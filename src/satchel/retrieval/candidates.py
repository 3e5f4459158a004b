"""Which files may answer a query? The best by words, those it names, those nearest in meaning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.messages import message_lines
from satchel.retrieval.query import Query
from satchel.retrieval.query_postings import QueryPostings

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    from satchel.retrieval.corpus import Positions

CANDIDATES = 150  # files that are looked at closely
_NAMED = 8  # files that define one name or have one file name; where they are more, words decide
_NAMES = 50  # identifiers of a query that are looked up


def find_candidates(
    postings: QueryPostings, query: Query, accepted: NDArray[np.bool_], count: int, *, by_meaning: bool
) -> Positions:
    """Return the positions of the `count` best files and of the files that are named or near in meaning."""
    corpus = postings.corpus
    best = postings.best_files(accepted, count)
    if not len(best):
        return best
    named = np.fromiter(_named(corpus, query), np.int64)
    near = postings.nearest() if by_meaning else named
    more = np.concatenate((named, near))
    # np.union1d would load numpy.ma, which takes 16 ms.
    chosen = np.zeros(len(corpus.files), bool)
    chosen[best] = True
    chosen[more[accepted[more]]] = True
    return np.flatnonzero(chosen)


def _named(corpus: Corpus, query: Query) -> Iterator[int]:
    """Yield the files that the query names: by what they define, by path, in a stack trace, by a message."""
    names = dict.fromkeys((query.symbol, *query.title_names, *query.prose_names))
    for symbols in corpus.symbols_named_many(list(filter(None, names))[:_NAMES]):
        paths = {item.path for item in symbols}
        if len(paths) <= _NAMED:
            yield from (corpus.position_of[path] for path in sorted(paths))
    yield from (item.at for item in message_lines(corpus, query))
    written = [item.path for item in query.mentions] + [frame.path for frame in query.frames]
    for name in dict.fromkeys(path.rpartition("/")[2] for path in written):
        files = corpus.files_named(name)
        if len(files) <= _NAMED:
            yield from files
