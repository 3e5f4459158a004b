"""Is what the query names outright in this repository at all? If not, what is nearest to it?

An anchor is a quoted text, a path or an identifier. An answer without its anchor is at best about something
like it, and must say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec

from satchel.retrieval.at_hand import AtHand
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.fuzzy_match import Spelled, nearest
from satchel.retrieval.path_ends import Meant, files_meant, parts_of
from satchel.retrieval.query import Query
from satchel.retrieval.signals.paths import STANDS_FOR_FOLDER
from satchel.storage.records import FileRecord
from satchel.terms import compound, terms

_MOST = 3  # anchors that are looked for; a report names more than it is about
_NAMESAKES = 3  # files of one name that a path under another folder may mean
_FROM_A_ROOT = ("/", "~")  # how a path begins that tells all folders of a machine
_SAME_START = 3  # letters
_NAMES_COMPARED = 300
_FILES_COUNTED = 40  # in which a text is looked for; whether it is anywhere at all is asked of more
_MOST_FILES_READ = 4_000  # a second's work; what is not found in so many is not said to be absent


class AnchorKind(StrEnum):
    """How a query names something."""

    QUOTED = "quoted"
    PATH = "path"
    IDENTIFIER = "identifier"


class Anchor(msgspec.Struct, frozen=True):
    """What is named, how often it was found (in files), and what is nearest where it was not. `akin` says
    that another form of the word was found, `elsewhere` where a file of that name is in another folder."""

    kind: AnchorKind
    text: str
    hits: int
    nearest: tuple[str, ...] = ()
    akin: bool = False
    elsewhere: tuple[str, ...] = ()


def find_anchors(corpus: Corpus, query: Query) -> list[Anchor]:
    """The anchors of a query, as it names them: paths, identifiers, quoted texts."""
    found = []
    for kind, text in list(_named(query))[:_MOST]:
        hits = _HITS[kind](corpus, text)
        near = () if hits else _NEAREST[kind](corpus, text)
        akin = kind is AnchorKind.IDENTIFIER and bool(_files_with(corpus, compound(text)))
        elsewhere = _other_folder(corpus, text) if hits and kind is AnchorKind.PATH else ()
        found.append(Anchor(kind, text, hits, near, akin, elsewhere))
    return found


def is_all(query: Query) -> bool:
    """Whether the query names one thing and says nothing else."""
    text = query.text.strip().strip("`\"'")
    return bool(query.symbol) or text in {named for _, named in _named(query)}


def _named(query: Query) -> Iterator[tuple[AnchorKind, str]]:
    for mention in query.mentions:
        yield AnchorKind.PATH, mention.path
    if query.symbol:
        yield AnchorKind.IDENTIFIER, query.symbol
    elif not query.prose:
        for name in query.title_names:
            yield AnchorKind.IDENTIFIER, name
    for text in query.quoted:
        yield AnchorKind.QUOTED, text


def _paths(corpus: Corpus, text: str) -> int:
    """How many files a written path means; how many are below it if it is a folder."""
    meant = files_meant(corpus, text)
    if meant.files and (meant.parts > 1 or _tells(corpus, text, meant)):
        return len(meant.files)
    parts = parts_of(text.lower())
    for start in range(max(1, len(parts) - 1)):  # of a folder, its own name alone says too little
        folder = "/" + "/".join(parts[start:]) + "/"
        if found := sum(folder in "/" + record.path.lower() for record in corpus.files):
            return found
    return 0


def _tells(corpus: Corpus, path: str, meant: Meant) -> bool:
    """Whether the name of a file alone says which one is meant: nothing else was said, the folders may be
    those that lead to this root, or few files have the name and not because it stands for its folder."""
    *folders, name = parts_of(path)
    if not folders or (
        path[:1] in _FROM_A_ROOT and any("/" not in corpus.files[at].path for at in meant.files)
    ):
        return True
    return len(meant.files) <= _NAMESAKES and name.rpartition(".")[0] not in STANDS_FOR_FOLDER


def _other_folder(corpus: Corpus, text: str) -> tuple[str, ...]:
    """The files that a path means by its name alone, although it names other folders."""
    meant = files_meant(corpus, text)
    if meant.parts != 1 or len(parts_of(text)) == 1 or not _tells(corpus, text, meant):
        return ()
    paths = [corpus.files[at].path for at in meant.files]
    return tuple(path for path in paths if "/" in path)  # a file of the root shares all it has


def _identifiers(corpus: Corpus, text: str) -> int:
    term = compound(text)
    holders = _files_with(corpus, term)
    named = {record.path for record in corpus.snapshot.symbols_named(text)}
    if named:
        return max(len(holders), len(named))
    if not term.startswith("=") and len(holders) <= _FILES_COUNTED:  # one word: its forms have its term
        word = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
        holders = [at for at in holders if word.search(_text(corpus, at))]
    # who writes `get_user` may mean `get_user_by_id`
    return len(holders) or len(corpus.snapshot.symbol_names(text, _NAMES_COMPARED))


def _quotations(corpus: Corpus, text: str) -> int:
    words = [term for term in dict.fromkeys(terms(text)) if not term.startswith("=")]
    holders: set[int] | None = None
    for _, files in sorted((len(found), found) for found in (_files_with(corpus, word) for word in words)):
        holders = set(files) if holders is None else holders & set(files)
        if not holders:
            return 0
    found = 0
    wanted = text.lower()
    for read, at in enumerate(sorted(holders or ())):
        if (found and read >= _FILES_COUNTED) or read >= _MOST_FILES_READ:
            return max(found, 1)
        found += wanted in _text(corpus, at).lower()
    return found


def _text(corpus: Corpus, at: int) -> str:
    return corpus.snapshot.text(corpus.files[at].path)


def _files_with(corpus: Corpus, term: str) -> list[int]:
    places, _ = corpus.postings(term)
    return sorted(set(corpus.file_of[places].tolist()))


def _near_paths(corpus: Corpus, text: str) -> tuple[str, ...]:
    known = _file_names.get(corpus, "", lambda: _FileNames(corpus.files))
    return tuple(known.by_name[near] for near in nearest(text.rpartition("/")[2].lower(), known.spelled))


class _FileNames:
    """The names of all files, each with the first file that has it."""

    def __init__(self, files: Sequence[FileRecord]) -> None:
        self.by_name = {record.path.rpartition("/")[2].lower(): record.path for record in reversed(files)}
        self.spelled = Spelled(self.by_name)


_file_names: AtHand[str, _FileNames] = AtHand(1)


def _near_names(corpus: Corpus, text: str) -> tuple[str, ...]:
    names = corpus.snapshot.symbol_names(text[:_SAME_START], _NAMES_COMPARED)
    folded = {name.lower(): name for name in reversed(names)}
    return tuple(folded[near] for near in nearest(text.lower(), Spelled(folded)))


def _near_words(corpus: Corpus, text: str) -> tuple[str, ...]:
    return ()


_HITS = {AnchorKind.PATH: _paths, AnchorKind.IDENTIFIER: _identifiers, AnchorKind.QUOTED: _quotations}
_NEAREST = {AnchorKind.PATH: _near_paths, AnchorKind.IDENTIFIER: _near_names, AnchorKind.QUOTED: _near_words}
