"""Do the names of the file and of its folder fit the query?"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.retrieval.signals.signal import Context, SignalGroup
from satchel.terms import stem, tokens, words

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats

_LEAST_PREFIX = 3  # letters: `auth` is a start of `authentication`, `a` says nothing
_LONGEST_JOIN = 4  # adjacent words of a query that may be one name
_UNKNOWN = 6.0  # the rarity of a word that is in no file
_SECOND_SUFFIX = re.compile(
    r"\.(?:plugin|common|test|spec|d|min|config|module|service|component|controller)$"
)
# File names that stand for their folder in some language. Asking each language would load them all; a test
# compares.
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


class PathWords(msgspec.Struct, frozen=True, gc=False):
    """The words of a file's name and of its nearest folder."""

    stem: tuple[str, ...]
    folder: tuple[str, ...]
    stem_terms: tuple[str, ...]
    joined: str  # the name's words as one
    folder_joined: str
    spellings: frozenset[str]  # of the joined name: singular and plural


@lru_cache(maxsize=100_000)
def path_words(path: str) -> PathWords:
    """Return the words of a path. `src/http/index.ts` is named `http`, `basket.spec.ts` is named `basket`."""
    *folders, name = path.split("/")
    own = _SECOND_SUFFIX.sub("", name.rpartition(".")[0] or name)
    if folders and own in STANDS_FOR_FOLDER:
        own = folders.pop()
    stem_words = tuple(_split(own))
    folder = tuple(_split(folders[-1])) if folders else ()
    joined = "".join(stem_words)
    spellings = frozenset((joined, joined.rstrip("s"), joined + "s"))
    return PathWords(stem_words, folder, tuple(map(stem, stem_words)), joined, "".join(folder), spellings)


def _split(name: str) -> list[str]:
    return [word for token in tokens(name.replace("-", "_").replace(".", "_")) for word in words(token)]


class _Alike(dict[str, bool]):
    """Word of a path → whether the query has it, or a word that is its start or starts with it. A memo,
    because paths share most of their words."""

    def __init__(self, asked_terms: Container[str], long: Sequence[str]) -> None:
        self._terms = asked_terms
        self._whole = tuple(long)
        self._starts = {word[:end] for word in long for end in range(_LEAST_PREFIX, len(word) + 1)}

    def __missing__(self, word: str) -> bool:
        alike = word in self._starts or word.startswith(self._whole) or stem(word) in self._terms
        self[word] = alike
        return alike


class _QueryWords:
    """The words of the query, or of its title, as paths are compared with them."""

    def __init__(self, context: Context, asked: Sequence[str]) -> None:
        distinct = list(dict.fromkeys(asked))
        self.terms = {term: at for at, term in reversed(list(enumerate(dict.fromkeys(map(stem, asked)))))}
        self.count = max(1, len(self.terms))
        rarity = context.rarity
        self.rarity = {term: rarity.get(term, _UNKNOWN) for term in self.terms}
        self.total = sum(self.rarity.values()) or 1.0
        long = [word for word in distinct if len(word) >= _LEAST_PREFIX]
        self.long_count = max(1, len(long))
        self.alike = _Alike(self.terms, long)
        self.folders: dict[tuple[str, ...], float] = {}  # a memo, because many files share a folder
        self.joined = {
            "".join(asked[start:end])
            for start in range(len(asked))
            for end in range(start + 1, min(start + _LONGEST_JOIN, len(asked)) + 1)
        }

    def folder_share(self, folder: tuple[str, ...]) -> float:
        """Return how many words of a folder's name the query has, as a share of all its words."""
        share = self.folders.get(folder)
        if share is None:
            share = self.folders[folder] = sum(map(self.alike.__getitem__, folder)) / self.long_count
        return share


def _measure(context: Context, asked: Sequence[str]) -> dict[str, Floats]:
    """Return for each candidate how its path fits some words of the query."""
    query_words = _QueryWords(context, asked)
    rows = [
        _of_path(path_words(context.corpus.own_path(record.path)), query_words) for record in context.records
    ]
    table = np.array(rows, np.float64).reshape(len(rows), 6)
    names = ("stem_share", "stem_whole", "stem_joined", "stem_early", "stem_rarest", "folder_share")
    return {name: table[:, column] for column, name in enumerate(names)}


def _of_path(path: PathWords, asked: _QueryWords) -> tuple[float, ...]:
    """Return how one path fits: see the names in `_measure`."""
    share = whole = joined = early = rarest = folder = 0.0
    if path.stem:
        share = sum(map(asked.alike.__getitem__, path.stem)) / len(path.stem)
        matched = [term for term in path.stem_terms if term in asked.terms] if share else []
        if len(matched) == len(path.stem_terms):
            whole = sum(asked.rarity[term] for term in set(matched)) / asked.total
        if matched:
            early = 1.0 - min(asked.terms[term] for term in matched) / asked.count
            telling = max(matched, key=lambda term: (asked.rarity[term], term))
            rarest = 1.0 - asked.terms[telling] / asked.count
        if not path.spellings.isdisjoint(asked.joined):
            joined = min(len(path.stem), 3) / 3
    if path.folder:
        folder = asked.folder_share(path.folder)
    return share, whole, joined, early, rarest, folder


def compute(context: Context) -> dict[str, Floats]:
    """Return how the path of each candidate fits all words of the query, and those of its title."""
    full = _measure(context, context.query_terms.full_words)
    title = (
        full
        if context.query_terms.title_words == context.query_terms.full_words
        else _measure(context, context.query_terms.title_words)
    )
    return {
        **{f"{part}_full": full[part] for part in _OF_FULL},
        **{f"{part}_title": title[part] for part in _OF_TITLE},
    }


# The position of a word says something in a title only.
_OF_FULL = ("stem_share", "stem_whole", "stem_joined")
_OF_TITLE = ("stem_whole", "stem_joined", "stem_early", "stem_rarest", "folder_share")
SIGNAL = SignalGroup(
    "paths",
    (*(f"{part}_full" for part in _OF_FULL), *(f"{part}_title" for part in _OF_TITLE)),
    compute,
)
