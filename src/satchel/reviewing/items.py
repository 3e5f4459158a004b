"""Lines of either side of a change → items that cite them."""

from __future__ import annotations

from collections.abc import Sequence

from satchel import ids
from satchel.packing.pack import Item, Role, Section
from satchel.packing.sections import section_of_file
from satchel.retrieval.corpus import Corpus
from satchel.reviewing.removed import OldFile, Removed
from satchel.storage.records import ChunkRecord, FileRecord
from satchel.types import ChunkKind

REMOVED = "removed"  # how lines that are gone belong to those that are there
_OLD_SCORE = 0.5  # what was is worth less than what is


class ItemMaker:
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

    def of_old(self, old: OldFile, one: Removed) -> Item:
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
