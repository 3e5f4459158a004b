"""In which order do the pieces of a change matter? Code, then tests, then documents, then settings, and last
what programs keep; what answers the reviewer's question before all else."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from satchel import ids
from satchel.packing.pack import Item, Role, Section
from satchel.packing.sections import section_of_file
from satchel.retrieval.corpus import Corpus
from satchel.reviewing.changed_lines import OldFile, RemovedLines
from satchel.storage.records import ChunkRecord, FileRecord
from satchel.terms import terms
from satchel.types import ChunkKind

_KEPT_BY_PROGRAMS = re.compile(
    r"(?:^|/)(?:[^/]*[-._]lock(?:\.[^/]+)?|[^/]+\.lock|go\.sum|npm-shrinkwrap\.json|package\.resolved)$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"(?:^|/)(?:bench\w*|examples?|samples?|demos?|scripts?|tools?)/", re.IGNORECASE)
_SWEEP_FILES = 8  # that are changed in the same way
_CHANGE_SHARE = 0.75  # of the room for the change itself before those who depend on it have their turn
_CITATION_CHARS = 120  # what an item takes beside its content, about
_A_TURN = 3  # pieces
_MATCHES = 0.4  # the share of a question's weight that an item must hold to answer it
_WORDS = re.compile(r"\w+")


class Tier(IntEnum):
    """What a changed piece is, most telling first."""

    CODE = 0
    TESTS = 1
    DOCS = 2
    SETTINGS = 3
    KEPT = 4  # lock files: a program wrote them


class ReviewOrder(NamedTuple):
    """Where a piece comes among those of its tier."""

    tier: Tier
    sweep: bool  # the same edit as in many other files
    group: int  # definitions, other lines, what was rewritten or deleted or is no part of the product
    turn: int  # of a file's many pieces; each file has its turn before one has all
    path: str
    line: int
    old: bool


class ReviewPassage(NamedTuple):
    """A piece that may be shown; `file` is the changed file that it belongs to, empty for dependants."""

    item: Item
    place: ReviewOrder
    file: str = ""
    changed: tuple[tuple[int, int], ...] = ()  # those of its lines that the change put there

    @property
    def chars(self) -> int:
        return len(self.item.content) + _CITATION_CHARS


def is_aside(path: str) -> bool:
    """Whether a file is code that the product does without."""
    return _ASIDE.search(path) is not None


def tier_of(path: str, section: Section) -> Tier:
    """What a file of a change is."""
    if _KEPT_BY_PROGRAMS.search(path):
        return Tier.KEPT
    if section is Section.DEFINITIONS:
        return Tier.CODE
    return {Section.TESTS: Tier.TESTS, Section.DOCS: Tier.DOCS}.get(section, Tier.SETTINGS)


class WordEdit(NamedTuple):
    """What an edit does to the words of a line, whatever stands around them."""

    out: frozenset[str]
    put_in: frozenset[str]


def edit_of(old: Iterable[str], new: Iterable[str]) -> WordEdit:
    """The edit that leads from some lines to others."""
    before = {word for line in old for word in _WORDS.findall(line)}
    after = {word for line in new for word in _WORDS.findall(line)}
    return WordEdit(frozenset(before - after), frozenset(after - before))


def sweeps(edits: Mapping[str, Sequence[WordEdit]]) -> set[str]:
    """The files in which nothing is done that is not done in many; the first of each kind stands for all."""
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


def in_turns(own: Sequence[ReviewPassage]) -> list[ReviewPassage]:
    """The pieces of one file, each told when its turn is."""
    ordered = sorted(own, key=lambda candidate: candidate.place)
    return [
        one._replace(place=one.place._replace(turn=number // _A_TURN)) for number, one in enumerate(ordered)
    ]


def arrange(
    changed: Iterable[ReviewPassage], dependants: Sequence[ReviewPassage], room_chars: int
) -> list[ReviewPassage]:
    """All in the order in which they are taken. A change that fits is taken whole; one that would fill
    everything, and more, leaves some room to those who depend on it."""
    ordered = sorted(changed, key=lambda candidate: candidate.place)
    telling = [one for one in ordered if one.place.tier is not Tier.KEPT and not one.place.sweep]
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
    """What a reviewer asks of a change, as terms with what each is worth."""

    def __init__(self, corpus: Corpus, query: str) -> None:
        self.weights = {
            term: math.log(1 + corpus.unit_count / (1 + len(corpus.postings(term)[0])))
            for term in set(terms(query))
        }
        self.total = math.fsum(self.weights.values())

    def first(self, candidates: Sequence[ReviewPassage]) -> list[ReviewPassage]:
        """Those that answer before the others, the best first."""
        if not self.total:
            return list(candidates)
        shares = [self._share(one.item) for one in candidates]
        order = sorted(range(len(candidates)), key=lambda at: (-shares[at], at))
        return [candidates[at] for at in order]

    def _share(self, item: Item) -> float:
        own = set(terms(f"{item.path} {item.symbol}\n{item.content}"))
        share = math.fsum(weight for term, weight in self.weights.items() if term in own) / self.total
        return round(share, 2) if share >= _MATCHES else 0.0


REMOVED = "removed"  # how lines that are gone belong to those that are there
_OLD_SCORE = 0.5  # what was is worth less than what is


class ChangeItemBuilder:
    """Makes items; `new` and `old` are what citations call the two sides."""

    def __init__(self, corpus: Corpus, old: str, new: str) -> None:
        self.corpus = corpus
        self.old = old
        self.new = new

    def record(self, path: str) -> FileRecord:
        return self.corpus.files[self.corpus.position_of[path]]

    def of_new(self, first: int, last: int, chunk: ChunkRecord, reasons: tuple[str, ...]) -> Item:
        """Lines of a chunk as they are now."""
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
            section=section_of_piece(record.language, record.tags, chunk.kind),
            score=1.0,
            language=record.language,
            reasons=reasons,
            redactions=sum(first <= line <= last for line in record.redactions),
        )

    def of_old(self, old: OldFile, one: RemovedLines) -> Item:
        """Lines as they were; the work tree may not have the file any more, so the locator is the id."""
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
            section=section_of_piece(source.language, source.tags, chunk.kind if chunk else ChunkKind.TEXT),
            score=_OLD_SCORE,
            role=Role.RELATED,
            language=source.language,
            reasons=(REMOVED,),
            relationship=(REMOVED,),
            redactions=sum(one.first <= line <= one.last for line in source.redactions),
        )


def section_of_piece(language: str, tags: Sequence[str], kind: ChunkKind) -> Section:
    """Where a piece of a changed file belongs."""
    if kind is ChunkKind.CONFIG and "ci" in tags:
        return Section.CONFIG  # `tests.yaml` tells when tests run, it is none
    if kind is ChunkKind.SECTION:
        return Section.DOCS  # nor is a page about tests
    return section_of_file(language, tags, settings=kind is ChunkKind.CONFIG)
