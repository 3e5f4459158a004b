"""Does the file's own name, or its folder's, answer the question?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from satchel.retrieval.signals.signal import Context, SignalGroup
from satchel.terms import stem, tokens, words

if TYPE_CHECKING:
    from satchel.retrieval.evidence import Floats

_LEAST_PREFIX = 3  # `auth` is `authentication`, but `a` is nothing
_LONGEST_JOIN = 4  # adjacent words of a question that may be one name
_UNKNOWN = 6.0  # how telling a word is that stands in no file
_SECOND_SUFFIX = re.compile(
    r"\.(?:plugin|common|test|spec|d|min|config|module|service|component|controller)$"
)
# what all languages together call such files (a test compares), as asking each would load them all
STANDS_FOR_FOLDER = frozenset(
    [
        "README",
        "__init__",
        "_index",
        "default",
        "doc",
        "index",
        "init",
        "lib",
        "main",
        "mod",
        "package",
        "package-info",
        "root",
    ]
)


class PathWords(NamedTuple):
    """A path in words: of the file's own name, and of the folders that it stands in."""

    stem: tuple[str, ...]
    folder: tuple[str, ...]  # the nearest one
    stem_terms: tuple[str, ...]
    folder_terms: frozenset[str]


@lru_cache(maxsize=100_000)
def path_words(path: str) -> PathWords:
    """`src/http/index.ts` is the file of `http`; `basket.spec.ts` that of `basket`."""
    *folders, name = path.split("/")
    own = _SECOND_SUFFIX.sub("", name.rpartition(".")[0] or name)
    if folders and own in STANDS_FOR_FOLDER:
        own = folders.pop()
    stem_words = tuple(_split(own))
    folder = tuple(_split(folders[-1])) if folders else ()
    return PathWords(stem_words, folder, tuple(map(stem, stem_words)), frozenset(map(stem, folder)))


def _split(name: str) -> list[str]:
    return [word for token in tokens(name.replace("-", "_").replace(".", "_")) for word in words(token)]


class _Asked:
    """The words of one view of the question."""

    def __init__(self, context: Context, asked: Sequence[str]) -> None:
        distinct = list(dict.fromkeys(asked))
        self.terms = {term: at for at, term in reversed(list(enumerate(dict.fromkeys(map(stem, asked)))))}
        self.count = max(1, len(self.terms))
        rarity = context.rarity
        self.rarity = {term: rarity.get(term, _UNKNOWN) for term in self.terms}
        self.total = sum(self.rarity.values()) or 1.0
        long = [word for word in distinct if len(word) >= _LEAST_PREFIX]
        self.long_count = max(1, len(long))
        self.whole = set(long)
        self.starts = {word[:end] for word in long for end in range(_LEAST_PREFIX, len(word) + 1)}
        self._alike: dict[str, bool] = {}  # paths share most of their words
        self.joined = {
            "".join(asked[start:end])
            for start in range(len(asked))
            for end in range(start + 1, min(start + _LONGEST_JOIN, len(asked)) + 1)
        }

    def alike(self, word: str) -> bool:
        """Whether a word of a path is one of the question's, or one is the start of the other."""
        known = self._alike.get(word)
        if known is None:
            known = self._alike[word] = (
                stem(word) in self.terms
                or word in self.starts
                or any(word[:end] in self.whole for end in range(_LEAST_PREFIX, len(word)))
            )
        return known


def _measure(context: Context, asked: Sequence[str]) -> dict[str, Floats]:
    view = _Asked(context, asked)
    rows = [_of_path(path_words(record.path), view) for record in context.records]
    table = np.array(rows, np.float64).reshape(len(rows), 6)
    names = ("stem_share", "stem_whole", "stem_joined", "stem_early", "stem_rarest", "folder_share")
    return {name: table[:, column] for column, name in enumerate(names)}


def _of_path(path: PathWords, asked: _Asked) -> tuple[float, ...]:
    share = whole = joined = early = rarest = folder = 0.0
    if path.stem:
        share = sum(map(asked.alike, path.stem)) / len(path.stem)
        matched = [term for term in path.stem_terms if term in asked.terms]
        if len(matched) == len(path.stem_terms):
            whole = sum(asked.rarity[term] for term in set(matched)) / asked.total
        if matched:
            early = 1.0 - min(asked.terms[term] for term in matched) / asked.count
            telling = max(matched, key=lambda term: (asked.rarity[term], term))
            rarest = 1.0 - asked.terms[telling] / asked.count
        flat = "".join(path.stem)
        if flat in asked.joined or flat.rstrip("s") in asked.joined or flat + "s" in asked.joined:
            joined = min(len(path.stem), 3) / 3
    if path.folder:
        folder = sum(1 for word in path.folder if asked.alike(word)) / asked.long_count
    return share, whole, joined, early, rarest, folder


def compute(context: Context) -> dict[str, Floats]:
    full = _measure(context, context.views.full_words)
    title = (
        full
        if context.views.title_words == context.views.full_words
        else _measure(context, context.views.title_words)
    )
    return {
        **{f"{part}_full": full[part] for part in _OF_FULL},
        **{f"{part}_title": title[part] for part in _OF_TITLE},
    }


# where a word stands says something in a title only
_OF_FULL = ("stem_share", "stem_whole", "stem_joined")
_OF_TITLE = ("stem_whole", "stem_joined", "stem_early", "stem_rarest", "folder_share")
SIGNAL = SignalGroup(
    "paths",
    (*(f"{part}_full" for part in _OF_FULL), *(f"{part}_title" for part in _OF_TITLE)),
    compute,
)
