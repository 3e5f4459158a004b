"""Does the query name the file: by its path, in a stack trace, or by a name that few other files have?

A path of a stack trace comes from where the program ran: `/usr/src/app/shop/payment.py` in a container,
`C:\\work\\shop\\payment.py` on another machine, `site-packages/shop/payment.py` where it was installed. It
means the files that share most of its end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.evidence import runs
from satchel.retrieval.issue_text import URL
from satchel.retrieval.named_lines import FLAG
from satchel.retrieval.signals.paths import STANDS_FOR_FOLDER
from satchel.retrieval.signals.signal import Context, SignalGroup
from satchel.terms import terms

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats, Positions

_OUTWARDS = 0.75  # what a stack frame counts against the one that it calls
_NAME_ALONE = 0.7  # a file name without its folder
_SHARED = 3  # files of the same name that a mention may mean
_FEW = 3  # files that hold a rare name
_MOST_HOLDERS = 300  # of a name; where more files hold it, its code is not looked for among them
_SHORT = 200  # characters of a query that is no report
_WORD = re.compile(r"\w+")
_HYPHENATED = re.compile(r"[^\W\d]\w*(?:-\w+)+")
_NO_STEP = ("", ".", "..", "~")
_DRIVE = re.compile(r"[A-Za-z]:")
_CHAIN = re.compile(r"[A-Za-z_$][\w$-]*+(?:(?:[./\\]|::|->)[A-Za-z_$][\w$-]*+)++")
_CHAIN_STEP = re.compile(r"[./\\]|::|->")
_MOST_READ = 12_000  # characters of a text that chains are searched in


class PathTargets(msgspec.Struct, frozen=True):
    """The positions of the files that share the most steps with the end of a written path, and how many."""

    files: Sequence[int] = ()
    steps: int = 0


def steps_of(path: str) -> list[str]:
    """Return the names in a written path, without its drive and without `.`, `..` and `~`."""
    steps = [step for step in path.replace("\\", "/").split("/") if step not in _NO_STEP]
    return steps[1:] if steps and _DRIVE.fullmatch(steps[0]) else steps


def resolve_path(corpus: Corpus, path: str) -> PathTargets:
    """Return the files that have the name of a written path, those of them that share most of its folders."""
    steps = steps_of(path)
    best: list[int] = []
    longest = 0
    for position in corpus.files_named(steps[-1]) if steps else ():
        length = _common_end(corpus.files[position].path.split("/"), steps)
        if length > longest:
            longest, best = length, []
        if length == longest:
            best.append(position)
    return PathTargets(best, longest)


def _common_end(first: list[str], second: list[str]) -> int:
    """Return how many steps two paths share at their ends, in any case of letters."""
    length = 0
    for one, other in zip(reversed(first), reversed(second), strict=False):
        if one.lower() != other.lower():
            break
        length += 1
    return length


def compute(context: Context) -> dict[str, Floats]:
    """Return how clearly the query names each candidate: by path, by stack frames, by a rare name."""
    found = {name: np.zeros(context.count) for name in SIGNAL.signals}
    query = context.query
    for mention in query.mentions:
        for at, worth in mentioned_candidates(context, mention.path, _SHARED):
            found["mentioned"][at] = max(found["mentioned"][at], worth)
    # A file of another project may have the name of a file here, so a frame needs a folder that agrees, if it
    # names any.
    frames = [
        at
        for frame in query.frames
        for at, worth in mentioned_candidates(context, frame.path, 1)
        if worth == 1.0 or "/" not in frame.path.strip("/")
    ]
    own = [at for at in frames if "test" not in context.records[at].tags] or frames
    for distance, at in enumerate(reversed(own)):
        found["traceback"][at] = max(found["traceback"][at], _OUTWARDS**distance)
    if own:
        found["deepest_frame"][own[-1]] = 1.0
    _find_qualified(context, found["qualified"])
    names = _names(query.text)
    # Whoever asks for nothing but a name wants code that has it, in however many files.
    most = _MOST_HOLDERS if len(_WORD.findall(_joined(query.text))) == 1 else _FEW
    for name in names:
        local = context.local[_files_with(context, name, most if name.startswith("=") else _FEW)]
        found["rare_name"][local[local >= 0]] = 1.0
    return found


def _find_qualified(context: Context, found: Floats) -> None:
    """Note the candidates whose folder and name stand beside each other in a qualified name or an import:
    `ol.format.GeoJSON` and `ol/format/GeoJSON` mean `src/ol/format/geojson.js`."""
    text = context.query.text[:_MOST_READ]
    text = re.sub(URL, " ", text) if "://" in text else text
    pairs: set[tuple[str, str]] = set()
    for chain in dict.fromkeys(_CHAIN.findall(text)):
        pairs.update(pairwise(_CHAIN_STEP.split(chain.lower())))
    if not pairs:
        return
    for at, record in enumerate(context.records):
        if _folder_and_name(context.corpus.own_path(record.path)) in pairs:
            found[at] = 1.0
    # A pair that many files have, as `src.main`, says little of each.
    found *= min(1.0, _SHARED / max(1.0, float(found.sum())))


@lru_cache(maxsize=100_000)
def _folder_and_name(path: str) -> tuple[str, str]:
    """Return the nearest folder of a path and its name without any suffix, in lower case."""
    *folders, name = path.lower().split("/")
    own = name.partition(".")[0] or name
    if folders and own in STANDS_FOR_FOLDER:
        own = folders.pop()
    return (folders[-1] if folders else "", own)


def _names(text: str) -> list[str]:
    """Return the terms of a short query that are made to name something: those of several words, or the only
    one. A report quotes too much that is rare for no reason."""
    words = _WORD.findall(_joined(text)) if len(text) <= _SHORT else []
    split = [list(terms(word)) for word in dict.fromkeys(words)]
    alone = [own[0] for own in split if len(own) == 1 and len(split) == 1]
    return [*alone, *(term for own in split for term in own if term.startswith("="))]


def _joined(text: str) -> str:
    """Return a text with its flags, or the hyphenated name that is all of it, as code writes them:
    `--write-baseline` is read into `write_baseline`."""
    if _HYPHENATED.fullmatch(text.strip()):
        return text.replace("-", "_")
    return FLAG.sub(lambda match: match[1].replace("-", "_"), text) if "--" in text else text


def _files_with(context: Context, term: str, most: int) -> Positions:
    """Return the files that hold a term if they are few. Where tests, documents or data repeat it, return
    the code that holds it, if that is in at most so many files; else none."""
    corpus = context.corpus
    positions, _ = corpus.postings(term)
    owners = corpus.file_of[positions]
    files = owners[runs(owners)]
    if _FEW < len(files) <= _MOST_HOLDERS:
        files = np.array([at for at in files.tolist() if _is_own_code(corpus, at)], files.dtype)
    return files if len(files) <= most else files[:0]


def _is_own_code(corpus: Corpus, at: int) -> bool:
    """Return whether a file is code of the project itself: no test, example, document or data."""
    record = corpus.files[at]
    return {"test", "example", "docs"}.isdisjoint(record.tags) and corpus.is_code(record.path)


def mentioned_candidates(context: Context, path: str, most: int) -> list[tuple[int, float]]:
    """Return the candidates that a written path means and how clearly; none for over `most` files."""
    targets = resolve_path(context.corpus, path)
    if not targets.files or len(targets.files) > most:
        return []
    worth = (1.0 if targets.steps > 1 else _NAME_ALONE) / len(targets.files)
    local = [context.position.get(context.corpus.files[position].path) for position in targets.files]
    return [(at, worth) for at in local if at is not None]


SIGNAL = SignalGroup(
    "mentions", ("mentioned", "traceback", "deepest_frame", "rare_name", "qualified"), compute
)
