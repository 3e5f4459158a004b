"""The seam of the ranker: a sort of signals looks at the candidates and gives each a number."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.retrieval.evidence import Evidence
from satchel.retrieval.intent import Intent
from satchel.retrieval.query import Query
from satchel.retrieval.query_terms import QueryTerms
from satchel.storage.postings import NAME
from satchel.storage.records import FileRecord, SymbolRecord

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from satchel.retrieval.corpus import Floats, Positions
    from satchel.retrieval.file_cache import LoadedOutline

_HOW = re.compile(r"\bhow\b", re.IGNORECASE)


class Context:
    """A query and its candidates, with what several signals need."""

    def __init__(self, evidence: Evidence, query: Query, intents: Mapping[Intent, float]) -> None:
        self.evidence = evidence
        self.query = query
        self.intents = intents
        self.query_terms: QueryTerms = evidence.query_terms
        self.corpus = evidence.corpus
        self.records: list[FileRecord] = [self.corpus.files[at] for at in evidence.files.tolist()]
        self._named: dict[str, list[SymbolRecord]] = {}

    @property
    def count(self) -> int:
        return len(self.records)

    @cached_property
    def asks_how(self) -> float:
        """1 for a short query after a mechanism, which no single passage answers as well as the file does
        that brings the parts together."""
        return float(self.query_terms.all_title and _HOW.search(self.query.title) is not None)

    @cached_property
    def tests(self) -> list[int]:
        """The candidates that are tests."""
        return [at for at, record in enumerate(self.records) if "test" in record.tags]

    @cached_property
    def position(self) -> dict[str, int]:
        """Where a path stands among the candidates."""
        return {record.path: at for at, record in enumerate(self.records)}

    def symbols_named(self, name: str) -> list[SymbolRecord]:
        """The definitions of a name, in whatever case."""
        if name not in self._named:
            self._named[name] = self.corpus.snapshot.symbols_named(name)
        return self._named[name]

    def is_test(self, path: str) -> bool:
        return "test" in self.corpus.files[self.corpus.position_of[path]].tags

    def files_with(self, term: str) -> tuple[Positions, Positions]:
        """The candidates that mention a term, and those that define it as a name."""
        positions, packed = self.corpus.postings(term)
        local = self.local[self.corpus.file_of[positions]]
        inside = local >= 0
        return local[inside], local[inside & (NAME.read(packed) > 0)]

    @property
    def local(self) -> Positions:
        """For each file of the corpus its position among the candidates, or -1."""
        return self.evidence.local

    @cached_property
    def outlines(self) -> list[LoadedOutline]:
        return self.corpus.outlines(self.evidence.files.tolist())

    @cached_property
    def unit_vectors(self) -> NDArray[np.int8] | None:
        """A row for each unit of the candidates; None for an index made without a model."""
        if self.corpus.file_vectors is None:
            return None
        joined = b"".join(loaded.vectors for loaded in self.outlines)
        return np.frombuffer(joined, np.int8).reshape(len(self.evidence.unit_positions), -1)

    @cached_property
    def rarity(self) -> dict[str, float]:
        """How rare a term of the query is among files."""
        return dict(zip(self.query_terms.terms, self.evidence.postings.file_rarity, strict=True))


class SignalGroup(msgspec.Struct, frozen=True):
    """Signals that are computed together."""

    name: str
    signals: tuple[str, ...]
    compute: Callable[[Context], Mapping[str, Floats]]
