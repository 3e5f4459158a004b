"""How are the lines, refs and imports of items read from an index?

Packs of a query and packs of a change read them in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.dependencies import import_statements, needed_imports
from satchel.retrieval.hit_lines import (
    best_definition,
    best_lines,
    line_with_name,
    lines_around,
    terms_in,
)
from satchel.retrieval.passage_spans import naming_line, signature_at
from satchel.settings import QUALITY
from satchel.storage.records import FileRecord
from satchel.types import LineRange, Passage

_MOST_IMPORTS = 8  # that an item carries


class PackOrigin(msgspec.Struct, frozen=True):
    """What a pack says of the index that it was made from; `notes` are what a reader should know of it. Where
    the files come from several repositories, `ref_of` returns the ref of each."""

    ref: str
    profile: str = QUALITY
    model_id: str = ""
    notes: tuple[str, ...] = ()
    ref_of: Callable[[str], str] | None = None


class CorpusReading:
    """Reads the text of items from the index."""

    def __init__(
        self,
        corpus: Corpus,
        origin: PackOrigin,
        rarity: Mapping[str, float] | None = None,
        pointed: Mapping[str, Sequence[int]] | None = None,
        names: frozenset[str] = frozenset(),
    ) -> None:
        self.corpus = corpus
        self.origin = origin
        self.rarity = rarity or {}
        self.pointed = pointed or {}  # lines that the query names, by path
        self.names = names  # of the query, as terms

    def lines(self, path: str) -> Sequence[str]:
        return self.corpus.lines(path)

    def record(self, path: str) -> FileRecord:
        return self.corpus.files[self.corpus.position_of[path]]

    def ref(self, path: str) -> str:
        """Return the ref that a citation of a file states."""
        return self.origin.ref_of(path) if self.origin.ref_of is not None else self.origin.ref

    def best_definition(self, passage: Passage) -> LineRange:
        """Return the lines of the definition in a passage that holds most of the query."""
        return best_definition(self.corpus, self.rarity, self.pointed.get(passage.path, ()), passage)

    def best_lines(self, path: str, within: LineRange, chars: int) -> LineRange:
        """Return the lines within a range that the query points at, or that hold most of it."""
        for line in self.pointed.get(path, ()):
            if within[0] <= line <= within[1]:
                return lines_around(line, within, self.corpus.lines(path), chars)
        return best_lines(self.rarity, *within, self.corpus.lines(path), chars)

    def signature(self, path: str, line: int) -> LineRange:
        """Return the signature of the innermost definition around a line."""
        return signature_at(self.corpus, path, line)

    def naming_line(self, passage: Passage) -> int:
        """Return the line of a passage that holds a name of the query, if it names any; else the line of its
        best definition, or of one inside of it whose name has more of the query."""
        line = naming_line(self.corpus, passage, self.best_definition(passage), self._worth_of_name)
        return line_with_name(self.corpus, self.rarity, self.names, passage, line)

    def _worth_of_name(self, name: str) -> float:
        return round(sum(self.rarity.get(term, 0.0) for term in sorted(terms_in(name))), 6)

    def imports(self, path: str, content: str) -> tuple[str, ...]:
        """Return the import statements of the file that bring in a name which the content uses."""
        statements = self.corpus.import_statements(
            path, lambda: import_statements(self.corpus.references(path), self.corpus.lines(path))
        )
        return tuple(needed_imports(statements, content)[:_MOST_IMPORTS])
