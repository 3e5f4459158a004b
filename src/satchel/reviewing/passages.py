"""The passages of a change as items, and the order in which they matter: code, then tests, documents and
settings, and last files that programs write. Passages that answer the reviewer's query come before all."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from satchel import ids
from satchel.packing.pack import Item, Role
from satchel.packing.sections import Section, section_of_file
from satchel.retrieval.corpus import Corpus
from satchel.reviewing.changed_lines import OldFile, RemovedLines
from satchel.storage.records import ChunkRecord, FileRecord
from satchel.terms import terms
from satchel.types import ChunkKind, LineRange

_GENERATED = re.compile(
    r"(?:^|/)(?:[^/]*[-._]lock(?:\.[^/]+)?|[^/]+\.lock|go\.sum|npm-shrinkwrap\.json|package\.resolved)$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"(?:^|/)(?:bench\w*|examples?|samples?|demos?|scripts?|tools?)/", re.IGNORECASE)
_SWEEP_FILES = 8  # an edit that is made in so many files is one sweep over the repository
_CHANGE_SHARE = 0.75  # of the room is for the change itself before dependent code has its turn
_CITATION_CHARS = 120  # that an item takes beside its content, about
_A_TURN = 3  # passages of a file before other files have their turn
_MATCHES = 0.4  # the share of a query's weight that an item must hold to answer it
_WORDS = re.compile(r"\w+")
REMOVED = "removed"  # the relationship of lines that are gone to those that are there
_OLD_SCORE = 0.5  # of removed lines; those of the new file have 1


class Tier(IntEnum):
    """What kind of file a change is in, most important first."""

    CODE = 0
    TESTS = 1
    DOCS = 2
    SETTINGS = 3
    GENERATED = 4  # lock files: a program wrote them


class ReviewOrder(NamedTuple):
    """The sort key of a passage of a change."""

    tier: Tier
    sweep: bool  # whether the file has only the same edit as many other files
    group: int  # 0 for definitions, 1 for other lines, 2 for files that matter least
    turn: int  # each file shows some passages before one file shows all of its own
    path: str
    line: int
    old: bool  # whether the lines are those of the old file


class ReviewPassage(NamedTuple):
    """A passage of a review that may be shown, as the item that it would be. `file` is the changed file that
    it belongs to, empty for code that depends on the change."""

    item: Item
    order: ReviewOrder
    file: str = ""
    changed: tuple[LineRange, ...] = ()  # the ranges of its lines that were changed

    @property
    def chars(self) -> int:
        """Return about how many characters the passage takes in a pack."""
        return len(self.item.content) + _CITATION_CHARS


def is_aside(path: str) -> bool:
    """Return whether a file is an example, a benchmark or a tool rather than the product."""
    return _ASIDE.search(path) is not None


def tier_of(path: str, section: Section) -> Tier:
    """Return the tier of a changed file."""
    if _GENERATED.search(path):
        return Tier.GENERATED
    if section is Section.DEFINITIONS:
        return Tier.CODE
    return {Section.TESTS: Tier.TESTS, Section.DOCS: Tier.DOCS}.get(section, Tier.SETTINGS)


class WordEdit(NamedTuple):
    """The words that an edit removes from some lines and adds to them, whatever else the lines hold."""

    removed: frozenset[str]
    added: frozenset[str]


def edit_of(old: Iterable[str], new: Iterable[str]) -> WordEdit:
    """Return the edit that leads from the old lines to the new ones."""
    before = {word for line in old for word in _WORDS.findall(line)}
    after = {word for line in new for word in _WORDS.findall(line)}
    return WordEdit(frozenset(before - after), frozenset(after - before))


def find_sweeps(edits: Mapping[str, Sequence[WordEdit]]) -> set[str]:
    """Return the files that have only edits which many files have; the first file with an edit is not among
    them, so that it stands for all."""
    files: dict[WordEdit, list[str]] = defaultdict(list)
    for path in sorted(edits):
        for edit in dict.fromkeys(edits[path]):
            files[edit].append(path)
    alike = {edit for edit, paths in files.items() if len(paths) >= _SWEEP_FILES}
    return {
        path
        for path, own in edits.items()
        if own and alike.issuperset(own) and not any(files[edit][0] == path for edit in own)
    }


def assign_turns(own: Sequence[ReviewPassage]) -> list[ReviewPassage]:
    """Return the passages of one file in order, each with its turn."""
    ordered = sorted(own, key=lambda passage: passage.order)
    return [
        one._replace(order=one.order._replace(turn=number // _A_TURN)) for number, one in enumerate(ordered)
    ]


def order_passages(
    changed: Iterable[ReviewPassage], dependants: Sequence[ReviewPassage], room_chars: int
) -> list[ReviewPassage]:
    """Return all passages in the order in which they are taken. A change that fits the room comes first as a
    whole; a larger one leaves some room for the code that depends on it."""
    ordered = sorted(changed, key=lambda passage: passage.order)
    telling = [one for one in ordered if one.order.tier is not Tier.GENERATED and not one.order.sweep]
    if sum(one.chars for one in telling) > room_chars:
        room_chars = int(_CHANGE_SHARE * room_chars)
    first: list[ReviewPassage] = []
    used = 0
    for one in telling:
        if used + one.chars <= room_chars or not first:
            first.append(one)
            used += one.chars
    known = set(map(id, first))
    return [*first, *dependants, *(one for one in ordered if id(one) not in known)]


class ReviewQuery:
    """The query of a reviewer: its terms, weighted by how rare each is."""

    def __init__(self, corpus: Corpus, query: str) -> None:
        self.weights = {
            term: math.log(1 + corpus.unit_count / (1 + len(corpus.postings(term)[0])))
            for term in set(terms(query))
        }
        self.total = math.fsum(self.weights.values())

    def first(self, passages: Sequence[ReviewPassage]) -> list[ReviewPassage]:
        """Return the passages, those that answer the query first."""
        if not self.total:
            return list(passages)
        shares = [self._share(one.item) for one in passages]
        order = sorted(range(len(passages)), key=lambda at: (-shares[at], at))
        return [passages[at] for at in order]

    def _share(self, item: Item) -> float:
        own = set(terms(f"{item.path} {item.symbol}\n{item.content}"))
        share = math.fsum(weight for term, weight in self.weights.items() if term in own) / self.total
        return round(share, 2) if share >= _MATCHES else 0.0


class ChangeItemBuilder:
    """Makes items of both sides of a change; `old` and `new` are the refs that citations name them by."""

    def __init__(self, corpus: Corpus, old: str, new: str) -> None:
        self.corpus = corpus
        self.old = old
        self.new = new

    def record(self, path: str) -> FileRecord:
        """Return what the index knows of a file."""
        return self.corpus.files[self.corpus.position_of[path]]

    def of_new(self, first: int, last: int, chunk: ChunkRecord, reasons: tuple[str, ...]) -> Item:
        """Return the item of lines of a chunk in the new tree."""
        path, record = chunk.path, self.record(chunk.path)
        content = "".join(self.corpus.lines(path)[first - 1 : last])
        whole = (first, last) == (chunk.start_line, chunk.end_line)
        return Item(
            path=path,
            start_line=first,
            end_line=last,
            content=content,
            content_hash=ids.hash_text(content),
            file_hash=record.file_hash,
            ref=self.new,
            chunk_id=ids.canonical_id(ids.doc_of(path), chunk.digest) if whole else f"{path}:{first}:{last}",
            kind=chunk.kind.value,
            symbol=".".join(chunk.title_path),
            section=section_of_chunk(record.language, record.tags, chunk.kind),
            score=1.0,
            language=record.language,
            reasons=reasons,
            redactions=sum(first <= line <= last for line in record.redactions),
        )

    def of_old(self, old: OldFile, one: RemovedLines) -> Item:
        """Return the item of removed lines. The new tree may not have the file any more, so its id is the
        locator."""
        source, chunk = old.source, one.chunk
        content = "".join(old.lines[one.first - 1 : one.last])
        return Item(
            path=source.path,
            start_line=one.first,
            end_line=one.last,
            content=content,
            content_hash=ids.hash_text(content),
            file_hash=source.file_hash,
            ref=self.old,
            chunk_id=f"{source.path}:{one.first}:{one.last}",
            kind=chunk.kind.value if chunk else ChunkKind.TEXT.value,
            symbol=".".join(chunk.title_path) if chunk else "",
            section=section_of_chunk(source.language, source.tags, chunk.kind if chunk else ChunkKind.TEXT),
            score=_OLD_SCORE,
            role=Role.RELATED,
            language=source.language,
            reasons=(REMOVED,),
            relationship=(REMOVED,),
            redactions=sum(one.first <= line <= one.last for line in source.redactions),
        )


def section_of_chunk(language: str, tags: Sequence[str], kind: ChunkKind) -> Section:
    """Return the section of a chunk of a changed file. Neither a CI job that runs tests nor a page about
    tests is a test, whatever its path says."""
    if kind is ChunkKind.CONFIG and "ci" in tags:
        return Section.CONFIG
    if kind is ChunkKind.SECTION:
        return Section.DOCS
    return section_of_file(language, tags, settings=kind is ChunkKind.CONFIG)
