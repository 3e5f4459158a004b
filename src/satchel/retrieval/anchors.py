"""Does this repository hold what the query names outright? If not, what is nearest to it?

An anchor is a quoted text, a path or an identifier that the query names. An answer without its anchor is at
best about something similar, and must say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

import msgspec

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.fuzzy_match import NameMatcher
from satchel.retrieval.query import Query
from satchel.retrieval.signals.mentions import PathTargets, resolve_path, steps_of
from satchel.retrieval.signals.paths import STANDS_FOR_FOLDER
from satchel.terms import compound, terms

_MOST = 3  # anchors that are looked for; a report names more than it is about
_SAME_NAMES = 3  # files of one name that a path under another folder may mean
_ABSOLUTE = ("/", "~")  # how a path begins that names all folders of a machine
_SAME_START = 3  # letters
_NAMES_COMPARED = 300
_FILES_COUNTED = 40  # in which a text is counted; whether it is anywhere at all is asked of more files
_MOST_FILES_READ = 4_000  # a second's work; a text that is not in so many files is not said to be absent


class AnchorKind(StrEnum):
    """How a query names what it asks for."""

    QUOTED = "quoted"
    PATH = "path"
    IDENTIFIER = "identifier"


class Anchor(msgspec.Struct, frozen=True):
    """Something that the query names. `hits` is the number of files that hold it; `nearest` is what is like
    it where none does; `akin` says that another form of the word was found; `elsewhere` lists files of that
    name in other folders; `as_text` says that a path is no file, and `hits` count the files with its text."""

    kind: AnchorKind
    text: str
    hits: int
    nearest: tuple[str, ...] = ()
    akin: bool = False
    elsewhere: tuple[str, ...] = ()
    as_text: bool = False


def find_anchors(corpus: Corpus, query: Query) -> list[Anchor]:
    """Return the anchors of a query in the order: paths, identifiers, quoted texts."""
    found = []
    for kind, text in list(_named(query))[:_MOST]:
        hits = _COUNTERS[kind](corpus, text)
        near = () if hits or kind not in _NEAREST else _NEAREST[kind](corpus, text)
        akin = kind is AnchorKind.IDENTIFIER and bool(corpus.files_holding(compound(text)))
        elsewhere = _other_folder(corpus, text) if hits and kind is AnchorKind.PATH else ()
        # A route or a media type reads like a path, and code may name a file that is made later.
        as_text = kind is AnchorKind.PATH and not hits and _count_quotations(corpus, text)
        found.append(Anchor(kind, text, hits or as_text, near, akin, elsewhere, bool(as_text)))
    return found


def is_only_anchor(query: Query) -> bool:
    """Return whether the query names one thing and says nothing else."""
    text = query.text.strip().strip("`\"'")
    return bool(query.symbol) or text in {named for _, named in _named(query)}


def _named(query: Query) -> Iterator[tuple[AnchorKind, str]]:
    """Yield what the query names, by kind."""
    for mention in query.mentions:
        yield AnchorKind.PATH, mention.path
    if query.symbol:
        yield AnchorKind.IDENTIFIER, query.symbol
    elif not query.prose:
        for name in query.title_names:
            yield AnchorKind.IDENTIFIER, name
    for text in query.quoted:
        yield AnchorKind.QUOTED, text


def _count_paths(corpus: Corpus, text: str) -> int:
    """Return how many files a written path means, or how many are below it if it is a folder."""
    targets = resolve_path(corpus, text)
    if targets.files and (targets.steps > 1 or _is_clear(corpus, text, targets)):
        return len(targets.files)
    steps = steps_of(text.lower())
    # At least two steps of a folder must agree: its own name alone says too little.
    for start in range(max(1, len(steps) - 1)):
        folder = "/" + "/".join(steps[start:]) + "/"
        if found := sum(folder in "/" + record.path.lower() for record in corpus.files):
            return found
    return 0


def _is_clear(corpus: Corpus, path: str, targets: PathTargets) -> bool:
    """Return whether the name of a file alone says which one is meant: the path names no folder, its folders
    may be those that lead to this root, or few files have the name and it is not one like `index`."""
    *folders, name = steps_of(path)
    if not folders or (
        path[:1] in _ABSOLUTE and any("/" not in corpus.files[at].path for at in targets.files)
    ):
        return True
    return len(targets.files) <= _SAME_NAMES and name.rpartition(".")[0] not in STANDS_FOR_FOLDER


def _other_folder(corpus: Corpus, text: str) -> tuple[str, ...]:
    """Return the files that a path means by its name alone, although it names other folders."""
    targets = resolve_path(corpus, text)
    if targets.steps != 1 or len(steps_of(text)) == 1 or not _is_clear(corpus, text, targets):
        return ()
    paths = [corpus.files[at].path for at in targets.files]
    return tuple(path for path in paths if "/" in path)  # a file of the root has no other folder


def _count_identifiers(corpus: Corpus, text: str) -> int:
    """Return how many files define or hold an identifier, or a name that starts with it."""
    term = compound(text)
    holders = corpus.files_holding(term)
    named = {record.path for record in corpus.symbols_named(text)}
    if named:
        return max(len(holders), len(named))
    # The term of one word is shared by its other forms, so the texts decide.
    if not term.startswith("=") and len(holders) <= _FILES_COUNTED:
        word = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
        holders = [at for at in holders if word.search(_text(corpus, at))]
    # `get_user` may be meant as the start of `get_user_by_id`.
    return len(holders) or len(corpus.snapshot.symbol_names(text, _NAMES_COMPARED))


def _count_quotations(corpus: Corpus, text: str) -> int:
    """Return how many files hold a text, in any case of letters; after some files one is enough."""
    words = [term for term in dict.fromkeys(terms(text)) if not term.startswith("=")]
    holders: set[int] | None = None
    for _, files in sorted((len(found), found) for found in map(corpus.files_holding, words)):
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


def _near_paths(corpus: Corpus, text: str) -> tuple[str, ...]:
    """Return the files whose names are spelled most like the end of a path."""
    by_name, matcher = corpus.memo(_file_names)
    return tuple(by_name[near] for near in matcher.nearest(text.rpartition("/")[2].lower()))


def _file_names(corpus: Corpus) -> tuple[dict[str, str], NameMatcher]:
    """Return the names of all files, each with the first file that has it, and a matcher of these names."""
    by_name = {record.path.rpartition("/")[2].lower(): record.path for record in reversed(corpus.files)}
    return by_name, NameMatcher(by_name)


def _near_symbols(corpus: Corpus, text: str) -> tuple[str, ...]:
    """Return the names of definitions that start like an identifier and are spelled most like it."""
    names = corpus.snapshot.symbol_names(text[:_SAME_START], _NAMES_COMPARED)
    folded = {name.lower(): name for name in reversed(names)}
    return tuple(folded[near] for near in NameMatcher(folded).nearest(text.lower()))


_COUNTERS = {
    AnchorKind.PATH: _count_paths,
    AnchorKind.IDENTIFIER: _count_identifiers,
    AnchorKind.QUOTED: _count_quotations,
}
_NEAREST = {AnchorKind.PATH: _near_paths, AnchorKind.IDENTIFIER: _near_symbols}
