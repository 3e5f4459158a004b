"""The protocol of signals: each reads the context of a query and gives every candidate a number."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
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
    """A query and its candidates, with what several signals read."""

    def __init__(self, evidence: Evidence, query: Query, intents: Mapping[Intent, float]) -> None:
        self.evidence = evidence
        self.query = query
        self.intents = intents
        self.query_terms: QueryTerms = evidence.query_terms
        self.corpus = evidence.corpus
        self.records: list[FileRecord] = [self.corpus.files[at] for at in evidence.files.tolist()]

    @property
    def count(self) -> int:
        """Return the number of candidates."""
        return len(self.records)

    @cached_property
    def asks_how(self) -> float:
        """Return 1 for a short query that asks how something works, else 0. The file that brings the parts
        together answers it better than any single passage."""
        return float(self.query_terms.all_title and _HOW.search(self.query.title) is not None)

    @cached_property
    def tests(self) -> list[int]:
        """Return the numbers of the candidates that are tests."""
        return [at for at, record in enumerate(self.records) if "test" in record.tags]

    @cached_property
    def position(self) -> dict[str, int]:
        """Return the number of each candidate by its path."""
        return {record.path: at for at, record in enumerate(self.records)}

    def symbols_named(self, name: str) -> Sequence[SymbolRecord]:
        """Return the definitions of a name, in any case of letters."""
        return self.corpus.symbols_named(name)

    def is_test(self, path: str) -> bool:
        """Return whether a path of the corpus is a test file."""
        return "test" in self.corpus.files[self.corpus.position_of[path]].tags

    def files_with(self, term: str) -> tuple[Positions, Positions]:
        """Return the candidates that mention a term, and those that define it as a name."""
        positions, packed = self.corpus.postings(term)
        local = self.local[self.corpus.file_of[positions]]
        inside = local >= 0
        return local[inside], local[inside & (NAME.read(packed) > 0)]

    @property
    def local(self) -> Positions:
        """Return for each file of the corpus its number among the candidates, or -1."""
        return self.evidence.local

    @cached_property
    def outlines(self) -> list[LoadedOutline]:
        """Return the outline of each candidate."""
        return self.corpus.outlines(self.evidence.files.tolist())

    @cached_property
    def unit_vectors(self) -> NDArray[np.int8] | None:
        """Return the vector of each unit of the candidates; None for an index without vectors."""
        if not self.corpus.has_vectors:
            return None
        joined = b"".join(loaded.vectors for loaded in self.outlines)
        return np.frombuffer(joined, np.int8).reshape(len(self.evidence.unit_positions), -1)

    @cached_property
    def rarity(self) -> dict[str, float]:
        """Return the rarity of each term of the query among files."""
        return dict(zip(self.query_terms.terms, self.evidence.postings.file_rarity, strict=True))


class SignalGroup(msgspec.Struct, frozen=True):
    """Signals that are computed together. `compute` returns a value of each signal for every candidate."""

    name: str
    signals: tuple[str, ...]
    compute: Callable[[Context], Mapping[str, Floats]]
