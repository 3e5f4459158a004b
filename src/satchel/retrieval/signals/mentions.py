"""Does the query name the file: by its path, in a stack trace, or by a name that few other files have?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.evidence import runs
from satchel.retrieval.path_ends import files_meant
from satchel.retrieval.signals.signal import Context, SignalGroup
from satchel.terms import terms

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Places
    from satchel.retrieval.evidence import Floats

_OUTWARDS = 0.75  # what the frame outside of the deepest one counts, and so on
_NAME_ALONE = 0.7  # a file name without its folder
_SHARED = 3  # files of the same name that a mention may mean
_FEW = 3  # files that have a rare name
_SHORT = 200  # characters of a query that is no report
_WORD = re.compile(r"\w+")


def compute(context: Context) -> dict[str, Floats]:
    found = {name: np.zeros(context.count) for name in SIGNAL.signals}
    query = context.query
    for mention in query.mentions:
        for at, worth in resolve(context, mention.path, _SHARED):
            found["mentioned"][at] = max(found["mentioned"][at], worth)
    # a foreign file may have the name of one of ours, so a frame needs a folder that agrees, if it has any
    frames = [
        at
        for frame in query.frames
        for at, worth in resolve(context, frame.path, 1)
        if worth == 1.0 or "/" not in frame.path.strip("/")
    ]
    own = [at for at in frames if "test" not in context.records[at].tags] or frames
    for distance, at in enumerate(reversed(own)):
        found["traceback"][at] = max(found["traceback"][at], _OUTWARDS**distance)
    if own:
        found["deepest_frame"][own[-1]] = 1.0
    for name in _names(query.text):
        local = context.local[_files_with(context, name)]
        found["rare_name"][local[local >= 0]] = 1.0
    return found


def _names(text: str) -> list[str]:
    """The terms of a short query that are made to name something: those of several parts, or the only one.
    A report quotes too much that is rare for no reason."""
    words = _WORD.findall(text) if len(text) <= _SHORT else []
    split = [list(terms(word)) for word in dict.fromkeys(words)]
    alone = [own[0] for own in split if len(own) == 1 and len(split) == 1]
    return [*alone, *(term for own in split for term in own if term.startswith("="))]


def _files_with(context: Context, term: str) -> Places:
    """The files that have a term, if they are few."""
    places, _ = context.corpus.postings(term)
    owners = context.corpus.file_of[places]
    files = owners[runs(owners)]
    return files if len(files) <= _FEW else files[:0]


def resolve(context: Context, path: str, most: int) -> list[tuple[int, float]]:
    """The candidates that a written path means: those that share most of its end."""
    meant = files_meant(context.corpus, path)
    if not meant.files or len(meant.files) > most:
        return []
    worth = (1.0 if meant.parts > 1 else _NAME_ALONE) / len(meant.files)
    local = [context.position.get(context.corpus.files[position].path) for position in meant.files]
    return [(at, worth) for at in local if at is not None]


SIGNAL = SignalGroup("mentions", ("mentioned", "traceback", "deepest_frame", "rare_name"), compute)
