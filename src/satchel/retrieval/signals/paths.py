"""Do the names of the file and of its folder fit the query?

A word that many of the candidates have in their names says little: `prism` in `prism-python.js`, `core` in
`core.tooltip.js`. The name of the project itself says nothing, in the query as in the name of a file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.evidence import inverse_document_frequency
from satchel.retrieval.signals.signal import Context, SignalGroup
from satchel.terms import stem, tokens, words

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats

_LEAST_PREFIX = 3  # letters: `auth` is a start of `authentication`, `a` says nothing
_LONGEST_JOIN = 4  # adjacent words of a query that may be one name
_UNKNOWN = 6.0  # the rarity of a word that is in no file
_MOSTLY = 0.8  # the share of a name's words, by rarity, that stands for all of them
_MANIFESTS = ("package.json", "pyproject.toml", "Cargo.toml", "composer.json")
_MANIFEST_NAME = re.compile(r"\s*\"?name\"?\s*[:=]\s*\"(?:@?[^\"/\n]*/)?([^\"/\n]{1,60})\"")
_MANIFEST_LINES = 40  # in which the name stands
_READMES = ("README.md", "readme.md", "Readme.md", "README.rst", "README", "README.adoc", "README.markdown")
_README_LINES = 60  # in which the title stands; logos come first
_ENDINGS = frozenset({"js", "css", "py", "ts", "io", "rs", "go"})  # `Highlight.js` is called highlight
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


@lru_cache(maxsize=16_384)  # about 12 MB
def path_words(path: str) -> PathWords:
    """Return the words of a path. `src/http/index.ts` is named `http`, `basket.spec.ts` is named `basket`."""
    *folders, name = path.split("/")
    own = _SECOND_SUFFIX.sub("", name.rpartition(".")[0] or name)
    if folders and own in STANDS_FOR_FOLDER:
        own = folders.pop()
    return _of_words(tuple(_split(own)), tuple(_split(folders[-1])) if folders else ())


def _of_words(stem_words: tuple[str, ...], folder: tuple[str, ...]) -> PathWords:
    """Return the words of a path from those of its name and of its nearest folder."""
    joined = "".join(stem_words)
    spellings = frozenset((joined, joined.rstrip("s"), joined + "s"))
    return PathWords(stem_words, folder, tuple(map(stem, stem_words)), joined, "".join(folder), spellings)


def _without(path: PathWords, own: frozenset[str]) -> PathWords:
    """Return the words of a path without the name of the project, as long as the file has another name."""
    left = path.stem if own.isdisjoint(path.stem) else tuple(word for word in path.stem if word not in own)
    return path if not left or left == path.stem else _of_words(left, path.folder)


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


def own_names(corpus: Corpus) -> frozenset[str]:
    """Return how the project calls itself: the first word of its README's title and its manifest's name."""
    readme = next((path for path in _READMES if path in corpus.position_of), None)
    chunks = corpus.chunks(readme, 1, _README_LINES) if readme else []
    title = next((chunk.title_path[0] for chunk in chunks if chunk.level == 1 and chunk.title_path), "")
    written = [tokens(title)[:1], tokens(title)[:2]]
    for manifest in _MANIFESTS:
        lines = corpus.lines(manifest)[:_MANIFEST_LINES] if manifest in corpus.position_of else ()
        written += [tokens(match[1]) for match in map(_MANIFEST_NAME.match, lines) if match][:1]
    return frozenset(name for tokens_of_name in written for name in _called(tokens_of_name))


def _called(name: Sequence[str]) -> list[str]:
    """Return a name as one word, and without what it ends in."""
    lower = [token.lower() for token in name]
    alone = lower[:1] if lower[1:] == [] or lower[1] in _ENDINGS else []
    return ["".join(lower), *alone] if lower else []


class _NameWords:
    """The words of all candidates' names, and how much each tells: rare words tell most."""

    def __init__(self, context: Context) -> None:
        corpus = context.corpus
        # In a library the candidates are of several projects, and `repository_named` reads their names.
        self.own = frozenset() if corpus.repositories else corpus.memo(own_names)
        self.paths = [
            _without(path_words(corpus.own_path(record.path)), self.own) for record in context.records
        ]
        count = Counter(term for path in self.paths for term in dict.fromkeys(path.stem_terms))
        # Most words are in one or two names: a logarithm for each number, not for each word.
        rarity = {files: inverse_document_frequency(files, len(self.paths)) for files in set(count.values())}
        self.rarity = {term: rarity[files] for term, files in count.items()}


class _QueryWords:
    """The words of the query, or of its title, as paths are compared with them."""

    def __init__(self, context: Context, asked: Sequence[str], own: Container[str]) -> None:
        asked = [word for word in asked if word not in own] or asked
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


def _measure(context: Context, asked: Sequence[str], names: _NameWords) -> dict[str, Floats]:
    """Return for each candidate how its path fits some words of the query."""
    query_words = _QueryWords(context, asked, names.own)
    rows = [_of_path(path, query_words, names.rarity) for path in names.paths]
    table = np.array(rows, np.float64).reshape(len(rows), 5)
    columns = ("stem_share", "stem_whole", "stem_joined", "stem_rarest", "folder_share")
    return {name: table[:, column] for column, name in enumerate(columns)}


def _of_path(path: PathWords, asked: _QueryWords, rarity: Mapping[str, float]) -> tuple[float, ...]:
    """Return how one path fits: see the names in `_measure`."""
    share = whole = joined = rarest = 0.0
    if path.stem:
        total = sum(map(rarity.__getitem__, path.stem_terms))
        pairs = zip(path.stem, path.stem_terms, strict=True)
        share = sum(rarity[term] for word, term in pairs if asked.alike[word]) / total
        matched = {term for term in path.stem_terms if term in asked.terms} if share else set()
        if matched:
            found = sum(rarity[term] for term in path.stem_terms if term in matched)
            if found > _MOSTLY * total:
                whole = sum(asked.rarity[term] for term in sorted(matched)) / asked.total
            telling = max(matched, key=lambda term: (asked.rarity[term], term))
            rarest = 1.0 - asked.terms[telling] / asked.count
        if not path.spellings.isdisjoint(asked.joined):
            joined = min(len(path.stem), 3) / 3
    folder = asked.folder_share(path.folder) if path.folder else 0.0
    return share, whole, joined, rarest, folder


def compute(context: Context) -> dict[str, Floats]:
    """Return how the path of each candidate fits all words of the query, and those of its title."""
    names = _NameWords(context)
    full = _measure(context, context.query_terms.full_words, names)
    title = (
        full
        if context.query_terms.title_words == context.query_terms.full_words
        else _measure(context, context.query_terms.title_words, names)
    )
    return {
        **{f"{part}_full": full[part] for part in _OF_FULL},
        **{f"{part}_title": title[part] for part in _OF_TITLE},
    }


# The position of a word says something in a title only.
_OF_FULL = ("stem_share", "stem_whole", "stem_joined")
_OF_TITLE = ("stem_whole", "stem_joined", "stem_rarest", "folder_share")
SIGNAL = SignalGroup(
    "paths",
    (*(f"{part}_full" for part in _OF_FULL), *(f"{part}_title" for part in _OF_TITLE)),
    compute,
)
